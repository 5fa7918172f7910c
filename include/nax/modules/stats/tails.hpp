#pragma once

#include "nax/modules/stats/parameter.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/special/gamma.hpp"
#include "nax/special/special.hpp"

// Logarithms of tails: they neither round a probability to 1 first nor lose it below the least number.
NAX_BEGIN
namespace detail {

// log(1 - e^-z) for z >= 0.
template <class R>
Array<R> log_of_rest(const Array<R>& z) {
  return where(z > 0.69314718055994530942, log1p(-exp(-z)), log(-expm1(-z)));
}
// log(1 - e^-z) of z = e^w.
template <class R>
Array<R> log_of_rest_at_exp(const Array<R>& w) {
  return where(w < -36, w - 0.5 * exp(w), log_of_rest<R>(exp(w)));
}
// 1 - e^-z of z = e^w, which is 1 for w from 8 on.
template <class R>
Array<R> rest_at_exp(const Array<R>& w) {
  return -expm1(-exp(minimum(w, 8)));
}
// a log(z) and b log(1 - z), for which 0 log(0) is 0 and does not change with z.
template <class R>
Array<R> log_of_power(const Array<R>& a, const Array<R>& z) {
  return special::xlogy(a, where((a == 0) & (z == 0), 0, z));
}
template <class R>
Array<R> log_of_rest_power(const Array<R>& b, const Array<R>& z) {
  return special::xlog1py(b, -where((b == 0) & (z == 1), 1, z));
}
// log(p) by p and 1 - p, whichever is smaller.
template <class R>
Array<R> log_by_smaller(const Array<R>& p, const Array<R>& rest) {
  return where(p > 0.5, log1p(-rest), log(p));
}
// log(1 + y^2)
template <class R>
Array<R> log1p_of_square(const Array<R>& y_) {
  const Array<R> y = abs(y_), inside = where(y > 1, 1 / y, y);
  const Array<R> part = log1p(inside * inside);
  return where(y > 1, part + 2 * log(y), part);
}
// Probabilities below this are computed as logarithms.
template <class R>
inline constexpr R least_probability = std::numeric_limits<R>::min() * 64;
inline constexpr int tail_terms = 24;

// log P(a, x) and log Q(a, x), the regularised incomplete gamma functions, for x >= 0. P far below by the
// series x^a e^-x / Gamma(a + 1) (1 + x / (a + 1) (1 + x / (a + 2) (...))), Q by Legendre's continued
// fraction.
template <class R>
Array<R> log_gammainc(const Array<R>& a, const Array<R>& x) {
  const Array<R> p = special::gammainc(a, x), rest = special::gammaincc(a, x);
  Array<R> series = 1 + 0 * (x + a);
  for (int n = tail_terms; n > 0; --n) series = 1 + x / (a + n) * series;
  const Array<R> tail = special::xlogy(a, x) - x - special::gammaln(a + 1) + log(series);
  return where(p < least_probability<R>, tail, log_by_smaller(p, rest));
}
template <class R>
Array<R> log_gammaincc(const Array<R>& a, const Array<R>& x_) {
  const Array<R> p = special::gammaincc(a, x_), rest = special::gammainc(a, x_);
  const Array<R> x = where(isfinite(x_), x_, 1);
  Array<R> fraction = x + (2 * tail_terms + 1) - a;
  for (int n = tail_terms; n > 0; --n) fraction = x + (2 * n - 1) - a - n * (n - a) / fraction;
  const Array<R> tail = special::xlogy(a, x) - x - special::gammaln(a) - log(fraction);
  const Array<R> below = where(isfinite(x_), tail, log(p));
  return where(p < least_probability<R>, below, log_by_smaller(p, rest));
}
// The logarithm of the regularised incomplete beta function I_x(a, b), by it and I_(1 - x)(b, a).
template <class R>
Array<R> log_betainc(const Array<R>& a, const Array<R>& b, const Array<R>& x, const Array<R>& p,
                     const Array<R>& rest) {
  Array<R> series = 1 + 0 * (x + a);
  for (int n = tail_terms; n > 0; --n) series = 1 + x * (a + b + (n - 1)) / (a + n) * series;
  const Array<R> tail =
      special::xlogy(a, x) + special::xlog1py(b, -x) - log(a) - special::betaln(a, b) + log(series);
  return where(p < least_probability<R>, tail, log_by_smaller(p, rest));
}

}  // namespace detail
NAX_END
