#pragma once

#include <complex>
#include <string_view>

#include "nax/backend/cpu/fft.hpp"
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
NAX_BEGIN
namespace detail {

// The result's axes, and the lines of both.
template <class From, class To, class R>
Array<To> transform_lines(cpu::FftKind kind, bool inverse, const Array<From>& x, int axis, std::int64_t n,
                          std::int64_t places, double scale) {
  const Layout& layout = layout_of(x);
  const std::size_t at = static_cast<std::size_t>(layout.hidden() + axis);
  Frame frame = layout;
  frame.shape[at] = places;
  count_elements("fft", frame.shape);
  Array<To> result = typed<To>(allocate(dtype_of<To>, frame));
  const Dims& strides = layout_of(result).strides;
  cpu::FftLines lines;
  lines.kind = kind;
  lines.inverse = inverse;
  lines.n = n;
  lines.scale = scale;
  lines.from_axis = layout.strides[at];
  lines.to_axis = strides[at];
  for (std::size_t i = 0; i < frame.shape.size(); ++i) {
    if (i == at) continue;
    lines.others.push_back(frame.shape[i]);
    lines.from.push_back(layout.strides[i]);
    lines.to.push_back(strides[i]);
  }
  if (frame.size() > 0) cpu::fft<R>(lines, elements<const From>(x, transforms_handled), elements<To>(result));
  check_result("fft", result, {&x});
  return result;
}

template <class R>
using ComplexArray = Array<std::complex<R>>;

template <class R>
ComplexArray<R> complex_lines(const ComplexArray<R>& x, int axis, bool inverse, double scale) {
  using C = std::complex<R>;
  const std::int64_t n = x.shape(axis);
  const auto again = [=](const ComplexArray<R>& g) { return complex_lines<R>(g, axis, inverse, scale); };
  return record(transform_lines<C, C, R>(cpu::FftKind::complex, inverse, x, axis, n, n, scale),
                wrt(x, again, again));
}

// x times `middle` along an axis, but for the ends that have no partner: 0, and n / 2 for an even n.
template <class R>
ComplexArray<R> scale_middle(const ComplexArray<R>& x, int axis, std::int64_t n, R middle) {
  const std::int64_t places = n / 2 + 1;
  Dims shape(static_cast<std::size_t>(x.ndim()), 1);
  shape[static_cast<std::size_t>(axis)] = places;
  Array<R> factors = typed<R>(allocate_on_host(dtype_of<R>, Frame{shape, {}}));
  R* to = elements<R>(factors);
  for (std::int64_t k = 0; k < places; ++k) to[k] = k == 0 || 2 * k == n ? R(1) : middle;
  return evaluate(make_expr<rules::multiply>(x, factors));
}
template <class R>
ComplexArray<R> conjugated(const ComplexArray<R>& x) {
  return evaluate(make_expr<rules::conjugate>(x));
}

// n numbers from the first n / 2 + 1 of a Hermitian transform: sum over all n of x[k] e^(2 pi i j k / n).
template <class R>
Array<R> lines_to_real(const ComplexArray<R>& x, int axis, std::int64_t n, double scale);

// The first n / 2 + 1 of the transform of n real numbers.
template <class R>
ComplexArray<R> lines_from_real(const Array<R>& x, int axis, double scale) {
  const std::int64_t n = x.shape(axis);
  return record(
      transform_lines<R, std::complex<R>, R>(cpu::FftKind::to_complex, false, x, axis, n, n / 2 + 1, scale),
      wrt(
          x,
          [=](const ComplexArray<R>& g) {
            return lines_to_real<R>(scale_middle<R>(conjugated(g), axis, n, R(0.5)), axis, n, scale);
          },
          [=](const Array<R>& t) { return lines_from_real<R>(t, axis, scale); }));
}
template <class R>
Array<R> lines_to_real(const ComplexArray<R>& x, int axis, std::int64_t n, double scale) {
  return record(transform_lines<std::complex<R>, R, R>(cpu::FftKind::to_real, true, x, axis, n, n, scale),
                wrt(
                    x,
                    [=](const Array<R>& g) {
                      return scale_middle<R>(conjugated(lines_from_real<R>(g, axis, scale)), axis, n, R(2));
                    },
                    [=](const ComplexArray<R>& t) { return lines_to_real<R>(t, axis, n, scale); }));
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
  return update(filled_on_host<T>(function, shape, T(0)), s, x, Update::set);
}

// Operands as transforms take them: integers and half types as float.
template <class T>
using fft_real_t = std::conditional_t<std::is_same_v<real_t<T>, double>, double, float>;

template <class X>
auto complex_operand(const char* function, const X& x) {
  using R = fft_real_t<typename X::value_type>;
  const ComplexArray<R> a = as_type<std::complex<R>>(x);
  check_operand(function, a);
  need_host(function, a);
  return a;
}
template <class X>
auto real_operand(const char* function, const X& x) {
  using T = typename X::value_type;
  static_assert(!is_complex_v<T>, "fft: rfft and ihfft take real numbers; fft takes complex ones");
  const Array<fft_real_t<T>> a = as_type<fft_real_t<T>>(x);
  check_operand(function, a);
  need_host(function, a);
  return a;
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/fft/lines-inl.hpp"
#endif
