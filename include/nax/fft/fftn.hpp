#pragma once

#include "nax/fft/fft.hpp"

// Transforms along several axes: one after another.
NAX_BEGIN

// s: the number of places on each of `axes`, -1 for as many as there are; the last entry is that of the
// result for irfftn. Without axes they are all of the operand's, or as many of the last as s has entries.
// Throws ValueError where s and axes differ in length or an axis is named twice, and what fft throws.
struct FftnOptions {
  Shape s = {};    // places on each of the axes
  Axis axes = {};  // all, or as many of the last as s has
  std::string_view norm = "backward";
};
// Options of transforms over the last two axes.
struct Fft2Options {
  Shape s = {};  // places on each of the axes
  Axis axes = {-2, -1};
  std::string_view norm = "backward";
};

namespace detail {

struct FftAxes {
  Dims axes, places;
};
// last_real: the last axis holds n / 2 + 1 of n places.
NAX_ENGINE FftAxes fft_axes(const char* function, const Shape& shape, const Shape& s, const Axis& axis,
                            bool last_real);

template <class R>
ComplexArray<R> complex_axes(const char* function, ComplexArray<R> x, const FftAxes& along, std::size_t count,
                             bool inverse, std::string_view norm) {
  for (std::size_t i = count; i-- > 0;) {
    const int axis = static_cast<int>(along.axes[i]);
    const double scale = norm_scale(function, norm, inverse, along.places[i]);
    x = complex_lines<R>(with_places(function, x, axis, along.places[i]), axis, inverse, scale);
  }
  return x;
}

template <class X>
auto fftn_of(const char* function, const X& x_, const Shape& s, const Axis& axes, std::string_view norm,
             bool inverse) {
  const auto x = complex_operand(function, x_);
  using R = real_t<typename decltype(x)::value_type>;
  norm_scale(function, norm, inverse, 1);
  const FftAxes along = fft_axes(function, x.shape(), s, axes, false);
  return complex_axes<R>(function, x, along, along.axes.size(), inverse, norm);
}
template <class X>
auto rfftn_of(const char* function, const X& x_, const Shape& s, const Axis& axes, std::string_view norm) {
  const auto x = real_operand(function, x_);
  using R = typename decltype(x)::value_type;
  const FftAxes along = fft_axes(function, x.shape(), s, axes, false);
  if (along.axes.empty()) raise<ValueError>({function, ": at least 1 axis must be transformed"});
  const std::size_t last = along.axes.size() - 1;
  const int axis = static_cast<int>(along.axes[last]);
  const double scale = norm_scale(function, norm, false, along.places[last]);
  return complex_axes<R>(function,
                         lines_from_real<R>(with_places(function, x, axis, along.places[last]), axis, scale),
                         along, last, false, norm);
}
template <class X>
auto irfftn_of(const char* function, const X& x_, const Shape& s, const Axis& axes, std::string_view norm) {
  auto x = complex_operand(function, x_);
  using R = real_t<typename decltype(x)::value_type>;
  const FftAxes along = fft_axes(function, x.shape(), s, axes, true);
  const std::size_t last = along.axes.size() - 1;
  const int axis = static_cast<int>(along.axes[last]);
  const std::int64_t n = along.places[last];
  const double scale = norm_scale(function, norm, true, n);
  x = complex_axes<R>(function, with_places(function, x, axis, n / 2 + 1), along, last, true, norm);
  return lines_to_real<R>(x, axis, n, scale);
}

}  // namespace detail

