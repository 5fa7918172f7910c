#pragma once

#include "nax/rules/scalar/powers.hpp"

// The error function's relatives.
NAX_BEGIN
namespace rules::scalar {

// e^(x^2) erfc(x)
template <class Double>
NAX_SCALAR Double erfcx(Double x) {
  if (x < 0) return x < -26.7 ? infinity : 2 * std::exp(x * x) - erfcx(-x);
  const Double square = x * x;
  if (x < 10) return std::exp(square) * (1 + std::fma(x, x, -square)) * std::erfc(x);
  if (x == infinity) return 0;
  Double sum = 1, term = 1;
  for (int n = 1; n < 14; ++n) {
    term *= -(2 * n - 1) / (2 * square);
    sum += term;
  }
  return sum * 0.56418958354775628695 / x;
}

// e^(-x^2) times the integral of e^(t^2) up to x, by G. Rybicki's sum over points a distance h apart, which
// is exact but for e^(-(pi / 2h)^2).
template <class Double>
NAX_SCALAR Double dawsn(Double x) {
  const Double size = std::abs(x);
  if (size < 0.2) {
    const Double square = x * x;
    Double sum = 1;
    for (int n = 12; n > 0; --n) sum = 1 - 2 * square / (2 * n + 1) * sum;
    return x * sum;
  }
  if (size > 1e8) return 0.5 / x;
  constexpr double h = 0.2;
  const Double nearest = 2 * std::floor(0.5 * size / h + 0.5), rest = size - nearest * h;
  Double e1 = std::exp(2 * rest * h), above = nearest + 1, below = nearest - 1, sum = 0;
  const Double e2 = e1 * e1;
  for (int i = 0; i < 16; ++i) {
    const double at = (2 * i + 1) * h;
    sum += std::exp(-at * at) * (e1 / above + 1 / (below * e1));
    above += 2;
    below -= 2;
    e1 *= e2;
  }
  return std::copysign(0.56418958354775628695 * std::exp(-rest * rest) * sum, x);
}

template <class Double>
NAX_SCALAR Double log_ndtr(Double x) {
  const Double at = x * 0.70710678118654752440;
  if (x > 0) return std::log1p(-0.5 * std::erfc(at));
  if (x > -1) return std::log(0.5 * std::erfc(-at));
  return std::log(0.5 * erfcx(-at)) - 0.5 * x * x;
}

// The inverse of the standard normal's distribution function: formula 26.2.23 of Abramowitz and Stegun, then
// Halley's method.
template <class Double>
NAX_SCALAR Double ndtri(Double p) {
  if (!(p >= 0 && p <= 1)) return not_a_number;
  if (p == 0 || p == 1) return p == 0 ? -infinity : infinity;
  if (p == 0.5) return 0;
  const Double q = p < 0.5 ? p : 1 - p;
  const Double t = std::sqrt(-2 * std::log(q));
  Double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                     (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));  // upper tail
  const bool middle = q > 0.25, distant = q < 1e-280;
  for (int i = 0; i < 4; ++i) {
    Double step = 0;
    if (distant) {
      step = (std::log(q) - log_ndtr(-x)) * std::exp(log_ndtr(-x) + 0.5 * x * x + 0.91893853320467274178);
      x -= step;
      continue;
    }
    const Double missing = middle ? (0.5 - q) - 0.5 * std::erf(x * 0.70710678118654752440)
                                  : 0.5 * std::erfc(x * 0.70710678118654752440) - q;
    step = missing * 2.50662827463100050242 * std::exp(0.5 * x * x);
    x += step / (1 - 0.5 * x * step);
  }
  return p < 0.5 ? -x : x;
}

// 1 / 2pi times the integral of e^(-h^2 (1 + t^2) / 2) / (1 + t^2) over [0, a], by Gauss and Legendre.
template <class Double>
NAX_SCALAR Double owens_t_within(Double h, Double a) {
  constexpr double points[][2] = {
      {0.076526521133497333755, 0.1527533871307258507},  {0.22778585114164507808, 0.14917298647260374679},
      {0.37370608871541956067, 0.14209610931838205133},  {0.510867001950827098, 0.1316886384491766269},
      {0.63605368072651502545, 0.11819453196151841731},  {0.74633190646015079261, 0.10193011981724043504},
      {0.83911697182221882339, 0.083276741576704748725}, {0.91223442825132590587, 0.06267204833410906357},
      {0.96397192727791379127, 0.040601429800386941331}, {0.99312859918509492479, 0.017614007139152118312}};
  const Double end = a * h > 9 ? 9 / h : a;  // nothing counts beyond
  constexpr int panels = 3;
  const Double half = end / (2 * panels);
  Double sum = 0;
  for (int panel = 0; panel < panels; ++panel)
    for (const auto& [at, weight] : points)
      for (const int side : {-1, 1}) {
        const Double t = half * (2 * panel + 1 + side * at);
        sum += weight * std::exp(-0.5 * h * h * t * t) / (1 + t * t);
      }
  return half * sum * std::exp(-0.5 * h * h) / 6.28318530717958647693;
}
template <class Double>
NAX_SCALAR Double owens_t(Double h, Double a) {
  if (h != h || a != a) return not_a_number;
  h = std::abs(h);
  if (a < 0) return -owens_t(h, -a);
  constexpr double root = 0.70710678118654752440;
  if (a == infinity) return 0.25 * std::erfc(h * root);
  if (h == infinity) return 0;
  if (a <= 1) return owens_t_within(h, a);
  const Double above_h = 0.5 * std::erfc(h * root), above_ah = 0.5 * std::erfc(a * h * root);
  return 0.5 * (above_h + above_ah) - above_h * above_ah - owens_t_within(a * h, 1 / a);
}

}  // namespace rules::scalar
NAX_END
