#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/indexing/at.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/sequences/convolve.hpp"
#include "nax/numpy/sequences/differences.hpp"

// Polynomials as 1-d arrays of their coefficients, the highest power first: p[0] x^(n-1) + ... + p[n-1]. How
// long a result is depends on the lengths of the operands alone, as in JAX: leading zeros stay, unless an
// option says otherwise.
NAX_BEGIN
namespace detail {

// An operand's coefficients; a number is a polynomial, too.
template <class T, class P>
Array<T> coefficients(const char* function, const P& p_) {
  const Array<T> p = as_type<T>(p_);
  check_operand(function, p);
  if (p.ndim() == 0) return reshape_to(function, p, Shape{1});
  if (p.ndim() != 1) raise<ValueError>({function, ": the coefficients must be 1-d, shape ", p.shape()});
  return p;
}

// Zeros before p, n in all.
template <class T>
Array<T> with_leading_zeros(const char* function, const Array<T>& p, std::int64_t n) {
  if (p.size() >= n) return p;
  const Array<T> before = typed<T>(beside(p, filled_on_host<T>(function, Shape{n - p.size()}, T(0.f))));
  return concatenate_on(function, std::vector{before, p}, 0);
}

// p without its leading coefficients of at most this size, at least `least` of it. Reads the values.
template <class T>
Array<T> without_leading_zeros(const char* function, const Array<T>& p, std::int64_t least, double size = 0) {
  if (is_batched(p)) throw_batched(function, "how many zeros it leads with differs between examples");
  const std::vector<T> values = typed<T>(constant(p)).to_vector();
  const auto spared = [size](const T& x) {
    if constexpr (is_complex_v<T>)
      return std::abs(x) <= size;
    else
      return std::abs(static_cast<double>(x)) <= size;
  };
  std::int64_t begin = 0;
  while (begin < p.size() - least && spared(values[static_cast<std::size_t>(begin)])) ++begin;
  return stretch_of_axis<T>(p, 0, begin, p.size() - begin);
}

template <class X, class Y>
using polynomial_t = promote_t<typename X::value_type, typename Y::value_type>;

}  // namespace detail

// The value at x, by Horner's rule. The result has the shape of x. Throws ValueError where p is not 1-d.
template <detail::ArrayLike P, detail::ArrayLike X>
auto polyval(const P& p_, const X& x_) {
  using T = promote_t<typename P::value_type, typename X::value_type>;
  const Array<T> p = detail::as_type<T>(p_), x = detail::as_type<T>(x_);
  if (p.ndim() != 1) raise<ValueError>({"polyval: the coefficients must be 1-d, shape ", p.shape()});
  Array<T> y = zeros_like(x);
  for (std::int64_t i = 0; i < p.size(); ++i) y = y * x + p(i);
  return y;
}

// The sum; as long as the longer. Throws ValueError unless the coefficients are 1-d.
template <detail::ArrayLike P, detail::ArrayLike Q>
auto polyadd(const P& a1, const Q& a2) {
  using T = detail::polynomial_t<P, Q>;
  const Array<T> a = detail::coefficients<T>("polyadd", a1), b = detail::coefficients<T>("polyadd", a2);
  const std::int64_t n = std::max(a.size(), b.size());
  return Array<T>(detail::with_leading_zeros("polyadd", a, n) + detail::with_leading_zeros("polyadd", b, n));
}
// The difference; as long as the longer. Throws ValueError unless the coefficients are 1-d.
template <detail::ArrayLike P, detail::ArrayLike Q>
auto polysub(const P& a1, const Q& a2) {
  using T = detail::polynomial_t<P, Q>;
  const Array<T> a = detail::coefficients<T>("polysub", a1), b = detail::coefficients<T>("polysub", a2);
  const std::int64_t n = std::max(a.size(), b.size());
  return Array<T>(detail::with_leading_zeros("polysub", a, n) - detail::with_leading_zeros("polysub", b, n));
}

struct PolynomialOptions {
  bool trim_leading_zeros = false;  // as NumPy does; reads the values, so that vmap refuses it
};
// The product: n + m - 1 coefficients, shape (n + m - 1,). Throws ValueError unless the coefficients are 1-d
// and not empty.
template <detail::ArrayLike P, detail::ArrayLike Q>
auto polymul(const P& a1, const Q& a2, const PolynomialOptions& options = {}) {
  using T = detail::polynomial_t<P, Q>;
  Array<T> a = detail::coefficients<T>("polymul", a1), b = detail::coefficients<T>("polymul", a2);
  if (a.size() == 0 || b.size() == 0)
    raise<ValueError>({"polymul: the polynomials must not be empty, shapes ", a.shape(), " ", b.shape()});
  if (options.trim_leading_zeros) {
    a = detail::without_leading_zeros("polymul", a, 1);
    b = detail::without_leading_zeros("polymul", b, 1);
  }
  return Array<T>(convolve(a, b));
}

