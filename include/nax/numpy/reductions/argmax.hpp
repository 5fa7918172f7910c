#pragma once

#include "nax/backend/cpu/line_kernels.hpp"
#include "nax/numpy/reductions/cumulative.hpp"

// Where the extrema are. The first of equal elements; the first NaN where there is one.
NAX_BEGIN
namespace detail {

// `x`: an array of a type with an order.
NAX_ENGINE ArrayBase argument_of(const char* function, const ArrayBase& x, const AxisOptions& options,
                                 bool largest);

template <ArrayLike X>
Array<std::int32_t> argument_of(const char* function, const X& x_, const AxisOptions& options, bool largest) {
  using T = typename X::value_type;
  static_assert(!is_complex_v<T>, "argmax, argmin: complex numbers have no order");
  const Array<T> x = materialise(x_);
  cpu::provide<cpu::ArgReduceKernel, cpu::sortable_t<T>>();
  return typed<std::int32_t>(argument_of(function, static_cast<const ArrayBase&>(x), options, largest));
}

}  // namespace detail

// The place of the largest element along `axis`, or in row-major order. Throws ValueError where there is no
// element.
template <detail::ArrayLike X>
Array<std::int32_t> argmax(const X& x, const AxisOptions& options = {}) {
  return detail::argument_of("argmax", x, options, true);
}
// The place of the smallest element along an axis, the first of equal ones; a NaN is smallest. Throws
// ValueError if there are no elements or `axis` is several axes, and IndexError if it is out of bounds.
template <detail::ArrayLike X>
Array<std::int32_t> argmin(const X& x, const AxisOptions& options = {}) {
  return detail::argument_of("argmin", x, options, false);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/reductions/argmax-inl.hpp"
#endif
