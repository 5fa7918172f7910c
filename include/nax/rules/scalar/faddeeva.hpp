#pragma once

#include "nax/rules/scalar/normal.hpp"

// The Faddeeva function, and the Fresnel integrals, which are error functions of complex numbers.
NAX_BEGIN
namespace rules::scalar {

// sin(x) / x, given sin(x).
template <class Double>
NAX_SCALAR Double sinc_of(Double x, Double sine) {
  return std::abs(x) < 1e-4 ? 1 - x * x / 6 : sine / x;
}

// w(z) for |x| or y so large that a continued fraction serves, y >= 0 (Gautschi 1970; its length by Poppe and
// Wijers 1990).
template <class Double>
NAX_SCALAR numbers::Complex<Double> faddeeva_far(Double x, Double y) {
  constexpr double inverse_root_pi = 0.56418958354775628695;
  const Double size = std::abs(x) + y;
  if (size > 1e7) {  // i / (sqrt(pi) z), without squares that overflow
    if (size == infinity) return {0, 0};
    if (std::abs(x) > y) {
      const Double ratio = y / x, real = inverse_root_pi / (x + ratio * y);
      return {real * ratio, real};
    }
    const Double ratio = x / y, real = inverse_root_pi / (ratio * x + y);
    return {real, real * ratio};
  }
  const Double terms = std::floor(3.9 + 11.398 / (0.08254 * std::abs(x) + 0.1421 * y + 0.2023));
  Double re = x, im = y;
  for (Double k = 0.5 * (terms - 1); k > 0.4; k -= 0.5) {  // z - k / (the rest)
    const Double factor = k / (re * re + im * im);
    re = x - re * factor;
    im = y + im * factor;
  }
  const Double factor = inverse_root_pi / (re * re + im * im);
  return {factor * im, factor * re};
}

// w(z) for 0 <= x < 10 and y of middling size: sums of Gaussians (Zaghloul and Ali 2011, algorithm 916). Its
// parts keep their own digits.
template <class Double>
NAX_SCALAR numbers::Complex<Double> faddeeva_near(Double x, Double y) {
  constexpr double a = 0.51832148043008592987, a2 = 0.26865715707523595158, c = 0.32997370288462907254;
  const Double gauss = std::exp(-x * x);
  const bool tiny = x < 5e-4;
  const Double up = std::exp(2 * a * x), down = 1 / up;
  Double powers = 1, inverses = 1, even = 0, sums = 0, odd = 0;
  for (int n = 1; n < 60; ++n) {
    const Double term = std::exp(-a2 * n * n) * gauss / (a2 * n * n + y * y);
    powers *= up;
    inverses *= down;
    even += term;
    sums += term * (inverses + powers);
    const Double t = 2 * a * n * x;  // the difference of powers, which cancels where x is tiny
    const Double difference = tiny ? 2 * t * (1 + t * t * (1.0 / 6 + t * t / 120)) : powers - inverses;
    odd += term * difference * a * n;
    if (term * powers * a * n < rounding * std::abs(odd) && term < rounding * even) break;
  }
  const Double erfcx_part = y > -6 ? gauss * erfcx(y) : 2 * std::exp(y * y - x * x);
  const Double first = erfcx_part - c * y * even, second = c * x * gauss;
  const Double sine = std::sin(x * y), turned = std::sin(2 * x * y);
  const Double re = first * std::cos(2 * x * y) + second * sine * sinc_of(x * y, sine);
  const Double im = second * sinc_of(2 * x * y, turned) - first * turned;
  return {re + 0.5 * c * y * sums, (y > 5 ? Double(0) : im) + 0.5 * c * odd};
}

// w(z) for x >= 10 next to the real axis: the sums of the above about their largest term.
template <class Double>
NAX_SCALAR numbers::Complex<Double> faddeeva_beside(Double x, Double y) {
  constexpr double a = 0.51832148043008592987, a2 = 0.26865715707523595158, c = 0.32997370288462907254;
  const Double middle = std::floor(x / a + 0.5);
  Double even = 0, odd = 0;
  for (int k = -40; k <= 40; ++k) {
    const Double n = middle + k;
    if (n < 1) continue;
    const Double distance = a * n - x, term = std::exp(-distance * distance) / (a2 * n * n + y * y);
    even += term;
    odd += a * n * term;
  }
  return {std::exp(-x * x) + 0.5 * c * y * even, 0.5 * c * odd};
}

template <class Double>
NAX_SCALAR numbers::Complex<Double> wofz(Double x, Double y) {
  if (x != x || y != y) return {not_a_number, not_a_number};
  constexpr double two_over_root_pi = 1.12837916709551257390;
  if (x == 0) return {erfcx(y), x};
  if (y == 0) return {std::exp(-x * x), two_over_root_pi * dawsn(x)};
  if (x < 0) {  // the conjugate of w(-conj(z))
    const numbers::Complex<Double> w = wofz(-x, y);
    return {w.real(), -w.imag()};
  }
  const Double size = std::abs(y);
  if (size > 7 || (x > 6 && (size > 0.1 || (x > 8 && size > 1e-10) || x > 28))) {
    if (y > 0) return faddeeva_far(x, y);
    // 2 exp(-z^2) - w(-z)
    const numbers::Complex<Double> w = faddeeva_far(-x, -y);
    if (size == infinity) return {not_a_number, not_a_number};
    const Double grown = 2 * std::exp((size - x) * (size + x)), angle = -2 * x * y;
    const Double re = grown == 0 ? Double(0) : grown * std::cos(angle),
                 im = grown == 0 ? Double(0) : grown * std::sin(angle);
    return {re - w.real(), im - w.imag()};
  }
  return x < 10 ? faddeeva_near(x, y) : faddeeva_beside(x, y);
}

// cos(pi / 2 (x^2 + k)) for whole k: x^2 without a whole number of turns is exact.
template <class Double>
NAX_SCALAR Double fresnel_wave(Double k, Double x) {
  if (!(std::abs(x) < infinity)) return not_a_number;
  const Double square = x * x;
  if (!(square < 1e300)) return not_a_number;
  const Double rest = std::fma(x, x, -square);
  const Double quarters = std::fmod(square, 4.0) + std::fmod(k, 4.0);
  const Double whole = std::floor(quarters + 0.5), part = (quarters - whole) + rest;
  constexpr double half_pi = 1.57079632679489661923;
  const int turn = static_cast<int>(whole - 4 * std::floor(whole / 4));
  const Double angle = half_pi * part;
  if (turn == 0) return std::cos(angle);
  if (turn == 1) return -std::sin(angle);
  return turn == 2 ? -std::cos(angle) : std::sin(angle);
}

// The integral over [0, x] of sin(pi / 2 t^2), or of the cosine: a series near 0; else by w.
template <class Double>
NAX_SCALAR Double fresnel_part(Double x, bool sine) {
  if (x != x) return x;
  const Double size = std::abs(x);
  constexpr double half_pi = 1.57079632679489661923, root = 0.88622692545275801365;
  if (size < 1.5) {
    const Double square = half_pi * x * x;
    Double term = sine ? x * square : x, sum = 0;
    for (int k = sine ? 1 : 0; k < 60; k += 2) {
      sum += term / (2 * k + 1);
      term *= -square * square / ((k + 1) * (k + 2));
      if (std::abs(term) < rounding * std::abs(sum)) break;
    }
    return sum;
  }
  Double value = 0.5;
  if (size < 1e17) {
    // (1 + i) / 2 (1 - e^(i pi / 2 x^2) w(sqrt(pi) / 2 (1 + i) x))
    const numbers::Complex<Double> w = wofz(root * size, root * size);
    const Double c = fresnel_wave(Double(0), size), s = fresnel_wave(Double(-1), size);
    const Double re = 1 - (c * w.real() - s * w.imag()), im = -(c * w.imag() + s * w.real());
    value = 0.5 * (sine ? re + im : re - im);
  }
  return x < 0 ? -value : value;
}
template <class Double>
NAX_SCALAR Double fresnel_sine(Double x) {
  return fresnel_part(x, true);
}
template <class Double>
NAX_SCALAR Double fresnel_cosine(Double x) {
  return fresnel_part(x, false);
}

}  // namespace rules::scalar
NAX_END
