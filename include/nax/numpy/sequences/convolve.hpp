#pragma once

#include <string_view>

#include "nax/backend/cpu/conv/correlation.hpp"
#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/backend/operations.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/reductions/sum.hpp"

// 1-d convolution. One primitive, closed under differentiation:
//
//   correlation(x, w, low, high)[i] = sum over k of y[i + k] w[k],  y = x between `low` and `high` zeros
//
// The gradient of x is a correlation of the cotangent with the reversed w, that of w one of x with the
// cotangent.
NAX_BEGIN
namespace detail {

template <class T>
Array<T> reversed(const Array<T>& x) {
  Layout layout = layout_of(x);
  const std::int64_t n = layout.shape.back(), stride = layout.strides.back();
  layout.strides.back() = -stride;
  const auto same = [](const Array<T>& g) { return reversed(g); };
  return record_view(x, std::move(layout), n > 0 ? (n - 1) * stride : 0, same, same);
}

// Correlates on a device without such an operation: the windows, a view of the padded x, times w.
template <class T>
[[gnu::cold]] Array<T> correlation_of_windows(Device device, const Array<T>& x, const Array<T>& w,
                                              std::int64_t low, std::int64_t length) {
  const std::int64_t n = layout_of(x).shape.back(), taps = layout_of(w).shape.back();
  Frame frame = layout_of(x);
  frame.shape.back() = length + taps - 1;
  const ArrayBase padded = allocate(dtype_of<T>, frame, device);
  clear_elements(padded);
  Layout inside = layout_of(padded);
  inside.shape.back() = n;
  copy_into(beside(padded, x), sub_array(padded, std::move(inside), low));
  Layout windows = layout_of(padded), weights = layout_of(w);
  windows.shape.back() = length;
  append_axis(windows, taps, 1);
  weights.shape.insert(weights.shape.size() - 1, 1);
  weights.strides.insert(weights.strides.size() - 1, 0);
  const Array<T> a = typed<T>(view(padded, std::move(windows))),
                 b = typed<T>(view(constant(w), std::move(weights)));
  AxisMarks marks(static_cast<std::size_t>(a.ndim()), false);
  marks.back() = true;
  return sum_over<T>(make_expr<rules::multiply>(a, b), marks, false, 1);
}

// One run of the device's operation, of one dtype.
NAX_ENGINE ArrayBase correlated(Device device, const ArrayBase& x, const ArrayBase& w, std::int64_t low,
                                std::int64_t length);

template <class T>
Array<T> correlation(const Array<T>& x, const Array<T>& w, std::int64_t low, std::int64_t high) {
  const std::int64_t taps = layout_of(w).shape.back(),
                     length = layout_of(x).shape.back() + low + high - taps + 1;
  const Device device = device_for("convolve", x, w);
  cpu::provide<cpu::CorrelateKernel, T>();
  Array<T> result = backend::has<ops::Correlate>(device, dtype_of<T>)
                        ? typed<T>(correlated(device, x, w, low, length))
                        : correlation_of_windows(device, x, w, low, length);
  if constexpr (is_inexact_v<T>)
    return record(
        std::move(result),
        wrt(
            x,
            [=](const Array<T>& g) { return correlation(g, reversed(w), taps - 1 - low, taps - 1 - high); },
            [=](const Array<T>& t) { return correlation(t, w, low, high); }),
        wrt(
            w, [=](const Array<T>& g) { return correlation(x, g, low, high); },
            [=](const Array<T>& t) { return correlation(x, t, low, high); }));
  else
    return result;
}

// `w` slides over x, with zeros around it by mode. `swapped`: what "same" leaves out of an even number of
// places is counted from the other end (NumPy's correlate of a longer second operand).
template <class T>
Array<T> convolve_mode(const char* function, const Array<T>& x, const Array<T>& w, std::string_view mode,
                       bool swapped) {
  const std::int64_t n = x.shape(0), taps = w.shape(0), least = std::min(n, taps);
  if (least == 0)
    raise<ValueError>({function, ": the operands must not be empty, shapes ", x.shape(), " ", w.shape()});
  std::int64_t skip = 0, length = n + taps - 1;
  if (mode == "valid") {
    skip = least - 1;
    length = std::max(n, taps) - least + 1;
  } else if (mode == "same") {
    length = std::max(n, taps);
    skip = swapped ? least / 2 : (least - 1) / 2;
  } else if (mode != "full") {
    raise<ValueError>({function, ": mode must be 'full', 'same' or 'valid', got '", mode, "'"});
  }
  const std::int64_t low = taps - 1 - skip, high = length - n - low + taps - 1;
  return correlation(x, w, low, high);
}

template <class R, class X, class Y, class F>
Array<R> on_vectors(const char* function, const X& x_, const Y& y_, const F& f) {
  const Array<R> x = as_type<R>(x_), y = as_type<R>(y_);
  check_operand(function, x);
  check_operand(function, y);
  if (x.ndim() != 1 || y.ndim() != 1)
    raise<ValueError>({function, ": the operands must be 1-d, shapes ", x.shape(), " ", y.shape()});
  return f(x, y);
}

}  // namespace detail

