#pragma once

#include <string_view>

#include "nax/modules/interpolate/piecewise.hpp"

NAX_BEGIN
namespace interpolate {

struct CubicSplineOptions {
  std::string_view bc_type = "not-a-knot";  // "natural", "clamped", "periodic"
};

namespace detail {

enum class SplineEnds { not_a_knot, natural, clamped, periodic };
inline SplineEnds spline_ends(std::string_view name) {
  if (name == "not-a-knot") return SplineEnds::not_a_knot;
  if (name == "natural") return SplineEnds::natural;
  if (name == "clamped") return SplineEnds::clamped;
  if (name == "periodic") return SplineEnds::periodic;
  raise<ValueError>(
      {"CubicSpline: bc_type must be 'not-a-knot', 'natural', 'clamped' or 'periodic', not '", name, "'"});
}

// Slopes at the points, for which second derivatives are continuous. C. de Boor, A Practical Guide to Splines
// (1978), chapter IV.
template <class T>
Array<T> spline_slopes(const Array<T>& x, const Array<T>& y, SplineEnds ends) {
  const std::int64_t n = x.shape(0);
  const Array<T> h = as_column(Array<T>(rows(x, 1, n) - rows(x, 0, n - 1)), y.ndim());
  const Array<T> chord = (rows(y, 1, n) - rows(y, 0, n - 1)) / h;
  const auto h_at = [&](std::int64_t i) { return rows(h, i, i + 1); };
  const auto chord_at = [&](std::int64_t i) { return rows(chord, i, i + 1); };
  if (n == 2 && (ends == SplineEnds::not_a_knot || ends == SplineEnds::periodic))
    return joined<T>({chord, chord});
  // Rows of the points within.
  const Array<T> before = rows(h, 0, n - 2), after = rows(h, 1, n - 1);
  const Array<T> diagonal = T(2) * (before + after);
  const Array<T> right = T(3) * (after * rows(chord, 0, n - 2) + before * rows(chord, 1, n - 1));
  const Array<T> one = ones_like(h_at(0)), none = zeros_like(h_at(0));
  if (ends == SplineEnds::periodic) {
    if (n == 3) {
      const Array<T> slope =
          sum(chord / h, {.axis = 0, .keepdims = true}) / sum(T(1) / h, {.axis = 0, .keepdims = true});
      return joined<T>({slope, slope, slope});
    }
    // Slopes 0 to n - 2 in a circle: those up to n - 3 by the last one, which follows.
    const std::int64_t m = n - 2;
    const Array<T> all_lower = joined<T>({h_at(0), after}), all_upper = joined<T>({h_at(n - 2), before});
    const Array<T> all_diagonal = joined<T>({T(2) * (h_at(0) + h_at(n - 2)), diagonal});
    const Array<T> all_right =
        joined<T>({T(3) * (h_at(0) * chord_at(n - 2) + h_at(n - 2) * chord_at(0)), right});
    const Array<T> last = rows(all_right, m, m + 1);
    Array<T> coupling =
        m == 1 ? Array<T>(-all_lower(slice(0, 1)) - all_upper(slice(0, 1)))
        : m == 2
            ? joined<T>({-rows(all_lower, 0, 1), -rows(all_upper, 1, 2)})
            : joined<T>({-rows(all_lower, 0, 1), zeros_like(rows(h, 0, m - 2)), -rows(all_upper, m - 1, m)});
    const Array<T> a = rows(all_lower, 0, m), b = rows(all_diagonal, 0, m), c = rows(all_upper, 0, m);
    const Array<T> s1 = solve_tridiagonal<T>(joined<T>({none, rows(a, 1, m)}), b,
                                             joined<T>({rows(c, 0, m - 1), none}), rows(all_right, 0, m));
    const Array<T> s2 = solve_tridiagonal<T>(joined<T>({none, rows(a, 1, m)}), b,
                                             joined<T>({rows(c, 0, m - 1), none}), coupling);
    const auto at = [](const Array<T>& s, std::int64_t i) { return rows(s, i, i + 1); };
    const Array<T> lower = rows(all_lower, m, m + 1), upper = rows(all_upper, m, m + 1);
    const Array<T> end = (last - upper * at(s1, 0) - lower * at(s1, m - 1)) /
                         (rows(all_diagonal, m, m + 1) + upper * at(s2, 0) + lower * at(s2, m - 1));
    const Array<T> inner = s1 + end * s2;
    return joined<T>({inner, end, at(inner, 0)});
  }
  Array<T> first[3], final[3];  // diagonal, its neighbour, right
  switch (ends) {
    case SplineEnds::not_a_knot:
      if (n == 3) {
        first[0] = one, first[1] = one, first[2] = T(2) * chord_at(0);
        final[0] = one, final[1] = one, final[2] = T(2) * chord_at(1);
      } else {
        const Array<T> d0 = h_at(0) + h_at(1), d1 = h_at(n - 2) + h_at(n - 3);
        first[0] = h_at(1), first[1] = d0;
        first[2] = ((h_at(0) + T(2) * d0) * h_at(1) * chord_at(0) + square(h_at(0)) * chord_at(1)) / d0;
        final[0] = h_at(n - 3), final[1] = d1;
        final[2] = (square(h_at(n - 2)) * chord_at(n - 3) +
                    (T(2) * d1 + h_at(n - 2)) * h_at(n - 3) * chord_at(n - 2)) /
                   d1;
      }
      break;
    case SplineEnds::natural:
      first[0] = T(2) * one, first[1] = one, first[2] = T(3) * chord_at(0);
      final[0] = T(2) * one, final[1] = one, final[2] = T(3) * chord_at(n - 2);
      break;
    case SplineEnds::clamped:
      first[0] = final[0] = one, first[1] = final[1] = none;
      first[2] = final[2] = zeros_like(chord_at(0));
      break;
    case SplineEnds::periodic:
      break;
  }
  return solve_tridiagonal<T>(joined<T>({none, after, final[1]}), joined<T>({first[0], diagonal, final[0]}),
                              joined<T>({first[1], before, none}), joined<T>({first[2], right, final[2]}));
}

}  // namespace detail

// The cubic spline through points: x of shape (n,), ascending, y of (n, ...), of float or double. Returns a
// function of points of any shape: `curve(points)` is the value, `curve(points, {.nu = 1})` a derivative, of
// shape points.shape + y.shape[1:]; outside of x the outermost polynomials go on, or {.extrapolate = false}
// gives NaN. SciPy's CubicSpline. Differentiable in x, y and the points, goes under vmap and jit. Slopes are
// found in log2(n) steps of whole arrays. Throws ShapeError where x and y do not fit, ValueError for x that
// does not ascend, fewer than 2 points, periodic y whose ends differ, and another bc_type.
template <nax::detail::ArrayLike X, nax::detail::ArrayLike Y>
auto CubicSpline(const X& x_, const Y& y_, const CubicSplineOptions& options = {}) {
  using T = typename Y::value_type;
  const Array<T> x = nax::detail::as_array(x_), y = nax::detail::as_array(y_);
  detail::check_points("CubicSpline", x, y);
  const detail::SplineEnds ends = detail::spline_ends(options.bc_type);
  const bool periodic = ends == detail::SplineEnds::periodic;
  if (periodic && detail::is_known(y) &&
      !allclose(stop_gradient(Array<T>(y(0))), stop_gradient(Array<T>(y(-1))), {.rtol = 1e-15, .atol = 1e-15})
           .item())
    throw ValueError("CubicSpline: periodic y must end as it begins");
  return detail::Piecewise<T>("CubicSpline", x, y, detail::spline_slopes(x, y, ends), periodic);
}

}  // namespace interpolate
NAX_END
