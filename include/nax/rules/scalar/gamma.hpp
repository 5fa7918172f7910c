#pragma once

#include "nax/rules/scalar/powers.hpp"

// The gamma function's relatives. Powers over gamma functions are computed as C. Loader does ("Fast and
// accurate computation of binomial probabilities", 2000): what Stirling's formula leaves, and deviances,
// which are small where the large terms cancel.
NAX_BEGIN
namespace rules::scalar {

// lgamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2), z > 0.
template <class Double>
NAX_SCALAR Double stirling_rest(Double z) {
  Double rest = 0;
  for (; z < 16; z += 1) rest += (z + 0.5) * std::log1p(1 / z) - 1;
  const Double w = 1 / (z * z);
  return rest + (1. / 12 -
                 w * (1. / 360 -
                      w * (1. / 1260 - w * (1. / 1680 - w * (1. / 1188 - w * (691. / 360360 - w / 156)))))) /
                    z;
}
// x log(x / m) + m - x
template <class Double>
NAX_SCALAR Double deviance(Double x, Double m) {
  if (x == 0) return m;
  if (std::abs(x - m) >= 0.1 * (x + m)) return x * std::log(x / m) + m - x;
  const Double v = (x - m) / (x + m), square = v * v;
  Double sum = (x - m) * v, term = 2 * x * v;
  for (int j = 1; j < 100; ++j) {
    term *= square;
    const Double next = sum + term / (2 * j + 1);
    if (next == sum) break;
    sum = next;
  }
  return sum;
}
// x^a e^-x / Gamma(a + 1)
template <class Double>
NAX_SCALAR Double poisson_density(Double a, Double x) {
  if (a == 0) return std::exp(-x);
  if (x == 0) return 0;
  return std::exp(-stirling_rest(a) - deviance(a, x)) / std::sqrt(6.28318530717958647693 * a);
}

template <class Double>
NAX_SCALAR Double gamma_series(Double a, Double x) {  // P, for x < a + 1
  Double sum = 1, term = 1;
  for (Double n = 1; n < 1e5; n += 1) {
    term *= x / (a + n);
    sum += term;
    if (term < rounding * sum) break;
  }
  return poisson_density(a, x) * sum;
}
template <class Double>
NAX_SCALAR Double gamma_fraction(Double a, Double x) {  // Q, for x >= a + 1, by Lentz' way
  constexpr double tiny = 1e-290;
  Double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (Double i = 1; i < 1e5; i += 1) {
    const Double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    if (std::abs(d) < tiny) d = tiny;
    c = b + an / c;
    if (std::abs(c) < tiny) c = tiny;
    d = 1 / d;
    h *= d * c;
    if (std::abs(d * c - 1) < 2 * rounding) break;
  }
  return poisson_density(a, x) * a * h;
}
// log Gamma(1 + a) for 0 <= a < 1, to the last digits of small a
template <class Double>
NAX_SCALAR Double log_gamma_above_one(Double a) {
  if (a > 0.01) return math::lgamma(1 + a);
  constexpr double zeta[] = {1.6449340668482264365, 1.2020569031595942854, 1.0823232337111381915,
                             1.0369277551433699263, 1.0173430619844491397, 1.0083492773819228268,
                             1.0040773561979443394};
  Double sum = -euler_gamma * a, power = -a;
  for (int k = 2; k < 9; ++k) {
    power *= -a;
    sum += zeta[k - 2] * power / k;
  }
  return sum;
}

// Both for large a, where the others take too many terms, by N. Temme's expansion ("The asymptotic expansion
// of the incomplete gamma functions", 1979), whose coefficients are series around x = a: elsewhere it is 0
// or 1.
inline constexpr double large_gamma = 1e7;
template <class Double>
NAX_SCALAR Double gamma_large(Double a, Double x, bool upper) {
  const Double t = deviance(a, x);
  if (!(t < 800)) return (x > a) == upper ? 0 : 1;
  const Double root = x > a ? std::sqrt(t) : -std::sqrt(t), eta = root * std::sqrt(2 / a);
  const Double c0 = -1. / 3 + eta * (1. / 12 - eta * (2. / 135 - eta * (1. / 864 + eta / 2835)));
  const Double c1 = -1. / 540 - eta / 288;
  const Double rest = std::exp(-t) / std::sqrt(6.28318530717958647693 * a) * (c0 + c1 / a);
  return upper ? 0.5 * std::erfc(root) + rest : 0.5 * std::erfc(-root) - rest;
}

template <class Double>
NAX_SCALAR Double gamma_p(Double a, Double x) {
  if (!(a >= 0) || !(x >= 0)) return not_a_number;
  if (a == 0) return x > 0 ? 1 : not_a_number;
  if (x == 0) return 0;
  if (a == infinity) return x == infinity ? not_a_number : 0;
  if (x == infinity) return 1;
  if (a > large_gamma) return gamma_large(a, x, false);
  return x < a + 1 ? gamma_series(a, x) : 1 - gamma_fraction(a, x);
}
template <class Double>
NAX_SCALAR Double gamma_q(Double a, Double x) {
  if (!(a >= 0) || !(x >= 0)) return not_a_number;
  if (a == 0) return x > 0 ? 0 : not_a_number;
  if (x == 0) return 1;
  if (a == infinity) return x == infinity ? not_a_number : 1;
  if (x == infinity) return 0;
  if (a > large_gamma) return gamma_large(a, x, true);
  if (x >= a + 1) return gamma_fraction(a, x);
  if (a >= 1 || x >= 1.5) return 1 - gamma_series(a, x);
  // 1 - x^a / Gamma(a + 1) (1 + a sum (-x)^n / ((a + n) n!)), without taking the small from the large
  Double term = 1, sum = 0;
  for (int n = 1; n < 60; ++n) {
    term *= -x / n;
    sum += term / (a + n);
  }
  const Double power = a * std::log(x) - log_gamma_above_one(a);
  return -std::expm1(power) - std::exp(power) * a * sum;
}

// x^a e^-x / Gamma(a + shift) as a series in a.
template <class Double>
NAX_SCALAR Series density_series(Double a, Double x, int shift) {
  Series logarithm(a * std::log(x) - x - math::lgamma(a + shift));
  double factorial = 1;
  for (int k = 1; k < series_terms; ++k) {
    factorial *= k;
    logarithm.c[k] = (k == 1 ? std::log(x) : 0.0) - math::polygamma<double>(k - 1, a + shift) / factorial;
  }
  Series s = exp_series(logarithm);
  const double exact = shift == 1 ? poisson_density(a, x) : poisson_density(a, x) * a;
  for (int i = series_terms; i-- > 0;) s.c[i] *= s.c[0] == 0 ? 0 : exact / s.c[0];
  return s;
}
template <class Double>
NAX_SCALAR Double gamma_p_derivative(int order, Double a, Double x) {
  if (!(a > 0) || !(x >= 0) || a > large_gamma) return not_a_number;
  if (x == 0 || x == infinity) return 0;
  const Series at = Series::variable(a);
  if (x < a + 1) {
    Series sum(1), term(1);
    for (double n = 1; n < 1e5; n += 1) {
      term = term * (Series(x) / (at + Series(n)));
      sum = sum + term;
      if (term.small_beside(sum)) break;
    }
    return (density_series(a, x, 1) * sum).derivative(order);
  }
  Series b = Series(x + 1) - at, c(1e290), d = Series(1) / b, h = d;
  for (double i = 1; i < 1e5; i += 1) {
    const Series an = Series(-i) * (Series(i) - at);
    b = b + Series(2);
    d = Series(1) / (an * d + b);
    c = b + an / c;
    const Series factor = d * c;
    h = h * factor;
    if ((factor - Series(1)).small_beside(Series(8))) break;
  }
  return -(density_series(a, x, 0) * h).derivative(order);
}

template <class Double>
NAX_SCALAR Double gammainc(Double order, Double a, Double x) {
  if (order == 0) return gamma_p(a, x);
  if (!(order > 0 && order < series_terms)) return not_a_number;
  return gamma_p_derivative(static_cast<int>(order), a, x);
}
template <class Double>
NAX_SCALAR Double gammaincc(Double order, Double a, Double x) {
  return order == 0 ? gamma_q(a, x) : -gammainc(order, a, x);
}
template <class Double>
NAX_SCALAR Double gamma_density(Double order, Double a, Double x) {
  if (order < 0) return 0;
  if (!(a > 0) || !(x >= 0) || order >= series_terms) return not_a_number;
  if (x == infinity) return 0;
  if (order > 0) return x == 0 ? Double(0) : density_series(a, x, 0).derivative(static_cast<int>(order)) / x;
  if (x == 0) return a < 1 ? infinity : a == 1 ? 1 : 0;
  return poisson_density(a, x) * (a / x);
}

template <class Double>
NAX_SCALAR Double gammasgn(Double x) {
  if (x != x) return x;
  if (x == 0) return std::signbit(x) ? -1 : 1;
  if (x > 0) return 1;
  if (x == std::floor(x)) return not_a_number;
  return std::fmod(std::floor(x), 2) == 0 ? 1 : -1;
}

// Gamma(z + m) / Gamma(z)
template <class Double>
NAX_SCALAR Double poch(Double z, Double m) {
  if (z != z || m != m) return not_a_number;
  if (m == 0) return 1;
  if (m == std::floor(m) && std::abs(m) <= 64) {
    Double product = 1;
    for (Double k = 0; k < m; k += 1) product *= z + k;
    for (Double k = -1; k >= m; k -= 1) product /= z + k;
    return product;
  }
  const Double w = z + m;
  if (z > 0 && w > 0)
    return std::exp(stirling_rest(w) - stirling_rest(z) + (z - 0.5) * std::log1p(m / z) + m * std::log(w) -
                    m);
  if (w <= 0 && w == std::floor(w)) return z <= 0 && z == std::floor(z) ? not_a_number : infinity;
  if (z <= 0 && z == std::floor(z)) return 0;
  return gammasgn(w) * gammasgn(z) * std::exp(math::lgamma(w) - math::lgamma(z));
}

}  // namespace rules::scalar
NAX_END
