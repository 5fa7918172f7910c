#pragma once

#include "nax/rules/scalar/powers.hpp"
#include "nax/rules/special_math.hpp"

NAX_BEGIN
namespace rules::scalar {

// The formula of Euler and Maclaurin, on series in s where derivatives by it are asked for.
template <class Double>
NAX_SCALAR Double zeta(Double order, Double s, Double q) {
  if (s != s || q != q || !(order >= 0 && order < series_terms)) return order < 0 ? 0 : not_a_number;
  if (s < 1 || (q <= 0 && s != std::floor(s) && q != std::floor(q)) || q < -10000) return not_a_number;
  if (s == 1 || (q <= 0 && q == std::floor(q))) return infinity;
  if (q < 0 && order > 0) return not_a_number;
  if (q == infinity || s == infinity) return s == infinity && q == 1 && order == 0 ? 1 : 0;
  const int derivative = static_cast<int>(order);
  const Double most = 12 + s;
  const Series at = Series::variable(s);
  Series sum;
  Double plain = 0;
  for (int k = 0; q < most; q += 1, ++k) {
    if (derivative == 0) {
      const Double term = std::pow(q, -s);
      plain += term;
      if (q > 0 && term <= rounding * plain * 1e-3) return plain;
      continue;
    }
    const Double l = -std::log(q);
    Double term = std::pow(q, -s);
    if (k > 1 && term <= 1e-40 * sum.c[0]) return sum.derivative(derivative);
    for (int i = 0; i < series_terms; ++i) {
      sum.c[i] += term;
      term *= l / (i + 1);
    }
  }
  if (derivative == 0) return math::with_zeta_tail(plain, s, q, Double(std::pow(q, -s)));
  Series power(0), exponent(-s * std::log(q));
  exponent.c[1] = -std::log(q);
  power = exp_series(exponent);
  sum = sum + power * (Series(q) / (at - Series(1)) + Series(0.5));
  Series factor = at * power * Series(0.5 / q);
  for (int k = 0; k < 8; ++k) {
    sum = sum + Series(math::bernoulli_number(k)) * factor;
    const Series j = at + Series(2 * k + 1);
    factor = factor * j * (j + Series(1)) * Series(1 / ((2 * k + 3) * (2 * k + 4) * q * q));
  }
  return sum.derivative(derivative);
}

}  // namespace rules::scalar
NAX_END
