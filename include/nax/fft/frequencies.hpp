#pragma once

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"

// Frequencies of the places of a transform.
NAX_BEGIN

struct FftFreqOptions {
  double d = 1;  // the distance between samples
};
struct FftShiftOptions {
  Axis axes = {};  // all of them
};

namespace detail {
NAX_ENGINE void check_frequencies(const char* function, std::int64_t n, double d);
template <class X, class By>
auto shifted(const char* function, const X& x_, const FftShiftOptions& options, const By& by) {
  const auto x = as_array(x_);
  const Dims axes = normalize_axes(function, options.axes, x.ndim());
  auto y = x;
  for (const std::int64_t axis : axes) y = roll(y, by(x.shape(axis)), {.axis = axis});
  return y;
}
}  // namespace detail

namespace fft {

// The frequencies of fft's n places, in cycles a unit of d: 0, 1, ..., then the negative ones, over n d. The
// result has shape (n,). Throws ValueError if `n` is below 1 or `d` is 0.
template <Dtype T = float>
Array<T> fftfreq(std::int64_t n, const FftFreqOptions& options = {}) {
  static_assert(is_floating_v<T>, "fftfreq: the type must be floating");
  detail::check_frequencies("fftfreq", n, options.d);
  return detail::generated<T>("fftfreq", n, [=](std::int64_t k) {
    const double at = static_cast<double>(k < (n + 1) / 2 ? k : k - n);
    return static_cast<T>(at / (static_cast<double>(n) * options.d));
  });
}
// The frequencies of rfft's n / 2 + 1 places. The result has shape (n / 2 + 1,). Throws ValueError if `n` is
// below 1 or `d` is 0.
template <Dtype T = float>
Array<T> rfftfreq(std::int64_t n, const FftFreqOptions& options = {}) {
  static_assert(is_floating_v<T>, "rfftfreq: the type must be floating");
  detail::check_frequencies("rfftfreq", n, options.d);
  return detail::generated<T>("rfftfreq", n / 2 + 1, [=](std::int64_t k) {
    return static_cast<T>(static_cast<double>(k) / (static_cast<double>(n) * options.d));
  });
}

// The frequency 0 moved to the middle of the axes. The result has the shape of x. Throws IndexError if an
// axis is out of bounds.
template <detail::ArrayLike X>
auto fftshift(const X& x, const FftShiftOptions& options = {}) {
  return detail::shifted("fftshift", x, options, [](std::int64_t n) { return n / 2; });
}
// And back. The result has the shape of x. Throws IndexError if an axis is out of bounds.
template <detail::ArrayLike X>
auto ifftshift(const X& x, const FftShiftOptions& options = {}) {
  return detail::shifted("ifftshift", x, options, [](std::int64_t n) { return -(n / 2); });
}

}  // namespace fft
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void check_frequencies(const char* function, std::int64_t n, double d) {
  if (n < 1) raise<ValueError>({function, ": n must be at least 1, got ", n});
  if (d == 0) raise<ValueError>({function, ": the sample spacing d must not be 0"});
}

}  // namespace detail
NAX_END
#endif
