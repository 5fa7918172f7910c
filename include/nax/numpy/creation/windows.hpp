#pragma once

#include <cmath>
#include <numbers>

#include "nax/numpy/creation/creation.hpp"

// Windows for spectra and filters: M numbers that fall off towards both ends, symmetric. float unless another
// type is asked for, hamming<double>(51). No number for M < 1, and 1 for M = 1, as NumPy has it.
NAX_BEGIN
namespace detail {

// f(place) with places from -1 at the first point to 1 at the last.
template <class T, class F>
Array<T> window(const char* function, std::int64_t M, const F& f) {
  static_assert(is_floating_v<T>, "windows are of a floating type");
  if (M < 1) return zeros<T>({0});
  const double last = static_cast<double>(M - 1);
  return generated<T>(function, M, [=](std::int64_t i) {
    return static_cast<T>(M == 1 ? 1.0 : f((2 * static_cast<double>(i) - last) / last));
  });
}

// The modified Bessel function I0, by its power series: all terms are positive, so that no digit is lost.
NAX_ENGINE double bessel_i0(double x);

}  // namespace detail

// A triangle, 0 at both ends. The result has shape (M,). Throws ValueError if the array is too big.
template <class T = float>
Array<T> bartlett(std::int64_t M) {
  return detail::window<T>("bartlett", M, [](double x) { return 1 - std::abs(x); });
}
// 0.42 + 0.5 cos(pi x) + 0.08 cos(2 pi x), x from -1 to 1. The result has shape (M,). Throws ValueError if
// the array is too big.
template <class T = float>
Array<T> blackman(std::int64_t M) {
  return detail::window<T>("blackman", M, [](double x) {
    return 0.42 + 0.5 * std::cos(std::numbers::pi * x) + 0.08 * std::cos(2 * std::numbers::pi * x);
  });
}
// 0.54 + 0.46 cos(pi x). The result has shape (M,). Throws ValueError if the array is too big.
template <class T = float>
Array<T> hamming(std::int64_t M) {
  return detail::window<T>("hamming", M,
                           [](double x) { return 0.54 + 0.46 * std::cos(std::numbers::pi * x); });
}
// 0.5 + 0.5 cos(pi x). The result has shape (M,). Throws ValueError if the array is too big.
template <class T = float>
Array<T> hanning(std::int64_t M) {
  return detail::window<T>("hanning", M, [](double x) { return 0.5 + 0.5 * std::cos(std::numbers::pi * x); });
}
// I0(beta sqrt(1 - x^2)) / I0(beta). NaN where I0(beta) overflows (beta > 713), as in NumPy. The result has
// shape (M,). Throws ValueError if the array is too big.
template <class T = float>
Array<T> kaiser(std::int64_t M, double beta) {
  const double most = detail::bessel_i0(beta);
  return detail::window<T>("kaiser", M, [=](double x) {
    return detail::bessel_i0(beta * std::sqrt(std::max(0.0, 1 - x * x))) / most;
  });
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE double bessel_i0(double x) {
  const double quarter = x * x / 4;
  double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-17 && k < 4000; ++k) sum += term *= quarter / (double(k) * k);
  return sum;
}

}  // namespace detail
NAX_END
#endif
