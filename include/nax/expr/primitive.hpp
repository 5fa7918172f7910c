#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include "nax/expr/unbroadcast.hpp"
#include "nax/tape/sweep.hpp"

// Putting an operation on the tape that is not elementwise. Its derivative is written with public functions:
//
//   return record(result, wrt(a, [=](const Array<T>& g) { return matmul(g, transpose(b)); }),
//                         wrt(b, [=](const Array<T>& g) { return matmul(transpose(a), g); }));
//
// One `wrt` an input: a function from the result's cotangent to the input's, called only where it is wanted.
// A second function may map a tangent of the input to one of the result; without it the first is transposed.
// Hidden axes that the result has and the input has not are summed away afterwards, in one place, here.
namespace nax::detail {

struct NoPush {};

template <class T, class Pull, class Push>
struct Input {
  std::uint64_t serial;
  Levels levels;
  Pull pull;
  [[no_unique_address]] Push push;
  using value_type = T;
};

template <class T, class Pull, class Push = NoPush>
Input<T, Pull, Push> wrt(const Array<T>& x, Pull pull, Push push = {}) {
  return {is_recorded(x) ? serial_of(x) : 0, layout_of(x).levels, std::move(pull), std::move(push)};
}

// sum += term, in place where nobody else sees it.
template <class T>
void add_to(ArrayBase& sum, const ArrayBase& term) {
  Array<T> total(std::move(sum));
  assign(total, make_expr<rules::add>(total, Array<T>(term)));
  sum = std::move(total);
}

// A node with a result of element type T: all nodes but the bookkeeping ones.
template <class T>
struct ResultNode : Node {
  void add(ArrayBase& sum, const ArrayBase& term) const final { add_to<T>(sum, term); }
};

// An input of a transform; the outer value, if any, continues the chain.
template <class T>
struct LeafNode final : ResultNode<T> {
  std::uint64_t outer;
  Levels levels, outer_levels;
  LeafNode(std::uint64_t serial, Levels own, Levels before)
      : outer(serial), levels(std::move(own)), outer_levels(std::move(before)) {}
  void pull(const ArrayBase& g, Reverse& sweep) override {
    if (sweep.wants(outer)) sweep.add(outer, sum_levels(Array<T>(g), levels, outer_levels));
  }
  void push(Forward& sweep, std::size_t self) override {
    if (const ArrayBase* t = sweep.find(outer)) sweep.put(self, *t);
  }
  Watchers watchers(const Tape& tape) const { return tape.watchers(outer) | tape.innermost(); }
};

// The transpose of a linear function, by way of the tape: for F(g) linear in g, the t-weighted gradient of F.
template <class R, class T, class F>
Array<R> transpose_linear(const F& f, const Frame& domain, const Array<T>& t);

template <class T, class... In>
struct PrimitiveNode final : ResultNode<T> {
  Frame frame;  // of the result
  std::optional<std::tuple<In...>> inputs;

  PrimitiveNode(Frame f, In... in) : frame(std::move(f)), inputs(std::in_place, std::move(in)...) {}

  void pull(const ArrayBase& g, Reverse& sweep) override {
    const Array<T> cotangent(g);
    std::apply([&](auto&... in) { (pull_one(in, cotangent, sweep), ...); }, *inputs);
  }
  template <class I>
  void pull_one(I& in, const Array<T>& g, Reverse& sweep) {
    if (!sweep.wants(in.serial)) return;
    Array<typename I::value_type> share = in.pull(g);
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
    const Array<R> t(*tangent);
    Array<T> share;
    if constexpr (std::is_same_v<Push, NoPush>)
      share = transpose_linear<T, R>(in.pull, frame, t);
    else
      share = in.push(t);
    if (total)
      add_to<T>(*total, share);
    else
      total = std::move(share);
  }
  void drop() noexcept override { inputs.reset(); }
  Watchers watchers(const Tape& tape) const {
    return std::apply(
        [&](const auto&... in) { return static_cast<Watchers>((tape.watchers(in.serial) | ...)); }, *inputs);
  }
};

template <class T, class... In>
Array<T> record(Array<T> result, In... in) {
  if ((in.serial || ...))
    ArrayAccess::serial(result) = recording.tape->emplace<PrimitiveNode<T, In...>>(
        static_cast<const Frame&>(layout_of(result)), std::move(in)...);
  return result;
}

}  // namespace nax::detail
