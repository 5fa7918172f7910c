#pragma once

#include "nax/rules/scalar/powers.hpp"
#include "nax/rules/special_math.hpp"

NAX_BEGIN
namespace rules::scalar {

// The formula of Euler and Maclaurin, on series in s where derivatives by it are asked for. Of q = 1 it
// holds for s >= -1/2.
template <class Double>
NAX_SCALAR Double sum_zeta(Double order, Double s, Double q) {
  if (s != s || q != q || !(order >= 0 && order < series_terms)) return order < 0 ? 0 : not_a_number;
  if (s < -0.5 || (s < 1 && q != 1) || (q <= 0 && s != std::floor(s) && q != std::floor(q)) || q < -10000)
    return not_a_number;
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

// sin(pi x / 2), whose zeros are exact, for x <= 0.
template <class Double>
NAX_SCALAR Double sine_of_quarters(Double x) {
  const Double r = std::fmod(x, Double(4)), half_pi = 1.57079632679489661923;
  if (r < -3) return std::sin(half_pi * (r + 4));
  return r < -1 ? -std::sin(half_pi * (r + 2)) : std::sin(half_pi * r);
}

// Riemann's function below -1/2 and its first derivative, by the functional equation: nearer to 0, 1 - s has
// lost digits that its pole needs.
template <class Double>
NAX_SCALAR Double reflected_zeta(Double order, Double s) {
  if (order > 1 || s == -infinity) return not_a_number;
  const Double log_2_pi = 1.83787706640934548356, half_pi = 1.57079632679489661923;
  const Double factor = s > -160 ? 2 * std::pow(4 * half_pi, s - 1) * std::tgamma(1 - s)
                                 : 2 * std::exp((s - 1) * log_2_pi + math::lgamma(1 - s));
  const Double sine = sine_of_quarters(s), at = sum_zeta<Double>(0, 1 - s, 1);
  if (order == 0) return sine == 0 ? 0 : factor * sine * at;
  const Double cosine = -sine_of_quarters(s - 1);
  return factor * ((log_2_pi - math::digamma(1 - s)) * sine * at + half_pi * cosine * at -
                   sine * sum_zeta<Double>(1, 1 - s, 1));
}

template <class Double>
NAX_SCALAR Double zeta(Double order, Double s, Double q) {
  return s < -0.5 && q == 1 && order >= 0 ? reflected_zeta(order, s) : sum_zeta(order, s, q);
}

}  // namespace rules::scalar
NAX_END