template <class T>
struct PolynomialQuotient {
  Array<T> q, r;
};
// The quotient and the remainder of u / v: u = q v + r. The remainder is as long as u and starts with zeros;
// trimmed, it starts at its first coefficient above 1e-8, as NumPy's. Integers become float. For m and n
// coefficients, m >= n, q has shape (m - n + 1,). Throws ValueError for empty ones; where v starts with 0 the
// result is infinite or NaN.
template <detail::ArrayLike P, detail::ArrayLike Q>
auto polydiv(const P& u_, const Q& v_, const PolynomialOptions& options = {}) {
  using T = inexact_t<detail::polynomial_t<P, Q>>;
  const Array<T> u = detail::coefficients<T>("polydiv", u_), v = detail::coefficients<T>("polydiv", v_);
  const std::int64_t n = u.size(), m = v.size();
  if (n == 0 || m == 0)
    raise<ValueError>({"polydiv: the polynomials must not be empty, shapes ", u.shape(), " ", v.shape()});
  const auto remainder_of = [&](const Array<T>& r) {
    constexpr double rounded = 1e-8;
    return options.trim_leading_zeros ? detail::without_leading_zeros("polydiv", r, 1, rounded) : r;
  };
  // In both cases the quotient has a coefficient.
  if (n < m) return PolynomialQuotient<T>{Array<T>(u(slice(0, 1)) * T(0.f)), remainder_of(u)};
  std::vector<Array<T>> quotient;
  Array<T> rest = u;
  for (std::int64_t k = 0; k <= n - m; ++k) {
    const Array<T> factor = rest(0) / v(0);
    quotient.push_back(factor);
    // The rest of the first m coefficients: the first of them is 0.
    Array<T> next = rest(slice(1, m)) - factor * v(slice(1, none));
    rest = detail::concatenate_on("polydiv", std::vector{next, rest(slice(m, none))}, 0);
  }
  const Array<T> r = detail::with_leading_zeros("polydiv", rest, n);
  return PolynomialQuotient<T>{detail::stack_on("polydiv", quotient, 0), remainder_of(r)};
}

struct PolyderOptions {
  std::int64_t m = 1;  // how many times over
};
// The m-th derivative. (n,) becomes (n - m,). Throws ValueError for a negative m.
template <detail::ArrayLike P>
auto polyder(const P& p_, const PolyderOptions& options = {}) {
  using T = typename P::value_type;
  const std::int64_t m = options.m;
  const Array<T> p = detail::coefficients<T>("polyder", p_);
  if (m < 0) raise<ValueError>({"polyder: the order of the derivative must not be negative, got ", m});
  const std::int64_t n = std::max<std::int64_t>(p.size() - m, 0);
  const Array<T> factors = detail::generated<T>("polyder", n, [=](std::int64_t i) {
    double product = 1;
    for (std::int64_t k = 0; k < m; ++k) product *= static_cast<double>(n - 1 - i + m - k);
    return static_cast<T>(static_cast<real_t<T>>(product));
  });
  return Array<T>(detail::stretch_of_axis<T>(p, 0, 0, n) * detail::typed<T>(detail::beside(p, factors)));
}

template <detail::ArrayLike P>
auto polyder(const P& p, std::int64_t m) {
  return polyder(p, PolyderOptions{m});
}

