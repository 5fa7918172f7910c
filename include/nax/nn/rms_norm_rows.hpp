#pragma once

#include "nax/nn/norm_shares.hpp"

// rms_norm of rows as one operation, and its derivatives as another. Where another transform watches, these
// are written with recorded functions.
NAX_BEGIN
namespace detail {

template <class T>
class RmsNormShares : public NormShares<RmsNormShares<T>, T, 2> {
  using Base = NormShares<RmsNormShares<T>, T, 2>;
  friend Base;
  using Base::scale_, Base::visible_, Base::epsilon_, Base::leading;

 public:
  using Number = typename Base::Number;
  RmsNormShares(const Array<T>& x, const Array<T>& scale, const Array<Number>& inverse,
                const AxisMarks& visible, double epsilon)
      : Base(x, scale, visible, epsilon, {is_recorded(x), is_recorded(scale)}), inverse_(inverse) {}

 private:
  static constexpr const char* name = "rms_norm";
  Array<Number> share_by_parts(const Array<Number>& g, const Array<Number>& x, const Array<Number>& scale,
                               std::size_t which) const {
    const double n = static_cast<double>(layout_of(scale).size());
    const Array<Number> squares = sum_over<Number>(make_expr<rules::square>(x), visible_, true, n);
    const Array<Number> inverse = evaluate(make_expr<rules::rsqrt>(
        make_expr<rules::add>(squares, Array<Number>(static_cast<Number>(epsilon_)))));
    const Array<Number> y = evaluate(make_expr<rules::multiply>(x, inverse));
    if (which == 1) return sum_over<Number>(make_expr<rules::multiply>(g, y), leading(), false, 1);
    const Array<Number> scaled = evaluate(make_expr<rules::multiply>(g, scale));
    const Array<Number> along = sum_over<Number>(make_expr<rules::multiply>(scaled, y), visible_, true, n);
    return evaluate(make_expr<rules::multiply>(
        inverse, make_expr<rules::subtract>(scaled, make_expr<rules::multiply>(y, along))));
  }
  void run(const ArrayBase& g, const ArrayBase& x, const std::array<const ArrayBase*, 2>& to,
           bool adds) const {
    constexpr auto function = loops::RowFunction::rms_norm_gradient;
    provide_rows<function, T>();
    run_rows(function, layout_of(scale_).size(), adds ? 1 : 0, {&g, &x, &inverse_, &scale_}, {to[0], to[1]});
  }

  const Array<Number> inverse_;
};

// Precondition: standardizes_rows(x, visible), is_plain_row(scale, ...).
template <class T>
Array<T> rms_norm_rows(const Array<T>& x_, const Array<T>& scale, const AxisMarks& visible, double epsilon) {
  constexpr auto function = loops::RowFunction::rms_norm;
  const ArrayBase x = contiguous(x_, transforms_handled);
  const Frame frame = layout_of(x);
  const Device device = device_for("rms_norm", x, scale);
  const bool recorded = is_recorded(x_) || is_recorded(scale);
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame, device));
  Array<lane_t<T>> inverse;
  if (recorded)
    inverse = typed<lane_t<T>>(
        allocate(dtype_of<lane_t<T>>, reduced_frame(frame, over_frame(visible, frame), true), device));
  provide_rows<function, T>();
  run_rows(function, marked_count(visible, frame), epsilon, {&x, &scale},
           {&result, recorded ? &inverse : nullptr});
  check_result("rms_norm", result, {&x_, &scale});
  if (!recorded) return result;
  const auto kept = std::make_shared<RmsNormShares<T>>(x_, scale, inverse, visible, epsilon);
  const auto pull = [&](std::size_t which) {
    return [=](const Array<T>& g) -> Array<T> { return kept->share(g, which); };
  };
  return record(std::move(result), wrt(x_, NormedShare<RmsNormShares<T>, T>{kept}), wrt(scale, pull(1)));
}

}  // namespace detail
NAX_END
