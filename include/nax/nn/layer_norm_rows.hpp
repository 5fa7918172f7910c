#pragma once

#include "nax/nn/norm_shares.hpp"

// layer_norm of rows as one operation: nothing but the mean and the factor of each row is kept for the
// derivatives, which are one operation as well. Where another transform watches, they are those of the parts.
NAX_BEGIN
namespace detail {

template <class T>
class LayerNormShares : public NormShares<LayerNormShares<T>, T, 3> {
  using Base = NormShares<LayerNormShares<T>, T, 3>;
  friend Base;
  using Base::scale_, Base::visible_, Base::epsilon_, Base::leading;
  using Number = typename Base::Number;

 public:
  LayerNormShares(const Array<T>& x, const Array<T>& scale, const Array<T>& bias,
                  const StandardizedRows<T>& rows, const AxisMarks& visible, double epsilon)
      : Base(x, scale, visible, epsilon, {is_recorded(x), is_recorded(scale), is_recorded(bias)}),
        means_(rows.means),
        inverse_(rows.inverse) {}

 private:
  static constexpr const char* name = "layer_norm";
  Array<Number> share_by_parts(const Array<Number>& g, const Array<Number>& x, const Array<Number>& scale,
                               std::size_t which) const {
    if (which == 0)
      return standardize_gradient(evaluate(make_expr<rules::multiply>(g, scale)),
                                  standardize_parts(x, visible_, epsilon_),
                                  inverse_deviation(x, visible_, epsilon_), visible_);
    if (which == 2) return sum_over<Number>(g, leading(), false, 1);
    if (is_recorded(x) || is_recorded(g))
      return sum_over<Number>(make_expr<rules::multiply>(g, standardize_parts(x, visible_, epsilon_)),
                              leading(), false, 1);
    const auto standard = make_expr<rules::multiply>(make_expr<rules::subtract>(x, means_), inverse_);
    return sum_over<Number>(make_expr<rules::multiply>(g, standard), leading(), false, 1);
  }
  void run(const ArrayBase& g, const ArrayBase& x, const std::array<const ArrayBase*, 3>& to,
           bool adds) const {
    constexpr auto function = loops::RowFunction::layer_norm_gradient;
    provide_rows<function, T>();
    run_rows(function, layout_of(scale_).size(), adds ? 1 : 0, {&g, &x, &means_, &inverse_, &scale_},
             {to[0], to[1], to[2]});
  }

  const Array<Number> means_, inverse_;
};

template <class T>
Array<T> layer_norm_rows(const Array<T>& x, const Array<T>& scale, const Array<T>& bias,
                         const AxisMarks& visible, double epsilon) {
  const bool recorded = is_recorded(x) || is_recorded(scale) || is_recorded(bias);
  StandardizedRows<T> rows(x, visible, epsilon, recorded, &scale, &bias);
  check_result("layer_norm", rows.value, {&x, &scale, &bias});
  if (!recorded) return std::move(rows.value);
  const auto kept = std::make_shared<LayerNormShares<T>>(x, scale, bias, rows, visible, epsilon);
  const auto pull = [&](std::size_t which) {
    return [=](const Array<T>& g) -> Array<T> { return kept->share(g, which); };
  };
  return record(std::move(rows.value), wrt(x, NormedShare<LayerNormShares<T>, T>{kept}), wrt(scale, pull(1)),
                wrt(bias, pull(2)));
}

}  // namespace detail
NAX_END
