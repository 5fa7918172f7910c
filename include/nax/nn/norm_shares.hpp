#pragma once

#include <memory>

#include "nax/expr/differentiation/shares_together.hpp"
#include "nax/nn/standardized_rows.hpp"
#include "nax/numpy/elementwise/cast.hpp"

NAX_BEGIN
namespace detail {

// The gradients of x, scale and further parameters of normalised rows, in this order: of one operation, or of
// the parts where another transform watches. Norm gives
//   share_by_parts(g, x, scale, which)   one gradient, written with recorded functions, in Number
//   run(g, x, to, adds)                  those that are wanted, into the arrays of `to`; `adds`: to that of x
template <class Norm, class T, std::size_t count>
class NormShares {
 public:
  using Number = lane_t<T>;  // the type of sums
  Array<T> share(const Array<T>& g, std::size_t which) {
    if (!is_one_operation(g)) {
      if constexpr (std::is_same_v<Number, T>)
        return norm().share_by_parts(g, x_, scale_, which);
      else
        return in_lanes<T>([&](const auto&... wide) { return norm().share_by_parts(wide..., which); }, g, x_,
                           scale_);
    }
    return typed<T>(together_.take(g, which, [&] { return shares(g, nullptr); }));
  }
  // Adds that of x, computed in float, to a sum of cotangents; false where it does not.
  bool add_share(const ArrayBase& g_, ArrayBase& sum) {
    const Array<T> g = typed<T>(g_);
    return std::is_same_v<Number, float> && is_one_operation(g) &&
           takes_in_place(sum, x_.device(), dtype_of<T>, layout_of(x_)) && g.device() == x_.device() &&
           together_.take_others(g, [&] { return shares(g, &sum); });
  }

 protected:
  NormShares(const Array<T>& x, const Array<T>& scale, const AxisMarks& visible, double epsilon,
             const std::array<bool, count>& wanted)
      : x_(x), scale_(scale), visible_(visible), epsilon_(epsilon), wanted_(wanted) {}

  // All axes but those of a row.
  AxisMarks leading() const {
    AxisMarks axes = visible_;
    for (bool& axis : axes) axis = !axis;
    return axes;
  }

  const Array<T> x_, scale_;
  const AxisMarks visible_;
  const double epsilon_;

 private:
  using Shares = typename SharesTogether<count>::Shares;
  const Norm& norm() const { return static_cast<const Norm&>(*this); }
  bool is_one_operation(const Array<T>& g) const {
    return !is_recorded(g) && !is_recorded(x_) && !is_recorded(scale_) &&
           static_cast<const Frame&>(layout_of(g)) == static_cast<const Frame&>(layout_of(x_));
  }
  // `sum`, if any, takes the share of x.
  Shares shares(const Array<T>& g_, const ArrayBase* sum) const {
    const ArrayBase g = contiguous(g_, transforms_handled), x = contiguous(x_, transforms_handled);
    const Device device = device_for(Norm::name, g, x);
    Shares made;
    std::array<const ArrayBase*, count> to{};
    if (sum) to[0] = sum;
    for (std::size_t i = sum ? 1 : 0; i < count; ++i)
      if (wanted_[i]) {
        made[i] = allocate(dtype_of<T>, i == 0 ? layout_of(x_) : layout_of(scale_), device);
        to[i] = &made[i];
      }
    norm().run(g, x, to, sum != nullptr);
    return made;
  }

  const std::array<bool, count> wanted_;
  SharesTogether<count> together_;
};

// Of the input x of such an operation.
template <class Shares, class T>
struct NormedShare {
  std::shared_ptr<Shares> of;
  Array<T> operator()(const Array<T>& g) const { return of->share(g, 0); }
  bool add_share(const ArrayBase& g, ArrayBase& sum) const { return of->add_share(g, sum); }
};

}  // namespace detail
NAX_END
