#pragma once

#include "nax/rules/scalar/gamma.hpp"

// The beta function's relatives.
NAX_BEGIN
namespace rules::scalar {

// x^a (1 - x)^b / B(a, b) for positive a and b
template <class Double>
NAX_SCALAR Double beta_front(Double a, Double b, Double x, Double y) {
  const Double n = a + b;
  return std::exp(stirling_rest(n) - stirling_rest(a) - stirling_rest(b) - deviance(a, n * x) -
                  deviance(b, n * y)) *
         std::sqrt(a / n * b / 6.28318530717958647693);
}
template <class Double>
NAX_SCALAR Double betaln(Double a, Double b) {
  if (a != a || b != b) return not_a_number;
  if (!(a > 0 && b > 0)) return math::lgamma(a) + math::lgamma(b) - math::lgamma(a + b);
  if (a > b) return betaln(b, a);
  if (b == infinity) return -infinity;
  const Double n = a + b;  // a <= b
  return a * std::log(a / n) + b * std::log1p(-a / n) - 0.5 * std::log(a / n * b / 6.28318530717958647693) -
         stirling_rest(n) + stirling_rest(a) + stirling_rest(b);
}
template <class Double>
NAX_SCALAR Double beta(Double a, Double b) {
  if (a > 0 && b > 0) {
    if (a + b < 20) return std::tgamma(a) * (std::tgamma(b) / std::tgamma(a + b));
    return std::exp(betaln(a, b));
  }
  return gammasgn(a) * gammasgn(b) * gammasgn(a + b) * std::exp(betaln(a, b));
}

// Continued fraction of the incomplete beta function, by Lentz' way.
template <class Double>
NAX_SCALAR Double beta_fraction(Double a, Double b, Double x) {
  constexpr double tiny = 1e-290;
  const Double sum = a + b;
  Double c = 1, d = 1 - sum * x / (a + 1);
  if (std::abs(d) < tiny) d = tiny;
  d = 1 / d;
  Double h = d;
  for (Double m = 1; m < 1e5; m += 1) {
    Double step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    for (int half = 0; half < 2; ++half) {
      d = 1 + step * d;
      if (std::abs(d) < tiny) d = tiny;
      c = 1 + step / c;
      if (std::abs(c) < tiny) c = tiny;
      d = 1 / d;
      h *= d * c;
      step = -(a + m) * (sum + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    }
    if (std::abs(d * c - 1) < 2 * rounding || h != h) break;
  }
  return h;
}
template <class Double>
NAX_SCALAR Double betainc(Double a, Double b, Double x) {
  if (!(a >= 0) || !(b >= 0) || !(x >= 0) || !(x <= 1)) return not_a_number;
  if ((a == 0 && b == 0) || (a == infinity && b == infinity)) return not_a_number;
  if (a == 0 || b == infinity) return a == 0 || x > 0 ? 1 : 0;
  if (b == 0 || a == infinity) return b == 0 || x < 1 ? 0 : 1;
  if (x == 0 || x == 1) return x;
  const Double y = 1 - x, front = beta_front(a, b, x, y);
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, y) / b;
}
template <class Double>
NAX_SCALAR Double beta_density(Double a, Double b, Double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1) || a == infinity || b == infinity) return not_a_number;
  if (x == 0) return a < 1 ? infinity : a == 1 ? b : 0;
  if (x == 1) return b < 1 ? infinity : b == 1 ? a : 0;
  return beta_front(a, b, x, 1 - x) / (x * (1 - x));
}

// n choose k; 0 where n < k or either is negative
template <class Double>
NAX_SCALAR Double comb(Double n, Double k) {
  if (n != n || k != k) return not_a_number;
  if (n < 0 || k < 0 || k > n) return 0;
  if (n == std::floor(n) && k == std::floor(k) && 2 * k > n) k = n - k;
  if (k == std::floor(k) && k <= 300) {
    Double product = 1;
    for (Double i = 1; i <= k; i += 1) product *= (n - k + i) / i;
    return n == std::floor(n) && product < 1e15 ? std::rint(product) : product;
  }
  return std::exp(-std::log1p(n) - betaln(n - k + 1, k + 1));
}

}  // namespace rules::scalar
NAX_END
