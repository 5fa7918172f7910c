#pragma once

#include "nax/backend/cpu/standardize.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/reductions/rows.hpp"
#include "nax/numpy/reductions/sum.hpp"

NAX_BEGIN
namespace nn {
struct StandardizeOptions {
  Axis axis = -1;
  double epsilon = 1e-5;
};
}  // namespace nn

namespace detail {

// 1 / sqrt(variance + epsilon) with the axes kept, written with recorded functions.
template <class T>
Array<T> inverse_deviation(const Array<T>& x, const AxisMarks& visible, double epsilon) {
  const double n = static_cast<double>(marked_count(visible, layout_of(x)));
  const auto centred = make_expr<rules::subtract>(x, sum_over<T>(x, visible, true, n));
  const Array<T> variance = sum_over<T>(make_expr<rules::square>(centred), visible, true, n);
  return evaluate(make_expr<rules::rsqrt>(make_expr<rules::add>(
      variance, Array<T>(static_cast<lane_t<T>>(static_cast<real_t<lane_t<T>>>(epsilon))))));
}

template <class T>
Array<T> standardize_parts(const Array<T>& x, const AxisMarks& visible, double epsilon) {
  const double n = static_cast<double>(marked_count(visible, layout_of(x)));
  const auto centred = make_expr<rules::subtract>(x, sum_over<T>(x, visible, true, n));
  return evaluate(make_expr<rules::multiply>(centred, inverse_deviation(x, visible, epsilon)));
}

// Whether the kernels of rows may run over x.
template <class T>
bool standardizes_rows(const Array<T>& x, const AxisMarks& visible) {
  return simd::has_packet<T> && marks_suffix(visible) && !on_accelerator(x) && layout_of(x).size() > 0;
}

// The derivative of y = standardize(x), which is symmetric, applied to g: with s = `inverse`,
// s (g - mean(g) - y mean(g y)).
template <class T>
Array<T> standardize_gradient(const Array<T>& g, const Array<T>& y, const Array<T>& inverse,
                              const AxisMarks& visible) {
  const auto otherwise = [&] {
    const double n = static_cast<double>(marked_count(visible, layout_of(y)));
    const Array<T> mean = sum_over<T>(g, visible, true, n);
    const Array<T> along = sum_over<T>(make_expr<rules::multiply>(g, y), visible, true, n);
    return evaluate(make_expr<rules::multiply>(
        inverse, make_expr<rules::subtract>(make_expr<rules::subtract>(g, mean),
                                            make_expr<rules::multiply>(y, along))));
  };
  if (is_recorded(inverse) || on_accelerator(inverse)) return otherwise();
  const T* factor = elements<const T>(inverse, transforms_handled);
  const auto kernel = [factor](std::int64_t first, const T* rows, const T* other, T* out, std::int64_t count,
                               std::int64_t n) {
    cpu::standardize_gradient_rows(rows, other, factor + first, out, count, n);
  };
  return gradient_of_rows(g, y, visible, kernel, otherwise);
}

template <class T>
Array<T> standardize_over(const Array<T>& x, const AxisMarks& visible, double epsilon) {
  if constexpr (!simd::has_packet<T>) {
    return standardize_parts(x, visible, epsilon);
  } else {
    if (!standardizes_rows(x, visible)) return standardize_parts(x, visible, epsilon);
    const Frame frame = layout_of(x);
    const bool recorded = is_recorded(x);
    Array<T> result = typed<T>(allocate(dtype_of<T>, frame)), inverse;
    T *out = elements<T>(result), *factor = nullptr;
    if (recorded) {
      inverse = typed<T>(allocate(dtype_of<T>, reduced_frame(frame, over_frame(visible, frame), true)));
      factor = elements<T>(inverse);
    }
    const RowCount count(frame, visible);
    for_each_row_block(x, count, out, [=](const T* rows, std::int64_t first, std::int64_t some) {
      cpu::standardize_rows(rows, out + first * count.length, static_cast<T*>(nullptr),
                            factor ? factor + first : nullptr, some, count.length, static_cast<T>(epsilon),
                            static_cast<const T*>(nullptr), static_cast<const T*>(nullptr));
    });
    if (!recorded) return result;
    const auto tangent = [=](const Array<T>& g, const Array<T>& y) -> Array<T> {
      return standardize_gradient(g, y, is_recorded(x) ? inverse_deviation(x, visible, epsilon) : inverse,
                                  visible);
    };
    return record_with_result(std::move(result), wrt(x, tangent, tangent));
  }
}

// Whether `v` is one contiguous row of n elements that every row of x meets as it is.
template <class T>
bool is_plain_row(const Array<T>& v, std::int64_t n, const AxisMarks& visible) {
  const Layout& layout = layout_of(v);
  if (is_batched(v) || layout.size() != n || !layout.is_contiguous()) return false;
  std::size_t reduced = 0;
  for (const bool marked : visible) reduced += marked;
  return layout.shape.size() == reduced;
}

// layer_norm of rows as one operation: nothing but the mean and the factor of each row is kept for the
// derivatives.
template <class T>
Array<T> layer_norm_rows(const Array<T>& x, const Array<T>& scale, const Array<T>& bias,
                         const AxisMarks& visible, double epsilon) {
  const Frame frame = layout_of(x), one_a_row = reduced_frame(frame, over_frame(visible, frame), true);
  const RowCount count(frame, visible);
  const std::int64_t n = count.length;
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame)), means, inverse;
  const bool recorded = is_recorded(x) || is_recorded(scale) || is_recorded(bias);
  if (recorded) {
    means = typed<T>(allocate(dtype_of<T>, one_a_row));
    inverse = typed<T>(allocate(dtype_of<T>, one_a_row));
  }
  T *const out = elements<T>(result), *const mean = recorded ? elements<T>(means) : nullptr,
           *const by = recorded ? elements<T>(inverse) : nullptr;
  const T *const factor = elements<const T>(scale, transforms_handled), *const shift = elements<const T>(
                                                                            bias, transforms_handled);
  for_each_row_block(x, count, out, [=](const T* rows, std::int64_t first, std::int64_t some) {
    cpu::standardize_rows(rows, out + first * n, mean ? mean + first : nullptr, by ? by + first : nullptr,
                          some, n, static_cast<T>(epsilon), factor, shift);
  });
  check_result("layer_norm", result, {&x, &scale, &bias});
  if (!recorded) return result;

  // Where another transform watches, the derivatives are those of the parts.
  const auto pull_x = [=](const Array<T>& g) -> Array<T> {
    const auto otherwise = [&] {
      return standardize_gradient(evaluate(make_expr<rules::multiply>(g, scale)),
                                  standardize_parts(x, visible, epsilon),
                                  inverse_deviation(x, visible, epsilon), visible);
    };
    if (is_recorded(scale)) return otherwise();
    const T *m = elements<const T>(means, transforms_handled),
            *s = elements<const T>(inverse, transforms_handled),
            *f = elements<const T>(scale, transforms_handled);
    const auto kernel = [=](std::int64_t first, const T* rows, const T* values, T* to, std::int64_t some,
                            std::int64_t length) {
      cpu::layer_norm_gradient_rows(rows, values, m + first, s + first, f, to, some, length);
    };
    return gradient_of_rows(g, x, visible, kernel, otherwise);
  };
  AxisMarks leading = visible;
  for (bool& axis : leading) axis = !axis;
  const auto pull_scale = [=](const Array<T>& g) -> Array<T> {
    if (is_recorded(x) || is_recorded(g))
      return sum_over<T>(make_expr<rules::multiply>(g, standardize_parts(x, visible, epsilon)), leading,
                         false, 1);
    const auto standard = make_expr<rules::multiply>(make_expr<rules::subtract>(x, means), inverse);
    return sum_over<T>(make_expr<rules::multiply>(g, standard), leading, false, 1);
  };
  const auto pull_bias = [=](const Array<T>& g) -> Array<T> { return sum_over<T>(g, leading, false, 1); };
  return record(std::move(result), wrt(x, pull_x), wrt(scale, pull_scale), wrt(bias, pull_bias));
}

}  // namespace detail

