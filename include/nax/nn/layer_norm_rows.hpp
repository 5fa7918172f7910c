#pragma once

#include <memory>

#include "nax/expr/differentiation/shares_together.hpp"
#include "nax/nn/standardized_rows.hpp"

// layer_norm of rows as one operation: nothing but the mean and the factor of each row is kept for the
// derivatives, which are one operation as well. Where another transform watches, they are those of the parts.
NAX_BEGIN
namespace detail {

// The gradients of x, scale and bias, in this order.
template <class T>
class LayerNormShares {
 public:
  LayerNormShares(const Array<T>& x, const Array<T>& scale, const Array<T>& bias,
                  const StandardizedRows<T>& rows, const AxisMarks& visible, double epsilon)
      : x_(x),
        scale_(scale),
        means_(rows.means),
        inverse_(rows.inverse),
        visible_(visible),
        epsilon_(epsilon),
        wanted_{is_recorded(x), is_recorded(scale), is_recorded(bias)} {}

  Array<T> share(const Array<T>& g, std::size_t which) {
    const bool watched = is_recorded(g) || is_recorded(x_) || is_recorded(scale_);
    if (watched || !(static_cast<const Frame&>(layout_of(g)) == static_cast<const Frame&>(layout_of(x_))))
      return share_by_parts(g, which);
    return typed<T>(together_.take(g, which, [&] { return shares(g); }));
  }

 private:
  Array<T> share_by_parts(const Array<T>& g, std::size_t which) const {
    if (which == 0)
      return standardize_gradient(evaluate(make_expr<rules::multiply>(g, scale_)),
                                  standardize_parts(x_, visible_, epsilon_),
                                  inverse_deviation(x_, visible_, epsilon_), visible_);
    AxisMarks leading = visible_;
    for (bool& axis : leading) axis = !axis;
    if (which == 2) return sum_over<T>(g, leading, false, 1);
    if (is_recorded(x_) || is_recorded(g))
      return sum_over<T>(make_expr<rules::multiply>(g, standardize_parts(x_, visible_, epsilon_)), leading,
                         false, 1);
    const auto standard = make_expr<rules::multiply>(make_expr<rules::subtract>(x_, means_), inverse_);
    return sum_over<T>(make_expr<rules::multiply>(g, standard), leading, false, 1);
  }
  typename SharesTogether<3>::Shares shares(const Array<T>& g_) const {
    constexpr auto function = loops::RowFunction::layer_norm_gradient;
    const ArrayBase g = contiguous(g_, transforms_handled), x = contiguous(x_, transforms_handled);
    const Device device = device_for("layer_norm", g, x);
    typename SharesTogether<3>::Shares made;
    const ArrayBase* to[3] = {};
    for (std::size_t i = 0; i < 3; ++i)
      if (wanted_[i]) {
        made[i] = allocate(dtype_of<T>, i == 0 ? layout_of(x_) : layout_of(scale_), device);
        to[i] = &made[i];
      }
    cpu::provide<cpu::RowKernel<function>, T>();
    run_rows(function, layout_of(scale_).size(), 0, {&g, &x, &means_, &inverse_, &scale_},
             {to[0], to[1], to[2]});
    return made;
  }

  const Array<T> x_, scale_, means_, inverse_;
  const AxisMarks visible_;
  const double epsilon_;
  const bool wanted_[3];
  SharesTogether<3> together_;
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
  return record(std::move(rows.value), wrt(x, pull(0)), wrt(scale, pull(1)), wrt(bias, pull(2)));
}

}  // namespace detail
NAX_END
