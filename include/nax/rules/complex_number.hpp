#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "nax/core/dtype.hpp"
#include "nax/rules/complex_arithmetic.hpp"

// The complex number that rules compute with in a thread of a GPU: a value type V as std::complex is one on
// the CPU, with its layout. nvcc compiles the operators of std::complex<float> to code that reads nothing,
// and refuses the functions; those here are written on functions of real numbers.
//
// Rules call functions unqualified, and so find these by their argument's namespace. Each states its formula;
// where none is named, it is the definition by real and imaginary part. Branch cuts are those of C99 and
// NumPy, signed zeros included.
NAX_BEGIN
namespace rules::numbers {

template <class R>
struct Complex {
  using value_type = R;
  R re{}, im{};

  constexpr Complex() = default;
  constexpr Complex(R real, R imag = R(0)) : re(real), im(imag) {}
  // Of a constant in a rule's formula.
  template <class S>
  explicit consteval Complex(std::complex<S> z)
      : re(static_cast<R>(z.real())), im(static_cast<R>(z.imag())) {}
  constexpr R real() const { return re; }
  constexpr R imag() const { return im; }

  friend constexpr Complex operator+(Complex x, Complex y) { return {x.re + y.re, x.im + y.im}; }
  friend constexpr Complex operator-(Complex x, Complex y) { return {x.re - y.re, x.im - y.im}; }
  friend constexpr Complex operator*(Complex x, Complex y) { return math::product(x, y); }
  friend constexpr Complex operator/(Complex x, Complex y) { return math::quotient(x, y); }
  friend constexpr Complex operator*(Complex x, R y) { return {x.re * y, x.im * y}; }
  friend constexpr Complex operator*(R x, Complex y) { return {x * y.re, x * y.im}; }
  friend constexpr Complex operator/(Complex x, R y) { return {x.re / y, x.im / y}; }
  friend constexpr Complex operator-(Complex x) { return {-x.re, -x.im}; }
  friend constexpr Complex operator+(Complex x) { return x; }
  friend constexpr bool operator==(Complex x, Complex y) { return x.re == y.re && x.im == y.im; }
};

// x times i, and times -i: exact.
template <class R>
constexpr Complex<R> times_i(Complex<R> x) {
  return {-x.im, x.re};
}
template <class R>
constexpr Complex<R> over_i(Complex<R> x) {
  return {x.im, -x.re};
}

template <class R>
constexpr Complex<R> conj(Complex<R> x) {
  return {x.re, -x.im};
}
template <class R>
constexpr R abs(Complex<R> x) {
  return math::modulus(x);
}
template <class R>
constexpr R arg(Complex<R> x) {
  return std::atan2(x.im, x.re);
}
template <class R>
constexpr Complex<R> sign(Complex<R> x) {
  return x == Complex<R>() ? x : x / abs(x);
}
// The greater and the smaller by real part, then by imaginary part; NaN where either is NaN.
template <class R>
constexpr Complex<R> max(Complex<R> x, Complex<R> y) {
  return x != x || y.re < x.re || (y.re == x.re && y.im < x.im) ? x : y;
}
template <class R>
constexpr Complex<R> min(Complex<R> x, Complex<R> y) {
  return x != x || x.re < y.re || (x.re == y.re && x.im < y.im) ? x : y;
}
template <class R>
constexpr Complex<R> select(bool mask, Complex<R> x, Complex<R> y) {
  return mask ? x : y;
}
template <class G, class R>
constexpr Complex<R> unless_zero(G g, Complex<R> share) {
  return g == G(0) ? Complex<R>() : share;
}
template <class R>
constexpr R unless_zero(Complex<R> g, R share) {
  return g == Complex<R>() ? R(0) : share;
}

template <class R>
constexpr Complex<R> exp(Complex<R> x) {
  const R size = std::exp(x.re);
  if (x.im == R(0)) return {size, x.im};  // not infinity times the sine of 0
  return {size * std::cos(x.im), size * std::sin(x.im)};
}
// Near |x| = 1 the logarithm of the modulus is that of 1 + ((a - 1)(a + 1) + b^2), by the larger part a.
template <class R>
constexpr Complex<R> log(Complex<R> x) {
  const R p = std::abs(x.re), q = std::abs(x.im), a = p > q ? p : q, b = p > q ? q : p;
  const bool is_near = a > R(0.5) && a < R(1.5) && b < R(1.5);
  const R size = is_near ? R(0.5) * std::log1p((a - 1) * (a + 1) + b * b) : std::log(abs(x));
  return {size, arg(x)};
}
template <class R>
constexpr Complex<R> log10(Complex<R> x) {
  return log(x) * R(0.43429448190325182765);
}
// One part is sqrt((|x| + |re x|) / 2), the other im x over twice that.
template <class R>
constexpr Complex<R> sqrt(Complex<R> x) {
  if (x.re == R(0) && x.im == R(0)) return {R(0), x.im};
  if (std::isinf(x.im)) return {std::abs(x.im), x.im};
  const R part = std::sqrt(std::abs(x.re) / 2 + abs(x) / 2);
  const R other = std::isinf(part) ? R(0) : x.im / (2 * part);
  return x.re >= R(0) ? Complex<R>(part, std::isinf(part) ? std::copysign(R(0), x.im) : other)
                      : Complex<R>(std::abs(other), std::copysign(part, x.im));
}
template <class R>
constexpr Complex<R> rsqrt(Complex<R> x) {
  return Complex<R>(1) / sqrt(x);
}
template <class R>
constexpr Complex<R> pow(Complex<R> x, Complex<R> y) {
  if (x == Complex<R>()) return {};
  if (x.im == R(0) && x.re > R(0) && y.im == R(0)) return std::pow(x.re, y.re);
  return exp(y * log(x));
}

template <class R>
constexpr Complex<R> sinh(Complex<R> x) {
  if (x.im == R(0)) return {std::sinh(x.re), x.im};
  return {std::sinh(x.re) * std::cos(x.im), std::cosh(x.re) * std::sin(x.im)};
}
template <class R>
constexpr Complex<R> cosh(Complex<R> x) {
  if (x.im == R(0)) return {std::cosh(x.re), x.re * x.im};
  return {std::cosh(x.re) * std::cos(x.im), std::sinh(x.re) * std::sin(x.im)};
}
// Kahan, Branch Cuts for Complex Elementary Functions (1987).
template <class R>
constexpr Complex<R> tanh(Complex<R> x) {
  if (std::abs(x.re) > (sizeof(R) == 4 ? R(11) : R(22)))  // 1 to the last digit
    return {std::copysign(R(1), x.re), 4 * std::sin(x.im) * std::cos(x.im) * std::exp(-2 * std::abs(x.re))};
  const R t = std::tan(x.im), s = std::sinh(x.re), by = 1 + t * t, whole = 1 + by * s * s;
  return {by * std::sqrt(1 + s * s) * s / whole, t / whole};
}
template <class R>
constexpr Complex<R> sin(Complex<R> x) {
  return over_i(sinh(times_i(x)));
}
template <class R>
constexpr Complex<R> cos(Complex<R> x) {
  return cosh(times_i(x));
}
template <class R>
constexpr Complex<R> tan(Complex<R> x) {
  return over_i(tanh(times_i(x)));
}

// The inverse functions are Kahan's, too: 1 + x and 1 - x keep the sign of a zero imaginary part.
template <class R>
constexpr Complex<R> asin(Complex<R> x) {
  const Complex<R> p = sqrt(Complex<R>(1 - x.re, -x.im)), q = sqrt(Complex<R>(1 + x.re, x.im));
  return {std::atan2(x.re, (p * q).re), std::asinh((conj(p) * q).im)};
}
template <class R>
constexpr Complex<R> acos(Complex<R> x) {
  const Complex<R> p = sqrt(Complex<R>(1 - x.re, -x.im)), q = sqrt(Complex<R>(1 + x.re, x.im));
  return {2 * std::atan2(p.re, q.re), std::asinh((conj(q) * p).im)};
}
template <class R>
constexpr Complex<R> atanh(Complex<R> x) {
  const R a = std::abs(x.re), b = std::copysign(x.im, x.re < R(0) ? -x.im : x.im);
  const R re = R(0.25) * std::log1p(4 * a / ((1 - a) * (1 - a) + b * b));
  const R im = R(0.5) * std::atan2(2 * b, (1 - a) * (1 + a) - b * b);
  return x.re < R(0) ? Complex<R>(-re, -im) : Complex<R>(std::copysign(re, x.re), im);
}
template <class R>
constexpr Complex<R> acosh(Complex<R> x) {
  const Complex<R> p = sqrt(Complex<R>(x.re - 1, x.im)), q = sqrt(Complex<R>(x.re + 1, x.im));
  return {std::asinh((conj(p) * q).re), 2 * std::atan2(p.im, q.re)};
}
template <class R>
constexpr Complex<R> asinh(Complex<R> x) {
  return over_i(asin(times_i(x)));
}
template <class R>
constexpr Complex<R> atan(Complex<R> x) {
  return over_i(atanh(times_i(x)));
}

}  // namespace rules::numbers

template <class R>
inline constexpr bool is_complex_v<rules::numbers::Complex<R>> = true;
namespace detail {
template <class R>
struct Real<rules::numbers::Complex<R>> {
  using type = R;
};
}  // namespace detail
NAX_END
