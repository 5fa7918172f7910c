#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/any_all.hpp"
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

// The element type of interp, from that of the points and of x, an array or a number, which is weak.
template <class Points, class X>
auto interp_type() {
  if constexpr (Scalar<X>)
    return std::type_identity<Points>{};
  else
    return std::type_identity<inexact_t<promote_t<Points, typename X::value_type>>>{};
}

// interp between points (x0, f0) and (x1, f1) of which a number, or a difference, is not finite.
template <class T>
Array<T> interp_endless(const Array<T>& x, const Array<T>& x0, const Array<T>& x1, const Array<T>& f0,
                        const Array<T>& f1) {
  const auto known = [](const Array<T>& v) { return typed<T>(constant(v)); };
  const Array<T> y = known(x), y0 = known(x0), y1 = known(x1), g0 = known(f0), g1 = known(f1);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  // The slope is 0 beside an infinite place, and NaN where the values are infinite, too.
  const Array<T> flat = where(isfinite(y1), where(isfinite(g0), g1, nan),
                              where(logical_and(isfinite(y0), isfinite(g1)), g0, nan));
  const Array<T> part = (y - y0) / (y1 - y0);
  const Array<T> between = where(isfinite(y1 - y0), g0 * (T(1) - part) + g1 * part, flat);
  return where(x == x0, f0, where(x == x1, f1, where(g0 == g1, g0, between)));
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
// length, or empty, and for a period of 0. Computed in the type to which x, xp and fp promote. Between a
// finite and an infinite value it is infinite, and finite at the point itself, as in NumPy.
template <detail::Operand X, detail::ArrayLike XP, detail::ArrayLike FP>
auto interp(const X& x_, const XP& xp_, const FP& fp_,
            const InterpOptions<inexact_t<typename FP::value_type>>& options = {}) {
  using Points = inexact_t<promote_t<typename XP::value_type, typename FP::value_type>>;
  using T = typename decltype(detail::interp_type<Points, X>())::type;
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
  using Bools = detail::where_used_t<Array<bool>, T>;
  using Places = detail::where_used_t<Array<std::int64_t>, T>;
  // The points on both sides of each value.
  const detail::where_used_t<Array<std::int32_t>, T> before = searchsorted(xp, x, {.side = "right"});
  const auto last = static_cast<std::int32_t>(xp.size() - 1);
  const Places right =
      detail::apply<rules::cast<std::int64_t>>(minimum(maximum(before, std::int32_t{1}), last));
  const Places left = maximum(right - std::int64_t{1}, std::int64_t{0});
  const auto end = [&](const std::optional<T>& given, std::int64_t at) {
    return given && !options.period
               ? detail::typed<T>(detail::beside(fp, detail::host_number(static_cast<T>(*given))))
               : Array<T>(fp(at));
  };
  const Array<T> below = end(options.left, 0), above = end(options.right, -1);
  const auto at = [](const Array<T>& points, const Array<std::int64_t>& places) {
    return detail::take_positions(points, places, 0);
  };
  const Array<T> x0 = at(xp, left), x1 = at(xp, right), f0 = at(fp, left), f1 = at(fp, right);
  Bools same = x1 == x0;  // two values at one place: the later one
  if (last > 0) same = logical_and(same, x == x);
  const Bools endless = logical_and(x == x, logical_not(logical_and(isfinite(x1 - x0), isfinite(f1 - f0))));
  const Bools fixed = logical_or(endless, same);
  const Array<T> part = where(fixed, T(0), x - x0) / where(fixed, T(1), x1 - x0);
  Array<T> inside = f0 + part * where(fixed, T(0), f1 - f0);
  // Few tables have infinite points.
  if (!detail::is_known(endless) || any(endless).item())
    inside = where(endless, detail::interp_endless<T>(x, x0, x1, f0, f1), inside);
  inside = where(same, f1, inside);
  return Array<T>(where(x < xp(0), below, where(x > xp(-1), above, inside)));
}

NAX_END