template <class T>
struct PolyintOptions {
  std::int64_t m = 1;  // how many times over
  std::optional<Array<T>> k =
      {};  // the constants, the one of the first integral first; one may serve for all
};
// The m-th integral. Integers become float. (n,) becomes (n + m,). Throws ValueError for a negative m and
// where there are neither one constant nor m.
template <detail::ArrayLike P>
auto polyint(const P& p_, const PolyintOptions<inexact_t<typename P::value_type>>& options = {}) {
  using T = inexact_t<typename P::value_type>;
  Array<T> p = detail::coefficients<T>("polyint", p_);
  const std::int64_t m = options.m;
  if (m < 0) raise<ValueError>({"polyint: the order of the integral must not be negative, got ", m});
  const Array<T> constants =
      options.k ? detail::coefficients<T>("polyint", *options.k)
                : detail::typed<T>(detail::beside(p, detail::filled_on_host<T>("polyint", Shape{1}, T(0.f))));
  if (constants.size() != 1 && constants.size() != m)
    raise<ValueError>({"polyint: k must be one constant or ", m, ", got ", constants.size()});
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t n = p.size();
    const Array<T> powers = detail::generated<T>(
        "polyint", n, [=](std::int64_t j) { return static_cast<T>(static_cast<real_t<T>>(n - j)); });
    const Array<T> integral = p / detail::typed<T>(detail::beside(p, powers));
    const Array<T> constant = detail::stretch_of_axis<T>(constants, 0, constants.size() == 1 ? 0 : i, 1);
    p = detail::concatenate_on("polyint", std::vector{integral, constant}, 0);
  }
  return p;
}
template <detail::ArrayLike P>
auto polyint(const P& p, std::int64_t m) {
  return polyint(p, PolyintOptions<inexact_t<typename P::value_type>>{.m = m});
}

namespace detail {

// The coefficients of det(x I - a), by the method of Faddeev and LeVerrier: products and traces alone, so
// that all transforms go through it. It loses digits with the size of the matrix: fine below some 15 rows.
template <class T>
Array<T> characteristic_polynomial(const Array<T>& a) {
  const std::int64_t n = a.shape(0);
  const Array<T> one = eye<T>(n);
  std::vector<Array<T>> c{Array<T>(T(1.f))};
  Array<T> power = a;
  for (std::int64_t k = 1; k <= n; ++k) {
    const Array<T> trace = sum(power * one);
    c.push_back(Array<T>(trace * T(static_cast<real_t<T>>(-1.0 / static_cast<double>(k)))));
    if (k < n) power = matmul(a, Array<T>(power + c.back() * one));
  }
  return stack_on("poly", c, 0);
}

}  // namespace detail

// The polynomial with these roots and the leading coefficient 1; of a square matrix its characteristic
// polynomial. Integers become float. n roots give shape (n + 1,). Throws ValueError for other shapes.
template <detail::ArrayLike X>
auto poly(const X& seq_of_zeros) {
  using T = inexact_t<typename X::value_type>;
  Array<T> z = detail::as_type<T>(seq_of_zeros);
  detail::check_operand("poly", z);
  if (z.ndim() == 2 && z.shape(0) == z.shape(1) && z.shape(0) != 0)
    return detail::characteristic_polynomial(z);
  if (z.ndim() == 0) z = detail::reshape_to("poly", z, Shape{1});
  if (z.ndim() != 1) raise<ValueError>({"poly: input must be 1-d or a square matrix, shape ", z.shape()});
  Array<T> c = detail::typed<T>(detail::beside(z, detail::filled_on_host<T>("poly", Shape{1}, T(1.f))));
  const Array<T> zero =
      detail::typed<T>(detail::beside(z, detail::filled_on_host<T>("poly", Shape{1}, T(0.f))));
  for (std::int64_t i = 0; i < z.size(); ++i)
    c = detail::concatenate_on("poly", std::vector{c, zero}, 0) -
        z(i) * detail::concatenate_on("poly", std::vector{zero, c}, 0);
  return c;
}

struct VanderOptions {
  std::optional<std::int64_t> N = {};  // columns; as many as x has elements when not given
  bool increasing = false;
};
// The powers of x as columns: x^(N-1) ... 1, or 1 ... x^(N-1). x of shape (n,) gives (n, N). Throws
// ValueError where x is not 1-d or N negative.
template <detail::ArrayLike X>
auto vander(const X& x_, const VanderOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::as_type<T>(x_);
  detail::check_operand("vander", x);
  if (x.ndim() != 1) raise<ValueError>({"vander: x must be 1-d, shape ", x.shape()});
  const std::int64_t n = options.N.value_or(x.size());
  if (n < 0) raise<ValueError>({"vander: N must not be negative, got ", n});
  if (n == 0)
    return detail::typed<T>(
        detail::beside(x, detail::filled_on_host<T>("vander", Shape{x.size(), 0}, T(0.f))));
  std::vector<Array<T>> columns{Array<T>(ones_like(x))};
  while (static_cast<std::int64_t>(columns.size()) < n) columns.push_back(columns.back() * x);
  if (!options.increasing) std::reverse(columns.begin(), columns.end());
  return detail::stack_on("vander", columns, 1);
}

NAX_END
