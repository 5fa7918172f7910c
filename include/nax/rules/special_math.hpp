#pragma once

#include <cmath>
#include <concepts>
#include <iterator>
#include <limits>

#include "nax/rules/giles.hpp"
#include "nax/rules/math.hpp"

// Special functions of single numbers, in double where a series is summed. (Templates, all of them: a
// constexpr function that calls <cmath> must be one.)
NAX_BEGIN
namespace rules::math {

template <class T>
constexpr T lgamma(T x) {
#if defined(__GLIBC__) && !defined(__CUDA_ARCH__)
  int sign;  // std::lgamma writes it to a global variable, which threads would race for
  if constexpr (std::is_same_v<T, float>)
    return ::lgammaf_r(x, &sign);
  else
    return ::lgamma_r(x, &sign);
#elif defined(_WIN32)  // MinGW's for floats has 5 digits
  return static_cast<T>(std::lgamma(static_cast<double>(x)));
#else
  return std::lgamma(x);
#endif
}

template <std::floating_point T>
constexpr T tgamma(T x) {
#if defined(_WIN32)
  // MinGW's reduces large numbers one by one: it takes hours for 1e10.
  const T whole = std::floor(x);
  if (x > 200) return std::numeric_limits<T>::infinity();
  if (x < -200 && whole == x) return std::numeric_limits<T>::quiet_NaN();
  if (x < -200) return std::fmod(whole, T(2)) == 0 ? T(0) : T(-0.0);
  return static_cast<T>(std::tgamma(static_cast<double>(x)));
#else
  return std::tgamma(x);
#endif
}

// Its root, in two parts, and digamma(root + u) / u in powers of u up to 0.45. (No static member: nvcc makes
// a trap of what reads one.)
inline constexpr double digamma_root = 1.4616321449683622, digamma_root_rest = 9.5499954299656974e-17;
struct DigammaNear {
  double at[21] = {0.9676722454476212,     -0.44276316898359147,    0.25849976095564842,
                   -0.16394270544263845,   0.10782405069177219,     -0.072199561231875944,
                   0.048804288125131497,   -0.033161127667424094,   0.022597649760591327,
                   -0.015424734169215984,  0.010538756769176687,    -0.0072050403452335599,
                   0.0049272749733007973,  -0.0033647725796754108,  0.0023006616209408116,
                   -0.0016082092736719499, 0.0011045189788100895,   -0.00062103365979110012,
                   0.00041489182933275392, -0.00057930474783342257, 0.00040620424868913235};
};

// The logarithmic derivative of gamma: recurrence up to where the asymptotic series is exact; reflection
// below 0; about its root by a polynomial.
template <class Double>
constexpr Double digamma(Double x) {
  constexpr double pi = 3.14159265358979323846;
  double sum = 0;
  if (x <= 0) {
    if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    sum = -pi / std::tan(pi * (x - std::rint(x)));  // the distance to the next pole, which is exact
    x = 1 - x;
  }
  if (const double u = (x - digamma_root) - digamma_root_rest; sum == 0 && std::abs(u) < 0.45) {
    constexpr DigammaNear nearby;
    double p = 0;
    for (int i = static_cast<int>(std::size(nearby.at)) - 1; i >= 0; --i) p = p * u + nearby.at[i];
    return p * u;
  }
  for (; x < 12; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * (1. / 12 -
           z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return sum + std::log(x) - 0.5 / x - series;
}

// Bernoulli's number B_(2 k + 2), for k from 0 to 7.
constexpr double bernoulli_number(int k) {
  constexpr double numbers[] = {1. / 6,  -1. / 30,     1. / 42, -1. / 30,
                                5. / 66, -691. / 2730, 7. / 6,  -3617. / 510};
  return numbers[k];
}
// sum + zeta(s, q), Hurwitz's zeta, for large q: the formula of Euler and Maclaurin; `power` is q^-s, and a
// factor of it one of the result.
template <class Double>
constexpr Double with_zeta_tail(Double sum, Double s, Double q, Double power) {
  sum += power * (q / (s - 1) + 0.5);
  Double factor = s / 2 * power / q;  // s (s + 1) ... / (2 k)! q^(-s - 2 k + 1)
  for (int k = 0; k < 8; ++k) {
    sum += bernoulli_number(k) * factor;
    const Double j = s + 2 * k + 1;
    factor *= j * (j + 1) / ((2 * k + 3) * (2 * k + 4)) / (q * q);
  }
  return sum;
}

// The n-th derivative of digamma, for whole n: (-1)^(n+1) n! times Hurwitz's zeta of n + 1, by the formula of
// Euler and Maclaurin. At its poles that of the zeta function, which is positive. NaN far below 0.
template <class Double>
constexpr Double polygamma(Double n, Double x) {
  if (n == 0) return digamma(x);
  if (!(n > 0) || n != std::floor(n) || x != x) return std::numeric_limits<double>::quiet_NaN();
  if (x <= 0 && x == std::floor(x))
    return std::fmod(n, 2) == 0 ? -std::numeric_limits<double>::infinity()
                                : std::numeric_limits<double>::infinity();
  if (x < -10000) return std::numeric_limits<double>::quiet_NaN();
  if (x > std::numeric_limits<double>::max()) return std::fmod(n, 2) == 0 ? -0.0 : 0.0;
  // The sum of (x / unit)^-s: for large s it would leave the range.
  const double s = n + 1, most = 12 + s, unit = x > 1 ? x : 1;
  double sum = 0;
  bool ends = false;
  for (; x < most && !ends; x += 1) {
    const double term = std::pow(x / unit, -s);
    sum += term;
    ends = x > 0 && term <= 1e-19 * sum;
  }
  if (!ends) sum = with_zeta_tail(sum, s, x, std::pow(x / unit, -s));
  const double size = s < 20 && unit < 1e10 ? std::exp(math::lgamma(s)) * std::pow(unit, -s) * sum
                                            : std::exp(math::lgamma(s) - s * std::log(unit) + std::log(sum));
  return std::fmod(n, 2) == 0 ? -size : size;
}

// Computes it for each lane; values and derivatives call it.
template <class V>
constexpr V polygamma_at(V n, V x) {
  using T = decltype(uniform(x));
  return by_lanes([](T order, T lane) { return static_cast<T>(polygamma<double>(order, lane)); }, n, x);
}

// The inverse error function to the last digits of double: two steps of Halley's method from the polynomials,
// which lose some of 1 - x near 1.
template <class V>
constexpr V erfinv_double(V x) {
  using std::abs, std::copysign, std::erf, std::erfc, std::exp;
  const V a = abs(x), from = rules::detail::giles_erfinv<double>(a);
  V y = from;
  for (int i = 0; i < 2; ++i) {
    const V error = select(a < V(0.5), erf(y) - a, (V(1) - a) - erfc(y));
    const V step = error / (V(1.12837916709551257390) * exp(-(y * y)));
    y = y - step / (V(1) + y * step);
  }
  return copysign(select(a < V(1), y, from), x);  // or infinite, or NaN
}

}  // namespace rules::math
NAX_END
