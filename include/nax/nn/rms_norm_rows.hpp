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
  using Base::x_, Base::scale_, Base::visible_, Base::epsilon_, Base::leading;

 public:
  RmsNormShares(const Array<T>& x, const Array<T>& scale, const Array<T>& inverse, const AxisMarks& visible,
                double epsilon)
      : Base(x, scale, visible, epsilon, {is_recorded(x), is_recorded(scale)}), inverse_(inverse) {}

 private:
  static constexpr const char* name = "rms_norm";
  Array<T> share_by_parts(const Array<T>& g, std::size_t which) const {
    const double n = static_cast<double>(layout_of(scale_).size());
    const Array<T> squares = sum_over<T>(make_expr<rules::square>(x_), visible_, true, n);
    const Array<T> inverse =
        evaluate(make_expr<rules::rsqrt>(make_expr<rules::add>(squares, Array<T>(static_cast<T>(epsilon_)))));
    const Array<T> y = evaluate(make_expr<rules::multiply>(x_, inverse));
    if (which == 1) return sum_over<T>(make_expr<rules::multiply>(g, y), leading(), false, 1);
    const Array<T> scaled = evaluate(make_expr<rules::multiply>(g, scale_));
    const Array<T> along = sum_over<T>(make_expr<rules::multiply>(scaled, y), visible_, true, n);
    return evaluate(make_expr<rules::multiply>(
        inverse, make_expr<rules::subtract>(scaled, make_expr<rules::multiply>(y, along))));
  }
  void run(const ArrayBase& g, const ArrayBase& x, const std::array<const ArrayBase*, 2>& to,
           bool adds) const {
    constexpr auto function = loops::RowFunction::rms_norm_gradient;
    cpu::provide<cpu::RowKernel<function>, T>();
    run_rows(function, layout_of(scale_).size(), adds ? 1 : 0, {&g, &x, &inverse_, &scale_}, {to[0], to[1]});
  }

  const Array<T> inverse_;
};

// Precondition: standardizes_rows(x, visible), is_plain_row(scale, ...).
template <class T>
Array<T> rms_norm_rows(const Array<T>& x_, const Array<T>& scale, const AxisMarks& visible, double epsilon) {
  constexpr auto function = loops::RowFunction::rms_norm;
  const ArrayBase x = contiguous(x_, transforms_handled);
  const Frame frame = layout_of(x);
  const Device device = device_for("rms_norm", x, scale);
  const bool recorded = is_recorded(x_) || is_recorded(scale);
  Array<T> result = typed<T>(allocate(dtype_of<T>, frame, device)), inverse;
  if (recorded)
    inverse = typed<T>(allocate(dtype_of<T>, reduced_frame(frame, over_frame(visible, frame), true), device));
  cpu::provide<cpu::RowKernel<function>, T>();
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
