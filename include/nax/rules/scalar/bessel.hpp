#pragma once

#include "nax/rules/scalar/powers.hpp"

#if defined(_WIN32)
extern "C" __declspec(dllimport) double __cdecl _jn(int, double);  // math.h leaves it out of plain C++
#endif

// Bessel functions: modified ones of order 0 and 1 by their series (no term is negative), far out by the
// asymptotic one.
NAX_BEGIN
namespace rules::scalar {

inline constexpr double bessel_far = 30;

template <class Double>
NAX_SCALAR Double bessel_i_series(int order, Double x) {
  const Double square = 0.25 * x * x;
  Double sum = 1, term = 1;
  for (int k = 1; k < 200; ++k) {
    term *= square / (static_cast<Double>(k) * (k + order));
    sum += term;
    if (term < rounding * sum) break;
  }
  return order == 0 ? sum : 0.5 * x * sum;
}
// e^-x I(x)
template <class Double>
NAX_SCALAR Double bessel_i_far(int order, Double x) {
  if (x == infinity) return 0;
  Double sum = 1, term = 1;
  for (int k = 1; k < 40; ++k) {
    term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * x);
    sum += term;
    if (std::abs(term) < rounding) break;
  }
  return sum / std::sqrt(6.28318530717958647693 * x);
}
template <class Double>
NAX_SCALAR Double bessel_i(int order, Double x, bool scaled) {
  const Double size = std::abs(x), sign = order == 1 && x < 0 ? -1 : 1;
  if (x != x) return x;
  if (size <= bessel_far) return sign * bessel_i_series(order, size) * (scaled ? std::exp(-size) : Double(1));
  const Double distant = bessel_i_far(order, size);
  if (scaled) return sign * distant;
  if (size == infinity) return sign * infinity;
  return sign * distant * std::exp(0.5 * size) * std::exp(0.5 * size);
}
template <class Double>
NAX_SCALAR Double i0(Double x) {
  return bessel_i(0, x, false);
}
template <class Double>
NAX_SCALAR Double i0e(Double x) {
  return bessel_i(0, x, true);
}
template <class Double>
NAX_SCALAR Double i1(Double x) {
  return bessel_i(1, x, false);
}
template <class Double>
NAX_SCALAR Double i1e(Double x) {
  return bessel_i(1, x, true);
}
template <class Double>
NAX_SCALAR Double bessel_j(Double v, Double x) {
  if (v != v || x != x || v != std::floor(v) || std::abs(v) > 1e6) return not_a_number;
#if defined(_WIN32)
  return ::_jn(static_cast<int>(v), x);
#else
  return ::jn(static_cast<int>(v), x);
#endif
}

}  // namespace rules::scalar
NAX_END
