#pragma once

#include "nax/rules/scalar/declarations.hpp"

NAX_BEGIN
namespace rules::scalar {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double rounding = 1.1e-16;
inline constexpr double euler_gamma = 0.57721566490153286061;

// The beginning of a power series in a parameter e: arithmetic with these gives all derivatives by it at
// once.
inline constexpr int series_terms = 6;
struct Series {
  double c[series_terms] = {};

  constexpr Series() = default;
  constexpr Series(double x) : c{x} {}
  static constexpr Series variable(double x) {
    Series s(x);
    s.c[1] = 1;
    return s;
  }
  friend constexpr Series operator+(Series a, const Series& b) {
    for (int i = 0; i < series_terms; ++i) a.c[i] += b.c[i];
    return a;
  }
  friend constexpr Series operator-(Series a, const Series& b) {
    for (int i = 0; i < series_terms; ++i) a.c[i] -= b.c[i];
    return a;
  }
  friend constexpr Series operator*(const Series& a, const Series& b) {
    Series p;
    for (int i = 0; i < series_terms; ++i)
      for (int j = 0; i + j < series_terms; ++j) p.c[i + j] += a.c[i] * b.c[j];
    return p;
  }
  friend constexpr Series operator/(const Series& a, const Series& b) {
    Series q;
    for (int i = 0; i < series_terms; ++i) {
      double rest = a.c[i];
      for (int j = 0; j < i; ++j) rest -= q.c[j] * b.c[i - j];
      q.c[i] = rest / b.c[0];
    }
    return q;
  }
  // True if this series' sum is negligible beside the other's.
  constexpr bool small_beside(const Series& other) const {
    double size = 0, all = 0;
    for (int i = 0; i < series_terms; ++i) {
      size += c[i] < 0 ? -c[i] : c[i];
      all += other.c[i] < 0 ? -other.c[i] : other.c[i];
    }
    return size <= rounding * all;
  }
  // Derivative number `order` of what this is the series of.
  constexpr double derivative(int order) const {
    double factorial = 1;
    for (int i = 2; i <= order; ++i) factorial *= i;
    return c[order] * factorial;
  }
};

template <class S>
NAX_SCALAR S exp_series(const S& x) {  // y' = x' y
  S y(std::exp(x.c[0]));
  for (int i = 1; i < series_terms; ++i) {
    double sum = 0;
    for (int j = 1; j <= i; ++j) sum += j * x.c[j] * y.c[i - j];
    y.c[i] = sum / i;
  }
  return y;
}

}  // namespace rules::scalar
NAX_END