namespace fft {

// fft along several axes. The result has the shape of x with the extents s along the axes. Throws IndexError
// if an axis is out of bounds, and ValueError if `s` and the axes differ in number or `norm` is unknown.
template <detail::ArrayLike X>
auto fftn(const X& x, const FftnOptions& options = {}) {
  return detail::fftn_of("fftn", x, options.s, options.axes, options.norm, false);
}
// ifft along several axes: the inverse of fftn. The result has the shape of x with the extents s along the
// axes. Throws IndexError if an axis is out of bounds, and ValueError if `s` and the axes differ in number or
// `norm` is unknown.
template <detail::ArrayLike X>
auto ifftn(const X& x, const FftnOptions& options = {}) {
  return detail::fftn_of("ifftn", x, options.s, options.axes, options.norm, true);
}
// fftn of real numbers: rfft along the last of the axes, fft along the others. The result has the shape of x
// with the extents s along the axes, n / 2 + 1 for n along the last of them. Throws IndexError if an axis is
// out of bounds, and ValueError if `s` and the axes differ in number, there is no axis or `norm` is unknown.
template <detail::ArrayLike X>
auto rfftn(const X& x, const FftnOptions& options = {}) {
  return detail::rfftn_of("rfftn", x, options.s, options.axes, options.norm);
}
// Its inverse, real: irfft along the last of the axes, ifft along the others. The result has the shape of x
// with the extents s along the axes; without s the last of them is 2 (m - 1) for m places. Throws IndexError
// if an axis is out of bounds, and ValueError if `s` and the axes differ in number, there is no axis or
// `norm` is unknown.
template <detail::ArrayLike X>
auto irfftn(const X& x, const FftnOptions& options = {}) {
  return detail::irfftn_of("irfftn", x, options.s, options.axes, options.norm);
}

// fftn over the last two axes. The result has the shape of x with the extents s along these axes. Throws
// IndexError if an axis is out of bounds, and ValueError if `norm` is unknown.
template <detail::ArrayLike X>
auto fft2(const X& x, const Fft2Options& options = {}) {
  return detail::fftn_of("fft2", x, options.s, options.axes, options.norm, false);
}
// ifftn over the last two axes. The result has the shape of x with the extents s along these axes. Throws
// IndexError if an axis is out of bounds, and ValueError if `norm` is unknown.
template <detail::ArrayLike X>
auto ifft2(const X& x, const Fft2Options& options = {}) {
  return detail::fftn_of("ifft2", x, options.s, options.axes, options.norm, true);
}
// rfftn over the last two axes. The result has the shape of x with the extents s along these axes, n / 2 + 1
// for n along the last. Throws IndexError if an axis is out of bounds, and ValueError if `norm` is unknown.
template <detail::ArrayLike X>
auto rfft2(const X& x, const Fft2Options& options = {}) {
  return detail::rfftn_of("rfft2", x, options.s, options.axes, options.norm);
}
// irfftn over the last two axes. The result has the shape of x with the extents s along these axes; without s
// the last of them is 2 (m - 1) for m places. Throws IndexError if an axis is out of bounds, and ValueError
// if `norm` is unknown.
template <detail::ArrayLike X>
auto irfft2(const X& x, const Fft2Options& options = {}) {
  return detail::irfftn_of("irfft2", x, options.s, options.axes, options.norm);
}

}  // namespace fft
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE FftAxes fft_axes(const char* function, const Shape& shape, const Shape& s, const Axis& axis,
                            bool last_real) {
  const int ndim = static_cast<int>(shape.size());
  FftAxes out;
  Dims named = axis.list();
  if (!axis.given() && !s.empty())
    for (std::size_t i = 0; i < s.size(); ++i)
      named.push_back(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(s.size()));
  out.axes = axis.given() || !s.empty() ? normalize_axes(function, named, ndim)
                                        : normalize_axes(function, Axis(), ndim);
  if (!s.empty() && s.size() != out.axes.size())
    raise<ValueError>({function, ": shape and axes have different lengths: s ", to_string(s), ", axes ",
                       to_string(out.axes)});
  for (std::size_t i = 0; i < out.axes.size(); ++i) {
    const std::int64_t have = shape[static_cast<std::size_t>(out.axes[i])];
    const bool halved = last_real && i + 1 == out.axes.size();
    std::int64_t n = s.empty() || s[i] == -1 ? (halved ? 2 * (have - 1) : have) : s[i];
    check_length(function, n);
    out.places.push_back(n);
  }
  if (last_real && out.axes.empty()) raise<ValueError>({function, ": at least 1 axis must be transformed"});
  return out;
}

}  // namespace detail
NAX_END
#endif
