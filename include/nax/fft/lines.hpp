#pragma once

#include <complex>
#include <string_view>

#include "nax/backend/cpu/fft/fft.hpp"
#include "nax/expr/evaluation/zeros.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/manipulation/split.hpp"
#include "nax/numpy/padding/pad.hpp"
#include "nax/numpy/reductions/reduce.hpp"

// Fourier transforms along one axis, as primitives. All are linear, so tangents are transformed like values;
// the transposes are again among them, in JAX's convention for complex numbers (the pairing is the real part
// of sum(g x), without a conjugate):
//
//   complex to complex   the matrix e^(-+2 pi i j k / n) is symmetric: its own transpose
//   real to complex      real(sum over k of g[k] e^(-2 pi i j k / n)): the transform to real numbers of
//   conj(g),
//                        in which every k counts twice but the ends
//   complex to real      the other way round
//
// So those of half transforms close under differentiation with the operations' `middle` and `conjugate`.
NAX_BEGIN
namespace detail {

// Half a transform, the result or the operand, is conjugated, and multiplied by a number but for the
// ends that have no partner.
struct HalfLines {
  double middle = 1;
  bool conjugate = false;
};

// n complex numbers to n.
NAX_ENGINE ArrayBase complex_lines(const ArrayBase& x, int axis, bool inverse, double scale);
// The first n / 2 + 1 of the transform of n real numbers.
NAX_ENGINE ArrayBase lines_from_real(const ArrayBase& x, int axis, double scale, const HalfLines& half = {});
// n numbers from the first n / 2 + 1 of a Hermitian transform: sum over all n of x[k] e^(2 pi i j k / n).
NAX_ENGINE ArrayBase lines_to_real(const ArrayBase& x, int axis, std::int64_t n, double scale,
                                   const HalfLines& half = {});

template <class R>
using ComplexArray = Array<std::complex<R>>;

template <class R>
ComplexArray<R> complex_lines(const ComplexArray<R>& x, int axis, bool inverse, double scale) {
  cpu::provide<cpu::FftKernel, R>();
  return typed<std::complex<R>>(complex_lines(static_cast<const ArrayBase&>(x), axis, inverse, scale));
}
template <class R>
ComplexArray<R> lines_from_real(const Array<R>& x, int axis, double scale, bool conjugate = false) {
  cpu::provide<cpu::FftKernel, R>();
  return typed<std::complex<R>>(
      lines_from_real(static_cast<const ArrayBase&>(x), axis, scale, HalfLines{1, conjugate}));
}
template <class R>
Array<R> lines_to_real(const ComplexArray<R>& x, int axis, std::int64_t n, double scale,
                       bool conjugate = false) {
  cpu::provide<cpu::FftKernel, R>();
  return typed<R>(lines_to_real(static_cast<const ArrayBase&>(x), axis, n, scale, HalfLines{1, conjugate}));
}

// The factor of a transform of length n. Throws ValueError for a norm that has no meaning.
NAX_ENGINE double norm_scale(const char* function, std::string_view norm, bool inverse, std::int64_t n);

NAX_ENGINE void check_length(const char* function, std::int64_t n);

// n places along an axis: the first ones, or zeros behind.
template <class T>
Array<T> with_places(const char* function, const Array<T>& x, int axis, std::int64_t n) {
  const std::int64_t have = x.shape(axis);
  if (n == have) return x;
  if (n < have) return narrow(x, axis, 0, n);
  Dims shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = n;
  count_elements(function, shape);
  Selection s;
  for (int a = 0; a < x.ndim(); ++a) s.append(0, 1, x.shape(a), true);
  return update(zeros_over<T>(Frame{shape, {}}, device_for(function, x)), s, x, Update::set);
}

// Operands as transforms take them: integers and half types as float.
template <class T>
using fft_real_t = std::conditional_t<std::is_same_v<real_t<T>, double>, double, float>;

template <class X>
auto complex_operand(const char* function, const X& x) {
  using R = fft_real_t<typename X::value_type>;
  const ComplexArray<R> a = as_type<std::complex<R>>(x);
  check_operand(function, a);
  return a;
}
template <class X>
auto real_operand(const char* function, const X& x) {
  using T = typename X::value_type;
  static_assert(!is_complex_v<T>, "fft: rfft and ihfft take real numbers; fft takes complex ones");
  const Array<fft_real_t<T>> a = as_type<fft_real_t<T>>(x);
  check_operand(function, a);
  return a;
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_KERNELS)
#include "nax/backend/cpu/fft/fft_kernels.hpp"
#endif
#if !defined(NAX_CALLS_LIBRARY)
#include "nax/fft/lines-inl.hpp"
#endif
