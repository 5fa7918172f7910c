#pragma once

#include "nax/rules/scalar/powers.hpp"

// Hypergeometric functions of real arguments.
NAX_BEGIN
namespace rules::scalar {

template <class Double>
NAX_SCALAR bool ends(Double a) {  // 0, -1, ...: the series is a polynomial
  return a <= 0 && a == std::floor(a);
}

// A sum and the digits that its terms leave of it.
template <class Double>
struct TrackedSum {
  Double sum = 1, size = 1;  // size: of the terms' absolute values
  NAX_SCALAR void add(Double term) {
    sum += term;
    size += std::abs(term);
  }
  NAX_SCALAR bool keeps(Double share) const {
    return size < infinity && size * rounding <= share * std::abs(sum);
  }
};

template <class Double>
NAX_SCALAR TrackedSum<Double> hyp1f1_series(Double a, Double b, Double x) {
  TrackedSum<Double> tracked;
  Double term = 1;
  for (Double n = 0; n < 100000; n += 1) {
    term *= (a + n) / (b + n) * (x / (n + 1));
    if (term == 0) break;  // a polynomial's end
    tracked.add(term);
    if (!(tracked.size < infinity)) break;
    if (std::abs(term) <= 0.1 * rounding * std::abs(tracked.sum) && n > -a && n > -b) break;
  }
  return tracked;
}
// From x near 0, where the series keeps its digits, by steps of the series of the differential equation
//   z f'' + (b - z) f' - a f = 0
// each so short that its terms do not grow. For a < 0 < b and x > 0.
template <class Double>
NAX_SCALAR Double hyp1f1_steps(Double a, Double b, Double x) {
  Double z = 0.5 * b / -a;
  if (z > x) z = x;
  Double value = hyp1f1_series(a, b, z).sum, slope = a / b * hyp1f1_series(a + 1, b + 1, z).sum;
  for (int steps = 0; z < x; ++steps) {
    if (steps == 100000 || !(std::abs(value) < infinity)) return not_a_number;
    const Double rate = std::sqrt(-a / z) + std::abs(b - z) / z;
    Double t = 1.5 / rate < 0.5 * z ? 1.5 / rate : 0.5 * z;
    const Double next = z + t < x ? z + t : x;
    t = next - z;
    Double f0 = value, f1 = slope * t, sum = f0 + f1, slopes = f1;  // terms f_n t^n
    for (Double n = 0; n < 500; n += 1) {
      const Double f2 = ((n + a) * f0 * t * t - (n + 1) * (n + b - z) * f1 * t) / (z * (n + 1) * (n + 2));
      sum += f2;
      slopes += (n + 2) * f2;
      if (std::abs(f2) * (n + 2) <= 0.1 * rounding * (std::abs(slopes) + std::abs(sum)) &&
          std::abs(f1) * (n + 1) <= rounding * (std::abs(slopes) + std::abs(sum)))
        break;
      f0 = f1;
      f1 = f2;
    }
    value = sum;
    slope = slopes / t;
    z = next;
  }
  return value;
}
// For x > 0, or a polynomial. Not a number where the series loses ten digits and nothing else serves.
template <class Double>
NAX_SCALAR Double hyp1f1_at(Double a, Double b, Double x) {
  const TrackedSum<Double> direct = hyp1f1_series(a, b, x);
  if (direct.keeps(1e-14) || (a >= 0 && b > 0)) return direct.sum;
  if (ends(a) && b > 0 && x > 0) {  // Laguerre's recurrence by the degree
    Double before = 1, now = 1 - x / b;
    for (Double n = 1; n < -a; n += 1) {
      const Double next = ((2 * n + b - x) * now - n * before) / (b + n);
      before = now;
      now = next;
    }
    return now;
  }
  if (a < 0 && b > 0 && x > 0) return hyp1f1_steps(a, b, x);
  return direct.keeps(1e-6) ? direct.sum : not_a_number;
}
template <class Double>
NAX_SCALAR Double hyp1f1(Double a, Double b, Double x) {
  if (a != a || b != b || x != x) return not_a_number;
  if (ends(b) && !(ends(a) && a >= b)) return infinity;
  if (a == 0 || x == 0) return 1;
  if (ends(a)) return a < -1e5 ? not_a_number : hyp1f1_at(a, b, x);  // not a sum of too many terms
  if (x > 0) return hyp1f1_at(a, b, x);
  const TrackedSum<Double> direct = hyp1f1_series(a, b, x);
  if (direct.keeps(1e-14)) return direct.sum;
  // Kummer's transformation; far out e^x vanishes before the series has grown, and the asymptotic one serves.
  if (x > -100) return std::exp(x) * hyp1f1_at(b - a, b, -x);
  if (ends(b - a)) return std::exp(x) * hyp1f1(b - a, b, -x);
  Double sum = 1, term = 1, last = infinity;
  for (Double n = 0; n < 2000; n += 1) {
    term *= (a + n) * (1 + a - b + n) / (-x * (n + 1));
    if (std::abs(term) > last && n > -a && n > b - a - 1) break;
    sum += term;
    last = std::abs(term);
    if (last < rounding * std::abs(sum)) break;
  }
  if (!(last < 1e-6 * std::abs(sum))) return std::exp(x) * hyp1f1_at(b - a, b, -x);
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
NAX_SCALAR TrackedSum<Double> hyp2f1_series(Double a, Double b, Double c, Double x) {
  TrackedSum<Double> tracked;
  Double term = 1;
  for (Double n = 0; n < 100000; n += 1) {
    term *= (a + n) * (b + n) / ((c + n) * (n + 1)) * x;
    if (term == 0) break;  // a polynomial's end
    tracked.add(term);
    if (!(tracked.size < infinity)) break;
    if (std::abs(term) <= 0.1 * rounding * std::abs(tracked.sum) && n > -a && n > -b && n > -c) break;
  }
  return tracked;
}
// From x near 0, where the series keeps its digits, by steps that are short beside the distances to the
// singularities at 0 and 1, and so that the terms do not grow. For 0 < x < 1. Not a number where the value
// is too small beside those on the way to have digits.
template <class Double>
NAX_SCALAR Double hyp2f1_steps(Double a, Double b, Double c, Double x) {
  const Double growth = std::abs(a * b / c);
  Double z = growth > 2 ? 1 / growth : Double(0.5);
  if (z > x) z = x;
  Double value = hyp2f1_series(a, b, c, z).sum;
  Double slope = a * b / c * hyp2f1_series(a + 1, b + 1, c + 1, z).sum;
  Double most = std::abs(value);
  for (int steps = 0; z < x; ++steps) {
    if (steps == 100000 || !(std::abs(value) < infinity)) return not_a_number;
    const Double lead = z * (1 - z);
    const Double rate = std::sqrt(std::abs(a * b) / lead) + std::abs(c - (a + b + 1) * z) / lead;
    const Double room = 0.5 * (z < 1 - z ? z : 1 - z);
    Double t = 1.5 / rate < room ? 1.5 / rate : room;
    const Double next = z + t < x ? z + t : x;
    t = next - z;  // exactly the distance: near 1 a rounding would count
    hyp2f1_step(a, b, c, z, t, value, slope);
    if (std::abs(value) > most) most = std::abs(value);
    z = next;
  }
  return rounding * most <= 1e-6 * std::abs(value) ? value : not_a_number;
}
template <class Double>
NAX_SCALAR Double hyp2f1(Double a, Double b, Double c, Double x) {
  if (a != a || b != b || c != c || x != x) return not_a_number;
  if (a == 0 || b == 0 || x == 0) return 1;
  const bool polynomial = ends(a) || ends(b);
  const Double degree = ends(a) && (!ends(b) || a >= b) ? -a : -b;
  if (ends(c) && !(polynomial && degree <= -c)) return infinity;
  const bool inside = x > -1 && x < 1;
  if ((polynomial && degree < 100000) || (inside && std::abs(x) <= 0.5)) {
    const TrackedSum<Double> direct = hyp2f1_series(a, b, c, x);
    if (direct.keeps(1e-14) || (polynomial && !inside && direct.keeps(1e-6))) return direct.sum;
    if (polynomial && !inside) return not_a_number;
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
  if (x < 0) {  // Pfaff's transformation, to positive terms where there are such
    const bool by_b = b > 0 && c > a && !(a > 0 && c > b);
    return by_b ? std::pow(1 - x, -b) * hyp2f1(c - a, b, c, x / (x - 1))
                : std::pow(1 - x, -a) * hyp2f1(a, c - b, c, x / (x - 1));
  }
  return hyp2f1_steps(a, b, c, x);
}

}  // namespace rules::scalar
NAX_END