struct ConvolveOptions {
  std::string_view mode = "full";
};
// The convolution of two 1-d arrays: "full", "same" (as long as the longer) or "valid" (where they overlap
// entirely). For m and n elements the result has shape (m + n - 1,), (max(m, n),) or (max(m, n) - min(m, n) +
// 1,). Throws ValueError unless both operands are 1-d and not empty, or for an unknown mode.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto convolve(const X& x, const Y& y, const ConvolveOptions& options = {}) {
  using R = detail::product_type_t<X, Y>;
  return detail::on_vectors<R>("convolve", x, y, [&](const Array<R>& a, const Array<R>& b) {
    return detail::convolve_mode("convolve", a, detail::reversed(b), options.mode, false);
  });
}

struct CorrelateOptions {
  std::string_view mode = "valid";
};
// c[k] = sum over n of x[n + k] conj(y[n]). For m and n elements the result has shape (m + n - 1,) with
// "full", (max(m, n),) with "same", else (max(m, n) - min(m, n) + 1,). Throws ValueError unless both operands
// are 1-d and not empty, or for an unknown mode.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto correlate(const X& x, const Y& y, const CorrelateOptions& options = {}) {
  using R = detail::product_type_t<X, Y>;
  return detail::on_vectors<R>("correlate", x, y, [&](const Array<R>& a, const Array<R>& b) {
    const bool swapped = a.shape(0) < b.shape(0);
    if constexpr (is_complex_v<R>)
      return detail::convolve_mode("correlate", a, detail::evaluate(detail::make_expr<rules::conjugate>(b)),
                                   options.mode, swapped);
    else
      return detail::convolve_mode("correlate", a, b, options.mode, swapped);
  });
}

struct CrossOptions {
  std::int64_t axis = -1;
};
// The cross product of vectors of 3 along `axis`; the other axes broadcast, and the vectors of the result lie
// along `axis` of what comes out: (..., 3) and (..., 3) give (..., 3). (2-d vectors, deprecated in NumPy, are
// not taken.) Throws ShapeError unless the vectors have 3 elements and broadcast, and IndexError if `axis` is
// out of bounds.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto cross(const X& x_, const Y& y_, const CrossOptions& options = {}) {
  using R = detail::product_type_t<X, Y>;
  const Array<R> x = detail::as_type<R>(x_), y = detail::as_type<R>(y_);
  const int ax = detail::normalize_axis("cross", options.axis, x.ndim()),
            ay = detail::normalize_axis("cross", options.axis, y.ndim());
  if (x.shape(ax) != 3 || y.shape(ay) != 3)
    raise<ShapeError>({"cross: the vectors must have 3 elements, shapes ", x.shape(), " ", y.shape()});
  const Array<R> a = moveaxis(x, ax, -1), b = moveaxis(y, ay, -1);
  const auto part = [&](int i, int j) -> Array<R> {
    const auto at = [](const Array<R>& v, int k) { return v(ellipsis, slice(k, k + 1)); };
    return detail::evaluate(
        detail::make_expr<rules::subtract>(detail::make_expr<rules::multiply>(at(a, i), at(b, j)),
                                           detail::make_expr<rules::multiply>(at(a, j), at(b, i))));
  };
  const Array<R> product = concatenate({part(1, 2), part(2, 0), part(0, 1)}, {.axis = -1});
  return moveaxis(product, -1, detail::normalize_axis("cross", options.axis, product.ndim()));
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/sequences/convolve-inl.hpp"
#endif
