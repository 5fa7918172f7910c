#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/numpy/sorting/sort.hpp"

// Functions that are given by points to join.
NAX_BEGIN

namespace detail {

// x and xp within one period, xp ascending with fp in its order, and a point more at both ends.
template <class T>
void wrap_points(double period_, Array<T>& x, Array<T>& xp, Array<T>& fp) {
  const T period = static_cast<T>(std::abs(period_));
  x = remainder(x, period);
  xp = remainder(xp, period);
  const Array<std::int32_t> order = argsort(typed<T>(constant(xp)), {.stable = true});
  xp = take_along_axis(xp, order, 0);
  fp = take_along_axis(fp, order, 0);
  const auto end = [](const Array<T>& points, std::int64_t at) { return points(slice(at, at + 1)); };
  const std::int64_t last = xp.size() - 1;
  xp = concatenate_on("interp", std::vector<Array<T>>{end(xp, last) - period, xp, end(xp, 0) + period}, 0);
  fp = concatenate_on("interp", std::vector<Array<T>>{end(fp, last), fp, end(fp, 0)}, 0);
}

}  // namespace detail

// The values on the left of all points and on their right, in place of the first and the last.
template <class T>
struct InterpOptions {
  std::optional<T> left = {}, right = {};
  std::optional<double> period = {};  // of x and xp, which need not ascend then; left and right do not count
};

// At each x the line through the points (xp, fp), 1-d, xp ascending or of a period. Differentiable with
// regard to all three. The result has the shape of x. Throws ValueError where xp and fp are not of one
// length, or empty, and for a period of 0.
template <detail::Operand X, detail::ArrayLike XP, detail::ArrayLike FP>
auto interp(const X& x_, const XP& xp_, const FP& fp_,
            const InterpOptions<inexact_t<typename FP::value_type>>& options = {}) {
  using T = inexact_t<promote_t<typename XP::value_type, typename FP::value_type>>;
  Array<T> xp = detail::as_type<T>(xp_), fp = detail::as_type<T>(fp_);
  Array<T> x = [&] {
    if constexpr (Scalar<X>)
      return detail::typed<T>(detail::beside(xp, detail::host_number(static_cast<T>(x_))));
    else
      return detail::as_type<T>(x_);
  }();
  detail::device_for("interp", x, xp, fp);  // together
  if (xp.ndim() != 1 || xp.shape() != fp.shape() || xp.size() == 0)
    raise<ValueError>(
        {"interp: xp and fp must be 1-d, of one length and not empty: ", xp.shape(), " and ", fp.shape()});
  if (options.period) {
    if (*options.period == 0) throw ValueError("interp: the period must not be 0");
    detail::wrap_points(*options.period, x, xp, fp);
  }
  // The points on both sides of each value.
  const Array<std::int32_t> before = searchsorted(xp, x, {.side = "right"});
  const auto last = static_cast<std::int32_t>(xp.size() - 1);
  const Array<std::int64_t> right =
      detail::apply<rules::cast<std::int64_t>>(minimum(maximum(before, std::int32_t{1}), last));
  const Array<std::int64_t> left = maximum(right - std::int64_t{1}, std::int64_t{0});
  const auto end = [&](const std::optional<T>& given, std::int64_t at) {
    return given && !options.period ? detail::typed<T>(detail::beside(fp, detail::host_number(*given)))
                                    : Array<T>(fp(at));
  };
  const Array<T> below = end(options.left, 0), above = end(options.right, -1);
  const auto at = [](const Array<T>& points, const Array<std::int64_t>& places) {
    return detail::take_positions(points, places, 0);
  };
  const Array<T> x0 = at(xp, left), x1 = at(xp, right), f0 = at(fp, left), f1 = at(fp, right);
  const auto step = where(x1 == x0, T(1), x1 - x0);  // two values at one place: the later one
  const Array<T> inside = where(x1 == x0, f1, f0 + (x - x0) / step * (f1 - f0));
  return Array<T>(where(x < xp(0), below, where(x > xp(-1), above, inside)));
}

NAX_END
