#pragma once

#include <limits>

#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/polynomials/polynomial.hpp"
#include "nax/numpy/reductions/sum.hpp"

// Polynomials through points, by least squares. The powers of x are made orthogonal one after the other
// (twice each, which is enough for full precision: Giraud and others, 2005), and the system that is left is
// triangular. All of it is made of sums and products, so that every transform goes through it.
NAX_BEGIN

template <class T>
struct PolyfitOptions {
  // A power that differs from a sum of lower ones by less than this share of its size gets the coefficient 0.
  // The number of points times the type's unit when not given.
  std::optional<double> rcond = {};
  std::optional<Array<T>> w = {};  // a factor for the distance at each point
};
template <class T>
struct PolyfitCovOptions {
  std::optional<double> rcond = {};
  std::optional<Array<T>> w = {};
  bool unscaled = false;  // are the weights 1 / sigma of reliable deviations?
};
template <class T>
struct PolyfitCov {
  Array<T> p, V;
};

namespace detail {

// Orthonormal columns times a triangle; columns that depend on those before them are 0.
template <class T>
struct OrthogonalPowers {
  std::vector<Array<T>> columns;                // (points, 1)
  std::vector<std::vector<Array<T>>> triangle;  // triangle[j][i], i <= j, 0-d
  std::vector<Array<bool>> depends;             // 0-d
};

template <class T>
Array<T> inner_product(const Array<T>& column, const Array<T>& y) {
  return sum(column * y, {.axis = 0});
}

template <class T>
OrthogonalPowers<T> orthogonal_powers(const Array<T>& x, const std::optional<Array<T>>& w, std::int64_t count,
                                      double rcond) {
  OrthogonalPowers<T> result;
  const Array<T> points = expand_dims(x, 1);
  Array<T> power = w ? Array<T>(expand_dims(*w, 1)) : Array<T>(ones_like(points));
  for (std::int64_t j = 0; j < count; ++j) {
    Array<T> q = power;
    std::vector<Array<T>> row;
    for (const Array<T>& before : result.columns) {
      row.push_back(sum(before * q));
      q = q - row.back() * before;
    }
    for (std::size_t i = 0; i < result.columns.size(); ++i) {
      const Array<T> more = sum(result.columns[i] * q);
      row[i] = row[i] + more;
      q = q - more * result.columns[i];
    }
    const Array<T> squares = sum(q * q), bound = sum(power * power) * static_cast<T>(rcond * rcond);
    const Array<bool> depends = squares <= bound;
    const Array<T> size = sqrt(Array<T>(where(depends, static_cast<T>(1), squares)));
    q = where(depends, static_cast<T>(0), q / size);
    row.push_back(size);
    result.columns.push_back(q);
    result.triangle.push_back(std::move(row));
    result.depends.push_back(depends);
    power = power * points;
  }
  return result;
}

// The rows of the solution of R z = b, b by rows of one shape.
template <class T>
std::vector<Array<T>> solve_triangle(const OrthogonalPowers<T>& of, std::vector<Array<T>> b) {
  for (std::size_t j = b.size(); j-- > 0;) {
    b[j] = where(of.depends[j], static_cast<T>(0), b[j] / of.triangle[j][j]);
    for (std::size_t i = 0; i < j; ++i) b[i] = b[i] - of.triangle[j][i] * b[j];
  }
  return b;
}

template <class T>
struct Polyfit {
  Array<T> p, rest;  // the coefficients; what is left of y, in columns
  OrthogonalPowers<T> powers;
};

template <class T, class Options>
Polyfit<T> fit(const char* function, const Array<T>& x, const Array<T>& y, std::int64_t deg,
               const Options& options) {
  static_assert(!is_complex_v<T>, "polyfit: complex numbers are not supported");
  check_operand(function, x);
  check_operand(function, y);
  if (deg < 0) raise<ValueError>({function, ": expected deg >= 0, got ", deg});
  if (x.ndim() != 1 || x.size() == 0)
    raise<TypeError>({function, ": x must be 1-d and not empty, shape ", x.shape()});
  if (y.ndim() < 1 || y.ndim() > 2) raise<TypeError>({function, ": y must be 1-d or 2-d, shape ", y.shape()});
  if (y.shape(0) != x.size())
    raise<TypeError>({function, ": x and y must have the same length: ", x.shape(), " and ", y.shape()});
  if (options.w && !(options.w->shape() == x.shape()))
    raise<TypeError>(
        {function, ": w must be 1-d and as long as x: ", options.w->shape(), " and ", x.shape()});
  const double rcond = options.rcond.value_or(static_cast<double>(x.size()) *
                                              static_cast<double>(std::numeric_limits<T>::epsilon()));
  OrthogonalPowers<T> powers = orthogonal_powers(x, options.w, deg + 1, rcond);
  Array<T> rest = y.ndim() == 1 ? Array<T>(expand_dims(y, 1)) : y;
  if (options.w) rest = rest * expand_dims(*options.w, 1);
  std::vector<Array<T>> b;
  for (const Array<T>& q : powers.columns) {
    b.push_back(inner_product(q, rest));
    rest = rest - q * b.back();
  }
  std::vector<Array<T>> rows = solve_triangle(powers, b);
  std::reverse(rows.begin(), rows.end());
  const Array<T> p = stack_on(function, rows, 0);
  return {y.ndim() == 1 ? reshape_to(function, p, Shape{p.shape(0)}) : p, rest, std::move(powers)};
}

template <class X, class Y>
using polyfit_t = std::conditional_t<
    std::is_same_v<inexact_t<promote_t<typename X::value_type, typename Y::value_type>>, double>, double,
    float>;

}  // namespace detail

