#pragma once

#include "nax/numpy/views/views.hpp"
#include "nax/special/recorded.hpp"

NAX_BEGIN
namespace detail {

// An operand by which a function has no derivative. Throws ValueError that names both where it is being
// differentiated.
template <class X>
auto fixed(const char* function, const char* operand, const X& x) {
  if constexpr (Scalar<X>) {
    return x;
  } else {
    auto a = as_array(x);
    if (is_recorded(a)) throw_not_differentiable(function, operand);
    return a;
  }
}

}  // namespace detail
NAX_END
