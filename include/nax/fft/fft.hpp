#pragma once

#include <optional>

#include "nax/fft/lines.hpp"

// Transforms along one axis, with NumPy's names and options:
//
//   n     how many places the transform has (of the result for irfft and hfft): the operand is cut off, or
//         zeros are appended. As many as the operand has; irfft and hfft: 2 (m - 1) of m
//   axis  the last one, unless another is named
//   norm  "backward": the inverse divides by n. "forward": the other one does. "ortho": both, by sqrt(n)
//
// float and narrower types give complex<float>, double gives complex<double>. Any n is quick: one with a
// large prime factor takes four times as long as its neighbours. Throws ValueError for n < 1 and for another
// norm, IndexError for an axis that is not there. Leading axes, vmap and every derivative: see lines.hpp.
NAX_BEGIN

struct FftOptions {
  std::optional<std::int64_t> n = {};  // places: cut off or filled with zeros; else as many as there are
  std::int64_t axis = -1;
  std::string_view norm = "backward";  // or "ortho", "forward": which direction divides by n
};

namespace detail {

template <class X>
auto fft_of(const char* function, const X& x_, const FftOptions& options, bool inverse) {
  const auto x = complex_operand(function, x_);
  using R = real_t<typename decltype(x)::value_type>;
  const int axis = normalize_axis(function, options.axis, x.ndim());
  const std::int64_t n = options.n.value_or(x.shape(axis));
  check_length(function, n);
  const double scale = norm_scale(function, options.norm, inverse, n);
  return complex_lines<R>(with_places(function, x, axis, n), axis, inverse, scale);
}

// `inverse` says for which direction the norm counts.
template <class X>
auto rfft_of(const char* function, const X& x_, const FftOptions& options, bool inverse,
             bool conjugate = false) {
  const auto x = real_operand(function, x_);
  using R = typename decltype(x)::value_type;
  const int axis = normalize_axis(function, options.axis, x.ndim());
  const std::int64_t n = options.n.value_or(x.shape(axis));
  check_length(function, n);
  const double scale = norm_scale(function, options.norm, inverse, n);
  return lines_from_real<R>(with_places(function, x, axis, n), axis, scale, conjugate);
}
template <class R>
Array<R> irfft_of(const char* function, const ComplexArray<R>& x, const FftOptions& options, bool inverse,
                  bool conjugate = false) {
  const int axis = normalize_axis(function, options.axis, x.ndim());
  const std::int64_t n = options.n.value_or(2 * (x.shape(axis) - 1));
  check_length(function, n);
  const double scale = norm_scale(function, options.norm, inverse, n);
  return lines_to_real<R>(with_places(function, x, axis, n / 2 + 1), axis, n, scale, conjugate);
}

}  // namespace detail

namespace fft {

// y[k] = sum over j of x[j] e^(-2 pi i j k / n). The result has the shape of x with extent n along `axis`.
// Throws IndexError if `axis` is out of bounds, and ValueError if there are no points or `norm` is unknown.
template <detail::ArrayLike X>
auto fft(const X& x, const FftOptions& options = {}) {
  return detail::fft_of("fft", x, options, false);
}
// Its inverse: x[j] = 1 / n sum over k of y[k] e^(2 pi i j k / n). The result has the shape of x with extent
// n along `axis`. Throws IndexError if `axis` is out of bounds, and ValueError if there are no points or
// `norm` is unknown.
template <detail::ArrayLike X>
auto ifft(const X& x, const FftOptions& options = {}) {
  return detail::fft_of("ifft", x, options, true);
}

// The transform of real numbers: its first n / 2 + 1 places, the others being their conjugates. The result
// has the shape of x with extent n / 2 + 1 along `axis`. Throws IndexError if `axis` is out of bounds, and
// ValueError if there are no points or `norm` is unknown.
template <detail::ArrayLike X>
auto rfft(const X& x, const FftOptions& options = {}) {
  return detail::rfft_of("rfft", x, options, false);
}
// Its inverse. The imaginary parts of the ends do not count. The result has the shape of x with extent n
// along `axis`, which is 2 (m - 1) for m places unless given. Throws IndexError if `axis` is out of bounds,
// and ValueError if there are no points or `norm` is unknown.
template <detail::ArrayLike X>
auto irfft(const X& x_, const FftOptions& options = {}) {
  const auto x = detail::complex_operand("irfft", x_);
  return detail::irfft_of("irfft", x, options, true);
}

// The transform, real, of a signal that is Hermitian, given its first n / 2 + 1 places; and its inverse. The
// result has the shape of x with extent n along `axis`, which is 2 (m - 1) for m places unless given. Throws
// IndexError if `axis` is out of bounds, and ValueError if there are no points or `norm` is unknown.
template <detail::ArrayLike X>
auto hfft(const X& x_, const FftOptions& options = {}) {
  const auto x = detail::complex_operand("hfft", x_);
  return detail::irfft_of("hfft", x, options, false, true);
}
// Its inverse: the first n / 2 + 1 places of a signal whose transform is real. The result has the shape of x
// with extent n / 2 + 1 along `axis`. Throws IndexError if `axis` is out of bounds, and ValueError if there
// are no points or `norm` is unknown.
template <detail::ArrayLike X>
auto ihfft(const X& x, const FftOptions& options = {}) {
  return detail::rfft_of("ihfft", x, options, true, true);
}

}  // namespace fft
NAX_END
