#pragma once

#include "nax/backend/cpu/lines/line_kernels.hpp"
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
// element, and for more elements than int32 counts.
template <detail::ArrayLike X>
Array<std::int32_t> argmax(const X& x, const AxisOptions& options = {}) {
  return detail::argument_of("argmax", x, options, true);
}
// The place of the smallest element along an axis, the first of equal ones; a NaN is smallest. Throws
// ValueError if there are no elements, more than int32 counts or `axis` is several axes, and IndexError if it
// is out of bounds.
template <detail::ArrayLike X>
Array<std::int32_t> argmin(const X& x, const AxisOptions& options = {}) {
  return detail::argument_of("argmin", x, options, false);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase argument_of(const char* function, const ArrayBase& x, const AxisOptions& options,
                                 bool largest) {
  check_operand(function, x);
  if (options.axis.given() && options.axis.list().size() != 1)
    raise<ValueError>({function, ": axis must be one axis"});
  const AxisMarks marks = marked_axes(function, options.axis, x.ndim());
  const Frame frame = layout_of(x);
  const std::int64_t n = marked_count(marks, frame);
  if (n == 0) raise<ValueError>({function, ": attempt to get ", function, " of an empty sequence"});
  check_places(function, n - 1);
  ArrayBase result = allocate(DType::int32, reduced_frame(frame, over_frame(marks, frame), options.keepdims),
                              device_for(function, x));
  const std::int64_t size = layout_of(result).size();
  if (size == 0) return result;
  const loops::Lines lines = options.axis.given()
                                 ? lines_of(frame, normalize_axis(function, options.axis.list()[0], x.ndim()))
                                 : loops::Lines{size, n, 1};
  const ArrayBase rows = contiguous(x, transforms_handled);
  backend::run(result.device(), ops::ArgReduce{largest, lines, x.dtype()},
               {device_data(rows), device_data(result)});
  return result;
}

}  // namespace detail
NAX_END
#endif
