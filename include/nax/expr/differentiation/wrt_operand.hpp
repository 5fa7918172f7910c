#pragma once

#include "nax/expr/differentiation/scalar_node.hpp"

// Putting operations on the tape that take an expression without storing its values.
NAX_BEGIN
namespace detail {

// Might the tape watch this operand?
template <class X>
bool watched(const X& x) {
  if constexpr (is_array_v<X>)
    return may_be_recorded(x);
  else if constexpr (Carries<X>::value)
    return any_recorded(x);
  else
    return false;
}

// An operand as a recorded operation sees it when it takes expressions as they are.
struct OperandRef {
  std::uint64_t serial;
  Levels levels;
};

// An expression becomes a node of its own; its values are never stored.
template <class X>
OperandRef operand_ref(const X& x) {
  if constexpr (std::is_base_of_v<ArrayBase, X>) {
    return {is_recorded(x) ? serial_of(x) : 0, layout_of(x).levels};
  } else {
    std::uint64_t serial = 0;
    if constexpr (Carries<X>::value) {
      const Parts<X> parts(x);
      if (any_recorded(kernel_table<X>, parts.leaves))
        serial = FusedNode::record(fused_type_of<X>(), parts.leaves, parts.constants.slots);
    }
    return {serial, x.frame().levels};
  }
}

template <class T, class Pull, class Push>
Input<T, Pull, Push> wrt_operand(const OperandRef& x, Pull pull, Push push) {
  return {x.serial, x.levels, std::move(pull), std::move(push)};
}
// For functions over ArrayBase.
template <class Pull, class Push>
Input<void, Pull, Push> wrt_operand(const OperandRef& x, Pull pull, Push push) {
  return {x.serial, x.levels, std::move(pull), std::move(push)};
}

}  // namespace detail
NAX_END
