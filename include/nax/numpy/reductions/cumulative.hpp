#pragma once

#include "nax/backend/cpu/lines/line_kernels.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/numpy/views/reshape.hpp"

// Running sums and products along an axis, and two recorded helpers that close them under differentiation:
//
//   shift(x)           each element moves one place on; the first place is filled
//   linear_scan(a, b)  r[i] = a[i] r[i - 1] + b[i]
//
// The gradient of a running product is a linear scan, that of a linear scan is a scan the other way; no
// division occurs, so zeros are no exception.
NAX_BEGIN

struct CumulativeOptions {
  Axis axis = {};                   // flattened when not given
  std::optional<DType> dtype = {};  // as for sum: must be the type that the call has
};

namespace detail {

NAX_ENGINE loops::Lines lines_of(const Frame& frame, int axis);

// Elements 0 ... n - 1 of an axis, or from another one on, as a view.
NAX_ENGINE ArrayBase part_of_axis(const ArrayBase& x, int axis, std::int64_t first, std::int64_t n);

template <class T>
Array<T> shift(const Array<T>& x, int axis, bool reverse, T fill) {
  Array<T> result = typed<T>(allocate(dtype_of<T>, layout_of(x), device_for("cumprod", x)));
  const std::int64_t n = x.shape(axis);
  if (n > 0) {
    copy_into(part_of_axis(x, axis, reverse ? 1 : 0, n - 1),
              part_of_axis(result, axis, reverse ? 0 : 1, n - 1));
    copy_into(beside(result, Array<T>(fill)), part_of_axis(result, axis, reverse ? n - 1 : 0, 1));
  }
  return record(std::move(result), wrt(
                                       x, [=](const Array<T>& g) { return shift(g, axis, !reverse, T(0)); },
                                       [=](const Array<T>& t) { return shift(t, axis, reverse, T(0)); }));
}

// Values only: r[i] = a[i] r[i - 1] + b[i].
NAX_ENGINE ArrayBase linear_scan_values(const ArrayBase& a, const ArrayBase& b, int axis, bool reverse);

template <class T>
Array<T> linear_scan(const Array<T>& a, const Array<T>& b, int axis, bool reverse) {
  cpu::provide<cpu::LinearScanKernel, lane_t<T>>();
  Array<T> result = typed<T>(linear_scan_values(a, b, axis, reverse));
  // The adjoint of the scan: h[i] = g[i] + a[i + 1] h[i + 1].
  const auto adjoint = [=](const Array<T>& g) {
    return linear_scan(shift(a, axis, !reverse, T(0)), g, axis, !reverse);
  };
  return record_with_result(
      std::move(result),
      wrt(
          a,
          [=](const Array<T>& g, const Array<T>& r) -> Array<T> {
            return evaluate(make_expr<rules::multiply>(adjoint(g), shift(r, axis, reverse, T(0))));
          },
          [=](const Array<T>& t, const Array<T>& r) -> Array<T> {
            const Array<T> term_of_t = evaluate(make_expr<rules::multiply>(t, shift(r, axis, reverse, T(0))));
            return linear_scan(a, term_of_t, axis, reverse);
          }),
      wrt(
          b, [=](const Array<T>& g, const Array<T>&) { return adjoint(g); },
          [=](const Array<T>& t, const Array<T>&) { return linear_scan(a, t, axis, reverse); }));
}

// Values only: running sums or products, which add up in the type `lane`, in the type `result`.
NAX_ENGINE ArrayBase running(const ArrayBase& x, int axis, bool product, bool reverse, DType lane,
                             DType result);

template <class R, class T>
Array<R> cumsum_axis(const Array<T>& x, int axis, bool reverse) {
  if constexpr (is_integer_v<T> && !std::is_same_v<T, R>) return cumsum_axis<R>(as_type<R>(x), axis, reverse);
  cpu::provide<cpu::ScanKernel, lane_t<R>>();
  Array<R> result = typed<R>(running(x, axis, false, reverse, dtype_of<lane_t<R>>, dtype_of<R>));
  if constexpr (is_inexact_v<T>)
    return record(std::move(result),
                  wrt(
                      x, [=](const Array<T>& g) { return cumsum_axis<T>(g, axis, !reverse); },
                      [=](const Array<T>& t) { return cumsum_axis<T>(t, axis, reverse); }));
  else
    return result;
}

template <class R, class T>
Array<R> cumprod_axis(const Array<T>& x, int axis, bool reverse) {
  if constexpr (is_integer_v<T> && !std::is_same_v<T, R>)
    return cumprod_axis<R>(as_type<R>(x), axis, reverse);
  cpu::provide<cpu::ScanKernel, lane_t<R>>();
  Array<R> result = typed<R>(running(x, axis, true, reverse, dtype_of<lane_t<R>>, dtype_of<R>));
  if constexpr (is_inexact_v<T>) {
    // The product before i, times the sum over the products that i is part of, without x[i].
    const auto pull = [=](const Array<T>& g, const Array<T>& y) -> Array<T> {
      const Array<T> after = linear_scan(shift(x, axis, !reverse, T(0)), g, axis, !reverse);
      return evaluate(make_expr<rules::multiply>(shift(y, axis, reverse, T(1)), after));
    };
    const auto push = [=](const Array<T>& t, const Array<T>& y) -> Array<T> {
      const Array<T> term = evaluate(make_expr<rules::multiply>(t, shift(y, axis, reverse, T(1))));
      return linear_scan(x, term, axis, reverse);
    };
    return record_with_result(std::move(result), wrt(x, pull, push));
  } else {
    return result;
  }
}

template <class T>
using cumulative_t = std::conditional_t<std::is_same_v<T, bool>, std::int32_t, T>;

template <class X, class F>
auto along_axis(const char* function, const X& x_, const CumulativeOptions& options, const F& f) {
  const Array<typename X::value_type> x = materialise(x_);
  check_reducible(function, x);
  if (!options.axis.given()) return f(reshape_to(function, x, Shape{x.size()}), 0);
  if (options.axis.list().size() != 1) raise<ValueError>({function, ": axis must be one axis"});
  return f(x, normalize_axis(function, options.axis.list()[0], x.ndim()));
}

}  // namespace detail

