#pragma once

#include "nax/rules/scalar/powers.hpp"

// Legendre functions as spherical harmonics have them.
NAX_BEGIN
namespace rules::scalar {

// The factor of the spherical harmonic of degree n and order m that depends on the colatitude: by the
// recurrence in n of normalised functions of cos(theta), as SciPy's beyond [0, pi], with a scale of its own
// where sin(theta)^m leaves the range of numbers.
template <class Double>
NAX_SCALAR Double spherical_legendre(Double n, Double m, Double theta) {
  if (!(n >= 0) || !(n < 1e6) || n != std::floor(n) || m != std::floor(m)) return not_a_number;
  if (!(std::abs(theta) < infinity)) return not_a_number;
  const Double order = std::abs(m);
  if (order > n) return 0;
  constexpr double large = 0x1p500, little = 0x1p-500;
  const Double sine = std::abs(std::sin(theta)), x = std::cos(theta);
  Double value = 0.28209479177387814347, before = 0;  // 1 / sqrt(4 pi)
  int scale = 0;  // the values are so many times `small` of what they stand for
  for (Double k = 1; k <= order; k += 1) {
    value *= -sine * std::sqrt((2 * k + 1) / (2 * k));
    if (value != 0 && std::abs(value) < little) value *= large, ++scale;
  }
  Double last = 0;  // the factor of `before` in the recurrence
  for (Double k = order + 1; k <= n; k += 1) {
    const Double factor = std::sqrt((4 * k * k - 1) / (k * k - order * order));
    const Double next = factor * (x * value - last * before);
    last = 1 / factor;
    before = value;
    value = next;
    if (scale > 0 && std::abs(value) > large) value *= little, before *= little, --scale;
  }
  for (; scale > 0 && value != 0; --scale) value *= little;
  return m < 0 && std::fmod(order, 2.0) != 0 ? -value : value;
}

}  // namespace rules::scalar
NAX_END
