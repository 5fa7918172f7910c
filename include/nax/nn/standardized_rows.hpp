#pragma once

#include "nax/backend/cpu/lines/row_kernels.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/reductions/rows.hpp"
#include "nax/numpy/reductions/sum.hpp"

NAX_BEGIN
namespace detail {

// 1 / sqrt(variance + epsilon) with the axes kept, written with recorded functions.
template <class T>
Array<T> inverse_deviation(const Array<T>& x, const AxisMarks& visible, double epsilon) {
  const double n = static_cast<double>(marked_count(visible, layout_of(x)));
  const auto centred = make_expr<rules::subtract>(x, sum_over<T>(x, visible, true, n));
  const Array<T> variance = sum_over<T>(make_expr<rules::square>(centred), visible, true, n);
  return evaluate(make_expr<rules::rsqrt>(
      make_expr<rules::add>(variance, Array<T>(static_cast<T>(static_cast<real_t<T>>(epsilon))))));
}

template <class T>
Array<T> standardize_parts(const Array<T>& x, const AxisMarks& visible, double epsilon) {
  const double n = static_cast<double>(marked_count(visible, layout_of(x)));
  const auto centred = make_expr<rules::subtract>(x, sum_over<T>(x, visible, true, n));
  return evaluate(make_expr<rules::multiply>(centred, inverse_deviation(x, visible, epsilon)));
}

// Whether an operation on rows may run over x.
template <class T>
bool standardizes_rows(const Array<T>& x, const AxisMarks& visible) {
  return has_rows<T>(x.device()) && layout_of(x).size() > 0 && marks_suffix(visible);
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
  if (is_recorded(inverse)) return otherwise();
  return gradient_of_rows<loops::RowFunction::standardize_gradient>(visible, otherwise, g, y, inverse);
}

// The rows of x standardized, with a scale and a bias or without (null); what is kept for derivatives is
// allocated where it is wanted.
template <class T>
struct StandardizedRows {
  using Number = lane_t<T>;
  Array<T> value;
  Array<Number> means, inverse;
  StandardizedRows(const Array<T>& x_, const AxisMarks& visible, double epsilon, bool recorded,
                   const Array<T>* scale = nullptr, const Array<T>* bias = nullptr) {
    const ArrayBase x = contiguous(x_, transforms_handled);
    const Frame frame = layout_of(x);
    const Device device = scale ? device_for("layer_norm", x, *scale, *bias) : device_for("standardize", x);
    value = typed<T>(allocate(dtype_of<T>, frame, device));
    if (recorded) {
      const Frame one_a_row = reduced_frame(frame, over_frame(visible, frame), true);
      if (scale) means = typed<Number>(allocate(dtype_of<Number>, one_a_row, device));
      inverse = typed<Number>(allocate(dtype_of<Number>, one_a_row, device));
    }
    provide_rows<loops::RowFunction::standardize, T>();
    run_rows(loops::RowFunction::standardize, marked_count(visible, frame), epsilon, {&x, scale, bias},
             {&value, recorded && scale ? &means : nullptr, recorded ? &inverse : nullptr});
  }
};

template <class T>
Array<T> standardize_over(const Array<T>& x, const AxisMarks& visible, double epsilon) {
  if constexpr (!std::is_same_v<lane_t<T>, T>) {
    return in_lanes<T>([&](const auto& wide) { return standardize_over(wide, visible, epsilon); }, x);
  } else if constexpr (!simd::has_packet<T>) {
    return standardize_parts(x, visible, epsilon);
  } else {
    if (!standardizes_rows(x, visible)) return standardize_parts(x, visible, epsilon);
    if (!is_recorded(x))
      return rows_value<loops::RowFunction::standardize>(x, marked_count(visible, layout_of(x)), layout_of(x),
                                                         epsilon);
    StandardizedRows<T> rows(x, visible, epsilon, true);
    const Array<T> inverse = rows.inverse;
    const auto tangent = [=](const Array<T>& g, const Array<T>& y) -> Array<T> {
      return standardize_gradient(g, y, is_recorded(x) ? inverse_deviation(x, visible, epsilon) : inverse,
                                  visible);
    };
    return record_with_result(std::move(rows.value), wrt(x, tangent, tangent));
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

}  // namespace detail
NAX_END
