#pragma once

#include "nax/expr/kernels.hpp"
#include "nax/tape/tape.hpp"

// Turns an expression into an array: one loop, and one node on the tape when a differentiated input is among its leaves.
namespace nax::detail {

template <class E>
struct FusedNode;

template <class E>
void record_fused(Array<typename E::value_type>& result, const E& e);

inline cpu::Operand operand_over(const ArrayBase& a, const Frame& frame, DType lane) {
  return {raw_data(a), strides_over(layout_of(a), frame), a.dtype(), lane};
}

// Writes the values of `e` to `result`, whose frame is that of e.
template <class E>
void compute(const E& e, const ArrayBase& result) {
  constexpr int count = Tree<E>::leaves;
  const auto constants = constants_of(e);
  if constexpr (count > 0) {
    cpu::Operand operands[count + 1];
    int l = 0;
    for_each_leaf(e, [&](const ArrayBase& leaf) {
      operands[l] = operand_over(leaf, e.frame, leaf_table<E>.lanes[l]);
      ++l;
    });
    operands[count] = operand_over(result, e.frame, result_lane_of<E>);
    cpu::map(forward_kernel<E>, constants.slots, e.frame.shape, operands, count);
  } else {  // scalars only
    cpu::Operand out = operand_over(result, e.frame, result_lane_of<E>);
    cpu::map(forward_kernel<E>, constants.slots, e.frame.shape, &out, 0);
  }
}

// The usual small or flat case: every leaf is an unbroken run over the whole frame, of the kernel's own type.
template <class E>
bool compute_flat(const E& e, const ArrayBase& result) {
  constexpr int count = Tree<E>::leaves;
  if (result_lane_of<E> != dtype_of<typename E::value_type>) return false;
  const std::int64_t n = e.frame.size();
  if (n > cpu::detail::parallel_grain) return false;
  const void* in[count == 0 ? 1 : count];
  bool flat = true;
  int l = 0;
  for_each_leaf(e, [&](const ArrayBase& leaf) {
    flat = flat && leaf.dtype() == leaf_table<E>.lanes[l] && layout_of(leaf).shape == e.frame.shape &&
           layout_of(leaf).is_contiguous();
    if (flat) in[l] = raw_data(leaf);
    ++l;
  });
  if (!flat) return false;
  const auto constants = constants_of(e);
  if (n > 0) forward_kernel<E>(constants.slots, in, raw_data(result), n);
  return true;
}

template <class E>
bool any_recorded(const E& e) {
  if constexpr (!Carries<E>::value) {
    return false;
  } else {
    bool recorded = false;
    for_each_leaf(e, [&](const auto& leaf) {
      if constexpr (is_inexact_v<typename std::remove_cvref_t<decltype(leaf)>::value_type>)
        recorded = recorded || is_recorded(leaf);
    });
    return recorded;
  }
}

template <class E>
void compute_into(const E& e, Array<typename E::value_type>& result) {
  if (!compute_flat(e, result)) compute(e, result);
  if constexpr (Carries<E>::value) {
    if (any_recorded(e)) record_fused(result, e);
  }
}

template <Expression E>
Array<typename E::value_type> evaluate(const E& e) {
  Array<typename E::value_type> result(allocate(dtype_of<typename E::value_type>, e.frame));
  compute_into(e, result);
  return result;
}

// Assignment in place, where that cannot be seen: nobody else holds the target's buffer, and each leaf that lies in it
// is the target itself, element for element.
template <Expression E>
void assign(Array<typename E::value_type>& target, const E& e) {
  const BufferRef& buffer = ArrayAccess::buffer(target);
  const Layout& layout = layout_of(target);
  bool in_place = buffer && !buffer->source && layout == e.frame && layout.is_contiguous() && !any_recorded(e);
  std::uint32_t uses = 1;
  for_each_leaf(e, [&](const ArrayBase& leaf) {
    if (!in_place || ArrayAccess::buffer(leaf).get() != buffer.get()) return;
    ++uses;
    in_place = ArrayAccess::offset(leaf) == ArrayAccess::offset(target) && layout_of(leaf).strides == layout.strides &&
               layout_of(leaf) == layout && leaf.dtype() == target.dtype();
  });
  if (in_place && buffer.use_count() == uses) {
    ArrayAccess::serial(target) = 0;
    compute_into(e, target);
  } else {
    target = evaluate(e);
  }
}

// A value as an Array: expressions are computed, anything else stays what it is.
template <class X>
decltype(auto) materialise(X&& x) {
  if constexpr (Expression<std::remove_cvref_t<X>>)
    return evaluate(x);
  else
    return std::forward<X>(x);
}
template <class X>
using materialised_t = std::remove_cvref_t<decltype(materialise(std::declval<X>()))>;

}  // namespace nax::detail
