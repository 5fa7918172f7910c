#pragma once

#include "nax/core/abi.hpp"

// rules::math::polygamma for the texts of kernels that call it (rules/special_math.hpp explains it).
NAX_BEGIN
namespace formula::detail {

inline constexpr const char* text_polygamma = R"text(
NAX_DEVICE double nax_digamma(double x) {
  const double pi = 3.14159265358979323846;
  double sum = 0;
  if (x <= 0) {
    if (x == 0) return copysign(nax_infinity(x), -x);
    if (x == floor(x)) return nax_nan(x);
    sum = -pi / tan(pi * (x - rint(x)));
    x = 1 - x;
  }
  const double u = (x - 1.4616321449683622) - 9.5499954299656974e-17;
  if (sum == 0 && fabs(u) < 0.45) {
    const double near[] = {0.9676722454476212,     -0.44276316898359147,    0.25849976095564842,
                           -0.16394270544263845,   0.10782405069177219,     -0.072199561231875944,
                           0.048804288125131497,   -0.033161127667424094,   0.022597649760591327,
                           -0.015424734169215984,  0.010538756769176687,    -0.0072050403452335599,
                           0.0049272749733007973,  -0.0033647725796754108,  0.0023006616209408116,
                           -0.0016082092736719499, 0.0011045189788100895,   -0.00062103365979110012,
                           0.00041489182933275392, -0.00057930474783342257, 0.00040620424868913235};
    double p = 0;
#pragma unroll
    for (int i = 20; i >= 0; --i) p = p * u + near[i];
    return p * u;
  }
  for (; x < 12; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * (1. / 12 -
           z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return sum + log(x) - 0.5 / x - series;
}
NAX_DEVICE double nax_zeta_tail(double sum, double s, double q, double power) {
  const double numbers[] = {1. / 6,  -1. / 30,     1. / 42, -1. / 30,
                            5. / 66, -691. / 2730, 7. / 6,  -3617. / 510};
  sum += power * (q / (s - 1) + 0.5);
  double factor = s / 2 * power / q;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    sum += numbers[k] * factor;
    const double j = s + 2 * k + 1;
    factor *= j * (j + 1) / ((2 * k + 3) * (2 * k + 4)) / (q * q);
  }
  return sum;
}
NAX_DEVICE double nax_polygamma(double n, double x) {
  if (n == 0) return nax_digamma(x);
  if (!(n > 0) || n != floor(n) || x != x) return nax_nan(x);
  if (x <= 0 && x == floor(x)) return fmod(n, 2.0) == 0 ? -nax_infinity(x) : nax_infinity(x);
  if (x < -10000) return nax_nan(x);
  if (x == nax_infinity(x)) return fmod(n, 2.0) == 0 ? -0.0 : 0.0;
  const double s = n + 1, most = 12 + s, unit = x > 1 ? x : 1;
  double sum = 0;
  bool ends = false;
  for (; x < most && !ends; x += 1) {
    const double term = pow(x / unit, -s);
    sum += term;
    ends = x > 0 && term <= 1e-19 * sum;
  }
  if (!ends) sum = nax_zeta_tail(sum, s, x, pow(x / unit, -s));
  const double size = s < 20 && unit < 1e10 ? exp(lgamma(s)) * pow(unit, -s) * sum
                                            : exp(lgamma(s) - s * log(unit) + log(sum));
  return fmod(n, 2.0) == 0 ? -size : size;
}
)text";

}  // namespace formula::detail
NAX_END