// Running sums along `axis`, or over all elements in row-major order. bool adds up as int32; half types in
// float. cumsum<R>(x) converts the elements to R first, and is of that type. Throws ValueError unless `axis`
// is one axis, IndexError if it is out of bounds, and TypeError if `dtype` is not the result's.
template <detail::ArrayLike X>
auto cumsum(const X& x, const CumulativeOptions& options = {}) {
  using R = detail::cumulative_t<typename X::value_type>;
  detail::check_result_dtype("cumsum", options.dtype, dtype_of<R>);
  return detail::along_axis("cumsum", x, options,
                            [](const auto& a, int axis) { return detail::cumsum_axis<R>(a, axis, false); });
}
template <Dtype R, detail::ArrayLike X>
Array<R> cumsum(const X& x, const CumulativeOptions& options = {}) {
  return detail::in_result_type<R>("cumsum", x, options,
                                   [](const auto& terms, const auto& with) { return cumsum(terms, with); });
}
// Running products along `axis`, or over all elements in row-major order. Throws ValueError unless `axis` is
// one axis, IndexError if it is out of bounds, and TypeError if `dtype` is not the result's.
template <detail::ArrayLike X>
auto cumprod(const X& x, const CumulativeOptions& options = {}) {
  using R = detail::cumulative_t<typename X::value_type>;
  detail::check_result_dtype("cumprod", options.dtype, dtype_of<R>);
  return detail::along_axis("cumprod", x, options,
                            [](const auto& a, int axis) { return detail::cumprod_axis<R>(a, axis, false); });
}
template <Dtype R, detail::ArrayLike X>
Array<R> cumprod(const X& x, const CumulativeOptions& options = {}) {
  return detail::in_result_type<R>("cumprod", x, options,
                                   [](const auto& terms, const auto& with) { return cumprod(terms, with); });
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/reductions/cumulative-inl.hpp"
#endif
