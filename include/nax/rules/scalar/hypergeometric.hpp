#pragma once

#include "nax/rules/scalar/powers.hpp"

// Hypergeometric functions of real arguments.
NAX_BEGIN
namespace rules::scalar {

template <class Double>
NAX_SCALAR bool ends(Double a) {  // 0, -1, ...: the series is a polynomial
  return a <= 0 && a == std::floor(a);
}

template <class Double>
NAX_SCALAR Double hyp1f1_series(Double a, Double b, Double x) {
  Double sum = 1, term = 1;
  for (Double n = 0; n < 100000; n += 1) {
    term *= (a + n) / (b + n) * (x / (n + 1));
    sum += term;
    if (!(std::abs(sum) < infinity)) break;
    if (std::abs(term) <= 0.1 * rounding * std::abs(sum) && n > -a && n > -b) break;
  }
  return sum;
}
template <class Double>
NAX_SCALAR Double hyp1f1(Double a, Double b, Double x) {
  if (a != a || b != b || x != x) return not_a_number;
  if (ends(b) && !(ends(a) && a >= b)) return infinity;
  if (a == 0 || x == 0) return 1;
  if (ends(a)) {
    if (a < -1e5) return not_a_number;  // a polynomial of too many terms to sum
    Double sum = 1, term = 1;
    for (Double n = 0; n < -a; n += 1) {
      term *= (a + n) / (b + n) * (x / (n + 1));
      sum += term;
    }
    return sum;
  }
  if (x > 0) return hyp1f1_series(a, b, x);
  // Kummer's transformation; far out e^x vanishes before the series has grown, and the asymptotic one serves.
  if (x > -100) return std::exp(x) * hyp1f1_series(b - a, b, -x);
  if (ends(b - a)) return std::exp(x) * hyp1f1(b - a, b, -x);
  Double sum = 1, term = 1, last = infinity;
  for (Double n = 0; n < 200; n += 1) {
    term *= (a + n) * (1 + a - b + n) / (-x * (n + 1));
    if (std::abs(term) > last) break;
    sum += term;
    last = std::abs(term);
    if (last < rounding * std::abs(sum)) break;
  }
  int sign = 1;
  const auto log_gamma = [&sign](Double z) {
    if (z < 0 && std::fmod(std::floor(z), 2) != 0) sign = -sign;
    return math::lgamma(z);
  };
  const Double size = log_gamma(b) - log_gamma(b - a) - a * std::log(-x);
  return sign * std::exp(size) * sum;
}

// The value and the derivative at z + t from those at z: the series of the differential equation
//   z (1 - z) f'' + (c - (a + b + 1) z) f' - a b f = 0
template <class Double>
NAX_SCALAR void hyp2f1_step(Double a, Double b, Double c, Double z, Double t, Double& value, Double& slope) {
  const Double lead = z * (1 - z);
  Double f0 = value, f1 = slope * t, sum = f0 + f1, slopes = f1;  // terms f_n t^n
  for (Double n = 0; n < 2000; n += 1) {
    const Double f2 =
        ((n + a) * (n + b) * f0 * t * t - (n + 1) * ((1 - 2 * z) * n + c - (a + b + 1) * z) * f1 * t) /
        ((n + 1) * (n + 2) * lead);
    sum += f2;
    slopes += (n + 2) * f2;
    if (!(std::abs(slopes) < infinity)) break;
    if (std::abs(f2) * (n + 2) <= 0.1 * rounding * std::abs(slopes) &&
        std::abs(f1) * (n + 1) <= rounding * std::abs(slopes) &&
        std::abs(f2) <= 0.1 * rounding * std::abs(sum))
      break;
    f0 = f1;
    f1 = f2;
  }
  value = sum;
  slope = slopes / t;
}
template <class Double>
NAX_SCALAR Double hyp2f1(Double a, Double b, Double c, Double x) {
  if (a != a || b != b || c != c || x != x) return not_a_number;
  if (a == 0 || b == 0 || x == 0) return 1;
  const bool polynomial = ends(a) || ends(b);
  const Double degree = ends(a) && (!ends(b) || a >= b) ? -a : -b;
  if (ends(c) && !(polynomial && degree <= -c)) return infinity;
  if (polynomial && degree < 100000) {
    Double sum = 1, term = 1;
    for (Double n = 0; n < degree; n += 1) {
      term *= (a + n) * (b + n) / ((c + n) * (n + 1)) * x;
      sum += term;
    }
    return sum;
  }
  if (x > 1) return not_a_number;
  if (x == 1) {
    const Double s = c - a - b;
    if (s <= 0) return infinity;
    if (ends(c - a) || ends(c - b)) return 0;
    int sign = 1;
    const auto log_gamma = [&sign](Double z) {
      if (z < 0 && std::fmod(std::floor(z), 2) != 0) sign = -sign;
      return math::lgamma(z);
    };
    const Double size = log_gamma(c) + log_gamma(s) - log_gamma(c - a) - log_gamma(c - b);
    return sign * std::exp(size);
  }
  if (x < 0) {  // Pfaff's transformation
    if (x < -0.1 || a * b * c < 0) return std::pow(1 - x, -a) * hyp2f1(a, c - b, c, x / (x - 1));
  }
  // The series up to 1/2; from there in steps of half the distance to the singularity at 1.
  const Double start = x < 0.5 ? x : Double(0.5);
  Double sum = 1, term = 1, slope = 0;
  for (Double n = 0; n < 100000; n += 1) {
    const Double ratio = (a + n) * (b + n) / ((c + n) * (n + 1)) * start;
    term *= ratio;
    sum += term;
    slope += (n + 1) * term;
    if (!(std::abs(slope) < infinity)) break;
    if (std::abs(term) * (n + 1) <= 0.1 * rounding * std::abs(slope) &&
        std::abs(term) <= 0.1 * rounding * std::abs(sum) && n > -a && n > -b && n > -c)
      break;
  }
  slope /= start;
  for (Double z = start; z < x;) {
    Double t = 0.5 * (1 - z);
    if (z + t > x) t = x - z;
    hyp2f1_step(a, b, c, z, t, sum, slope);
    z = z + t;
  }
  return sum;
}

}  // namespace rules::scalar
NAX_END
