#pragma once

#include "nax/modules/interpolate/piecewise.hpp"

NAX_BEGIN
namespace interpolate {
namespace detail {

// F. N. Fritsch, J. Butland, A method for constructing local monotone piecewise cubic interpolants (1984);
// at the ends three points, kept monotone as in C. Moler, Numerical Computing with MATLAB (2004), 3.6.
template <class T>
Array<T> pchip_slopes(const Array<T>& x, const Array<T>& y) {
  const std::int64_t n = x.shape(0);
  const Array<T> h = as_column(Array<T>(rows(x, 1, n) - rows(x, 0, n - 1)), y.ndim());
  const Array<T> chord = (rows(y, 1, n) - rows(y, 0, n - 1)) / h;
  if (n == 2) return joined<T>({chord, chord});
  const Array<T> h0 = rows(h, 0, n - 2), h1 = rows(h, 1, n - 1);
  const Array<T> m0 = rows(chord, 0, n - 2), m1 = rows(chord, 1, n - 1);
  const Array<bool> turns = (m0 == T(0)) | (sign(m0) != sign(m1));
  const Array<T> w0 = T(2) * h1 + h0, w1 = h1 + T(2) * h0;
  // (Where it turns, other numbers keep derivatives finite.)
  const Array<T> safe0 = where(turns, T(1), m0), safe1 = where(turns, T(1), m1);
  const Array<T> within = where(turns, T(0), (w0 + w1) / (w0 / safe0 + w1 / safe1));
  const auto end = [&](std::int64_t at, std::int64_t next) {
    const Array<T> ha = rows(h, at, at + 1), hb = rows(h, next, next + 1);
    const Array<T> ma = rows(chord, at, at + 1), mb = rows(chord, next, next + 1);
    const Array<T> slope = ((T(2) * ha + hb) * ma - ha * mb) / (ha + hb);
    const Array<bool> wrong = sign(slope) != sign(ma);
    const Array<bool> steep = (sign(ma) != sign(mb)) & (abs(slope) > T(3) * abs(ma));
    return Array<T>(where(wrong, T(0), where(steep, T(3) * ma, slope)));
  };
  return joined<T>({end(0, 1), within, end(n - 2, n - 3)});
}

}  // namespace detail

// The monotone cubic interpolant through points, which has no extremum between them: x of shape (n,),
// ascending, y of (n, ...), of float or double. Returns a function as CubicSpline does, whose results have
// shape points.shape + y.shape[1:]. SciPy's PchipInterpolator. Differentiable in x, y and the points, goes
// under vmap and jit. Throws ShapeError where x and y do not fit, ValueError for x that does not ascend and
// fewer than 2 points.
template <nax::detail::ArrayLike X, nax::detail::ArrayLike Y>
auto PchipInterpolator(const X& x_, const Y& y_) {
  using T = typename Y::value_type;
  const Array<T> x = nax::detail::as_array(x_), y = nax::detail::as_array(y_);
  detail::check_points("PchipInterpolator", x, y);
  return detail::Piecewise<T>("PchipInterpolator", x, y, detail::pchip_slopes(x, y), false);
}

}  // namespace interpolate
NAX_END