namespace nn {

// (x - mean) / sqrt(variance + epsilon) along the axes. Throws IndexError if an axis is out of bounds, and
// ValueError if one repeats.
template <detail::ArrayLike X>
auto standardize(const X& x_, const StandardizeOptions& options = {}) {
  const auto x = detail::as_type<inexact_t<typename X::value_type>>(x_);
  detail::check_reducible("standardize", x);
  return detail::standardize_over(x, detail::marked_axes("standardize", options.axis, x.ndim()),
                                  options.epsilon);
}

// standardize, then a scale and a shift that are learned. Throws IndexError if an axis is out of bounds, and
// ValueError if one repeats.
template <detail::ArrayLike X, detail::ArrayLike S, detail::ArrayLike B>
auto layer_norm(const X& x_, const S& scale, const B& bias, const StandardizeOptions& options = {}) {
  const auto x = detail::as_type<inexact_t<typename X::value_type>>(x_);
  using T = typename decltype(x)::value_type;
  using Result = Array<typename decltype(standardize(x, options) * scale + bias)::value_type>;
  if constexpr (std::is_same_v<S, Array<T>> && std::is_same_v<B, Array<T>> && simd::has_packet<T>) {
    const AxisMarks visible = detail::marked_axes("layer_norm", options.axis, x.ndim());
    const std::int64_t n = detail::RowCount(detail::layout_of(x), visible).length;
    if (detail::standardizes_rows(x, visible) && detail::is_plain_row(scale, n, visible) &&
        detail::is_plain_row(bias, n, visible)) {
      detail::check_reducible("layer_norm", x);
      return Result(detail::layer_norm_rows(x, scale, bias, visible, options.epsilon));
    }
  }
  return Result(standardize(x, options) * scale + bias);
}

}  // namespace nn
NAX_END