// The coefficients p, the highest power first, for which sum((w (y - polyval(p, x)))^2) is smallest. y is
// 1-d, or 2-d with a polynomial for each column, and so is p. Half types become float. Where the points do
// not determine all coefficients, those of the powers that could be spared are 0 (NumPy takes the smallest
// p). p has shape (deg + 1,), or (deg + 1, k) for k columns. Throws ValueError for a negative degree,
// TypeError for shapes that do not fit.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto polyfit(const X& x, const Y& y, std::int64_t deg,
             const PolyfitOptions<detail::polyfit_t<X, Y>>& options = {}) {
  using T = detail::polyfit_t<X, Y>;
  return detail::fit<T>("polyfit", detail::as_type<T>(x), detail::as_type<T>(y), deg, options).p;
}

// polyfit, and the covariances of the coefficients: {p, V}, V of shape (deg + 1, deg + 1), and with a 2-d y a
// last axis for its columns. They are scaled by the mean square of what is left of y, which takes more points
// than coefficients (ValueError), unless .unscaled. This is NumPy's polyfit with cov.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto polyfit_cov(const X& x, const Y& y, std::int64_t deg,
                 const PolyfitCovOptions<detail::polyfit_t<X, Y>>& options = {}) {
  using T = detail::polyfit_t<X, Y>;
  const Array<T> points = detail::as_type<T>(x);
  const auto found = detail::fit<T>("polyfit_cov", points, detail::as_type<T>(y), deg, options);
  const std::int64_t n = points.size(), order = deg + 1;
  if (!options.unscaled && n <= order)
    raise<ValueError>(
        {"polyfit_cov: the number of data points must exceed order to scale the covariance matrix: ", n,
         " points, order ", order});
  std::vector<Array<T>> one;
  const Array<T> identity = eye<T>(order);
  for (std::int64_t i = 0; i < order; ++i) one.push_back(identity(i));
  auto rows = detail::solve_triangle(found.powers, one);
  std::reverse(rows.begin(), rows.end());
  const Array<T> inverse = detail::stack_on("polyfit_cov", rows, 0);
  Array<T> V = matmul(inverse, matrix_transpose(inverse));
  if (!options.unscaled) {
    const Array<T> scale = sum(found.rest * found.rest, {.axis = 0}) / static_cast<T>(n - order);
    V = found.p.ndim() == 1 ? Array<T>(V * scale) : Array<T>(expand_dims(V, 2) * scale);
  }
  return PolyfitCov<T>{found.p, V};
}

NAX_END
