#pragma once

#include "nax/expr/fused_node.hpp"

// More ways onto the tape than primitive.hpp's `record`: an operation whose derivative reads its own result,
// and one that takes an expression without storing its values.
namespace nax::detail {

// As PrimitiveNode; pull and push take the result, which is recorded as the value of this very node, as
// second argument.
template <class T, class... In>
struct ResultPrimitiveNode final : ResultNode<T> {
  Frame frame;
  Array<T> result;
  std::optional<std::tuple<In...>> inputs;

  ResultPrimitiveNode(Array<T> r, In... in)
      : frame(layout_of(r)), result(std::move(r)), inputs(std::in_place, std::move(in)...) {}

  void pull(const ArrayBase& g, Reverse& sweep) override {
    const Array<T> cotangent(g);
    std::apply([&](auto&... in) { (pull_one(in, cotangent, sweep), ...); }, *inputs);
  }
  template <class I>
  void pull_one(I& in, const Array<T>& g, Reverse& sweep) {
    if (!sweep.wants(in.serial)) return;
    Array<typename I::value_type> share = in.pull(g, result);
    sweep.add(in.serial, sum_levels(std::move(share), frame.levels, in.levels));
  }
  void push(Forward& sweep, std::size_t self) override {
    std::optional<Array<T>> total;
    std::apply([&](auto&... in) { (push_one(in, total, sweep), ...); }, *inputs);
    if (total) sweep.put(self, std::move(*total));
  }
  template <class R, class Pull, class Push>
  void push_one(Input<R, Pull, Push>& in, std::optional<Array<T>>& total, Forward& sweep) {
    const ArrayBase* tangent = sweep.find(in.serial);
    if (!tangent) return;
    Array<T> share;
    if constexpr (std::is_same_v<Push, NoPush>)
      share = transpose_linear<T, R>([&](const Array<T>& g) { return in.pull(g, result); }, frame,
                                     Array<R>(*tangent));
    else
      share = in.push(Array<R>(*tangent), result);
    if (total)
      add_to<T>(*total, share);
    else
      total = std::move(share);
  }
  void drop() noexcept override {
    inputs.reset();
    result = Array<T>(ArrayBase());
  }
  Watchers watchers(const Tape& tape) const {
    return std::apply(
        [&](const auto&... in) { return static_cast<Watchers>((tape.watchers(in.serial) | ...)); }, *inputs);
  }
};

// record, with pull(cotangent, result) and push(tangent, result).
template <class T, class... In>
Array<T> record_with_result(Array<T> result, In... in) {
  if ((in.serial || ...)) {
    Tape& tape = *recording.tape;
    const std::uint64_t serial = tape.emplace<ResultPrimitiveNode<T, In...>>(result, std::move(in)...);
    ArrayAccess::serial(result) = serial;
    ArrayAccess::serial(static_cast<ResultPrimitiveNode<T, In...>&>(tape[tape.size() - 1]).result) = serial;
  }
  return result;
}

// Might the tape watch this operand? Where not, there is nothing to record, and no closure need be made.
template <class X>
bool watched(const X& x) {
  if constexpr (is_array_v<X>)
    return serial_of(x) != 0;
  else if constexpr (Carries<X>::value)
    return any_recorded(x);
  else
    return false;
}

// An operand's part in a recorded operation when the operation takes expressions as they are: the expression
// becomes a node of its own, its values are never stored.
template <class X, class Pull, class Push>
auto wrt_operand(const X& x, Pull pull, Push push) {
  using T = typename X::value_type;
  if constexpr (is_array_v<X>) {
    return wrt(x, std::move(pull), std::move(push));
  } else {
    std::uint64_t serial = 0;
    if constexpr (Carries<X>::value) {
      if (any_recorded(x))
        serial = FusedNode::record(fused_type<X>, LeafPointers<X>(x).at, constants_of(x).slots);
    }
    return Input<T, Pull, Push>{serial, x.frame.levels, std::move(pull), std::move(push)};
  }
}

}  // namespace nax::detail
