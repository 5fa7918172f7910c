#pragma once

#include "nax/rules/scalar/powers.hpp"

// Integrals of exponentials, sines and logarithms.
NAX_BEGIN
namespace rules::scalar {

// The integral of e^(-x t) / t^n from 1 on: a continued fraction beyond 1, the series below.
template <class Double>
NAX_SCALAR Double expn(Double n, Double x) {
  if (!(x >= 0) || n != n || n != std::floor(n)) return not_a_number;
  if (x == infinity) return 0;
  if (x == 0) return n <= 1 ? infinity : 1 / (n - 1);
  if (n <= 0) {  // by the recurrence E(n) = (e^-x - n E(n + 1)) / x, which adds
    Double value = std::exp(-x) / x;
    for (Double k = -1; k >= n && k > -1000; k -= 1) value = (std::exp(-x) - k * value) / x;
    return n < -999 ? not_a_number : value;
  }
  if (x > 1) {
    constexpr double tiny = 1e-290;
    Double b = x + n, c = 1 / tiny, d = 1 / b, h = d;
    for (int i = 1; i < 10000; ++i) {
      const Double a = -i * (n - 1 + i);
      b += 2;
      d = 1 / (a * d + b);
      c = b + a / c;
      h *= c * d;
      if (std::abs(c * d - 1) < 2 * rounding) break;
    }
    return h * std::exp(-x);
  }
  Double sum = n == 1 ? -std::log(x) - euler_gamma : 1 / (n - 1), power = 1;
  for (int i = 1; i < 1000; ++i) {
    power *= -x / i;
    Double term = 0;
    if (i != n - 1) {
      term = -power / (i - (n - 1));
    } else {
      Double psi = -euler_gamma;
      for (int k = 1; k <= i; ++k) psi += 1.0 / k;
      term = power * (psi - std::log(x));
    }
    sum += term;
    if (std::abs(term) < rounding * std::abs(sum) * 0.1 && i > n) break;
    if (std::abs(power) < 1e-40) break;
  }
  return sum;
}

template <class Double>
NAX_SCALAR Double expi(Double x) {
  if (x != x) return x;
  if (x < 0) return -expn(Double(1), -x);
  if (x == 0 || x == infinity) return x == 0 ? -infinity : infinity;
  if (x <= 40) {
    Double sum = 0, power = 1;
    for (int k = 1; k < 300; ++k) {
      power *= x / k;
      sum += power / k;
      if (power < rounding * sum) break;
    }
    return euler_gamma + std::log(x) + sum;
  }
  Double sum = 1, term = 1;
  for (int k = 1; k < 40 && term > rounding; ++k) {
    term *= k / x;
    sum += term;
  }
  return std::exp(0.5 * x) * (sum / x) * std::exp(0.5 * x);
}

// e^(ix) E1(ix) for x > 0, both parts, by the continued fraction.
template <class Double>
NAX_SCALAR void imaginary_exponential(Double x, Double& re, Double& im) {
  // b, c, d, h complex; c begins infinite: its first quotient is 0
  Double b = 1, size = 1 + x * x, dr = 1 / size, di = -x / size, hr = dr, hi = di, cr = 0, ci = 0;
  for (int i = 1; i < 100000; ++i) {
    const Double a = -static_cast<Double>(i) * i;
    b += 2;
    Double nr = b + a * dr, ni = x + a * di;
    size = nr * nr + ni * ni;
    dr = nr / size;
    di = -ni / size;
    if (i == 1) {
      cr = b;
      ci = x;
    } else {
      size = cr * cr + ci * ci;
      nr = b + a * cr / size;
      ni = x - a * ci / size;
      cr = nr;
      ci = ni;
    }
    const Double fr = cr * dr - ci * di, fi = cr * di + ci * dr, old = hr;
    hr = old * fr - hi * fi;
    hi = old * fi + hi * fr;
    if (std::abs(fr - 1) + std::abs(fi) < 4 * rounding) break;
  }
  re = hr;
  im = hi;
}
template <class Double>
NAX_SCALAR Double sine_integral(Double x) {
  if (x != x) return x;
  if (x < 0) return -sine_integral(-x);
  if (x > 1e16) return 1.57079632679489661923 + (x == infinity ? Double(0) : -std::cos(x) / x);
  if (x > 4) {
    Double re = 0, im = 0;
    imaginary_exponential(x, re, im);
    return 1.57079632679489661923 + im * std::cos(x) - re * std::sin(x);
  }
  Double sum = x, term = x;
  for (int k = 1; k < 40; ++k) {
    term *= -x * x / ((2 * k) * (2 * k + 1));
    sum += term / (2 * k + 1);
  }
  return sum;
}
// Of |x|, as SciPy's.
template <class Double>
NAX_SCALAR Double cosine_integral(Double x) {
  if (x != x) return x;
  x = std::abs(x);
  if (x == 0) return -infinity;
  if (x > 1e16) return x == infinity ? Double(0) : std::sin(x) / x;
  if (x > 4) {
    Double re = 0, im = 0;
    imaginary_exponential(x, re, im);
    return -(re * std::cos(x) + im * std::sin(x));
  }
  Double sum = 0, term = 1;
  for (int k = 1; k < 40; ++k) {
    term *= -x * x / ((2 * k - 1) * (2 * k));
    sum += term / (2 * k);
  }
  return euler_gamma + std::log(x) + sum;
}

// The integral of log(t) / (1 - t) from 1 to x: Bernoulli's numbers in log(x), near 1.
template <class Double>
NAX_SCALAR Double spence(Double x) {
  constexpr double sixth = 1.64493406684822643647;  // of pi^2
  if (!(x >= 0)) return not_a_number;
  if (x == 0) return sixth;
  if (x == infinity) return -infinity;
  if (x < 0.5) return sixth - std::log(x) * std::log1p(-x) - spence(1 - x);
  const Double u = -std::log(x);
  if (x > 2) return -0.5 * u * u - spence(1 / x);
  constexpr double over_factorials[] = {1. / 36,
                                        -1. / 3600,
                                        1. / 211680,
                                        -1. / 10886400,
                                        1. / 526901760,
                                        -691. / 16999766784000.,
                                        1. / 1120863744000.};
  Double sum = u - 0.25 * u * u, power = u;
  for (const double b : over_factorials) {
    power *= u * u;
    sum += b * power;
  }
  return sum;
}

template <class Double>
NAX_SCALAR Double exponential_moment(Double n, Double u) {
  if (u != u || !(n >= 0 && n < 1000) || n != std::floor(n)) return not_a_number;
  if (u == infinity) return infinity;
  if (std::abs(u) < n + 4) {
    Double sum = 1 / (n + 1), power = 1;
    if (u >= 0) {  // as it stands: no term is negative
      for (int k = 1; k < 500; ++k) {
        power *= u / k;
        const Double term = power / (n + 1 + k);
        sum += term;
        if (term < rounding * sum) break;
      }
      return sum;
    }
    for (int k = 1; k < 500; ++k) {  // e^u sum (-u)^k / ((n + 1) ... (n + 1 + k))
      power *= -u / (n + 1 + k);
      const Double term = power / (n + 1);
      sum += term;
      if (term < rounding * sum) break;
    }
    return std::exp(u) * sum;
  }
  if (u == -infinity) return 0;
  Double value = std::expm1(u) / u;
  for (Double k = 1; k <= n; k += 1) value = (std::exp(u) - k * value) / u;
  return value;
}

}  // namespace rules::scalar
NAX_END
