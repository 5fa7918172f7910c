#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "nax/rules/unit_interval.hpp"

// Spatial axes of another extent, channels last: pooling to a size, enlarging, channels that become pixels.
NAX_BEGIN
namespace detail {

// The first of the axes that `count` numbers are for, before the channels, of an array (N, spatial..., C).
NAX_ENGINE int first_spatial(const char* function, const ArrayBase& x, const Shape& numbers,
                             const char* what);

// Numbers as factors along an axis of x, or along several from that one on.
template <class T>
Array<T> along_axes(const std::vector<T>& numbers, const Shape& extents, const ArrayBase& x, int axis) {
  Shape shape = extents;
  while (static_cast<int>(shape.size()) < x.ndim() - axis) shape.push_back(1);
  return asarray(numbers, shape);
}

// The windows of an axis that adaptive pooling takes: for element o of `out` from o in / out, rounded down,
// to (o + 1) in / out, rounded up.
class AdaptiveWindows {
 public:
  NAX_ENGINE AdaptiveWindows(std::int64_t in, std::int64_t out);

  // The elements of the windows, (most, out) in the place of the axis: `rest` behind the end of shorter ones.
  template <class T>
  Array<T> of(const Array<T>& x, int axis, T rest) const {
    if (in_ % out_ == 0) {  // side by side
      Shape split = x.shape();
      split[static_cast<std::size_t>(axis)] = in_ / out_;
      split.insert(static_cast<std::size_t>(axis), out_);
      return swapaxes(x.reshape(split), axis, axis + 1);
    }
    const Shape shape{most_, out_};
    const Array<T> all = take(x, asarray(places_, shape), {.axis = axis});
    return where(along_axes(own_, shape, all, axis) != std::uint8_t{0}, all, rest);
  }
  const std::vector<float>& counts() const { return counts_; }  // of elements, window by window

 private:
  std::int64_t in_, out_, most_ = 1;
  std::vector<std::int64_t> places_;  // (most, out): shorter windows repeat their last element
  std::vector<std::uint8_t> own_;     // (most, out): 0 where one is repeated
  std::vector<float> counts_;
};

}  // namespace detail

namespace nn {

// The means of windows that make spatial axes of this size, as PyTorch divides them; floating types. x (N,
// spatial..., C) gives (N, size..., C). Throws ShapeError if x has too few axes, and ValueError for sizes
// below 1.
template <class T>
Array<T> adaptive_avg_pool(const Array<T>& x, const Shape& size) {
  const int first = nax::detail::first_spatial("adaptive_avg_pool", x, size, "the size");
  const nax::detail::ComputeOn beside_x(x);
  Array<T> y = x;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const int axis = first + static_cast<int>(i);
    const nax::detail::AdaptiveWindows windows(x.shape(axis), size[i]);
    using C = nax::detail::compute_t<T>;  // sums of half types need its range
    const Array<C> total = sum(windows.of(y.template astype<C>(), axis, C(0)), {.axis = axis});
    y = Array<C>(total /
                 nax::detail::along_axes(windows.counts(), Shape{size[i]}, total, axis).template astype<C>())
            .template astype<T>();
  }
  return y;
}
// The largest elements of windows that make spatial axes of this size, as PyTorch divides them; real types. x
// (N, spatial..., C) gives (N, size..., C). Throws ShapeError if x has too few axes, and ValueError for sizes
// below 1.
template <class T>
Array<T> adaptive_max_pool(const Array<T>& x, const Shape& size) {
  const int first = nax::detail::first_spatial("adaptive_max_pool", x, size, "the size");
  const nax::detail::ComputeOn beside_x(x);
  Array<T> y = x;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const int axis = first + static_cast<int>(i);
    constexpr T least = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                             : std::numeric_limits<T>::lowest();
    y = max(nax::detail::AdaptiveWindows(x.shape(axis), size[i]).of(y, axis, least), {.axis = axis});
  }
  return y;
}

struct UpsampleOptions {
  std::string method = "nearest";  // or "linear", along each axis: bilinear for two
  bool align_corners = false;      // the first and last elements stay where they are; for "linear"
  friend bool operator==(const UpsampleOptions&, const UpsampleOptions&) = default;
};
// x (N, spatial..., C) enlarged along its spatial axes by whole factors: (N, spatial * factors..., C), as
// PyTorch's Upsample; floating types. Throws ShapeError if x has too few axes, and ValueError for factors
// below 1 and an unknown method.
template <class T>
Array<T> upsample(const Array<T>& x, const Shape& factors, const UpsampleOptions& options = {}) {
  const int first = nax::detail::first_spatial("upsample", x, factors, "the factors");
  const bool linear = options.method == "linear";
  if (!linear && options.method != "nearest")
    raise<ValueError>({"upsample: method must be 'nearest' or 'linear', not '", options.method, "'"});
  const nax::detail::ComputeOn beside_x(x);
  Array<T> y = x;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const int axis = first + static_cast<int>(i);
    const std::int64_t in = x.shape(axis), factor = factors[i], out = in * factor;
    if (!linear) {
      std::vector<std::int64_t> places;
      for (std::int64_t o = 0; o < out; ++o) places.push_back(o / factor);
      y = take(y, asarray(places), {.axis = axis});
      continue;
    }
    std::vector<std::int64_t> below, above;
    std::vector<double> shares;  // of those above
    for (std::int64_t o = 0; o < out; ++o) {
      const double at =
          options.align_corners
              ? static_cast<double>(o * (in - 1)) / static_cast<double>(std::max<std::int64_t>(out - 1, 1))
              : std::max((static_cast<double>(o) + 0.5) / static_cast<double>(factor) - 0.5, 0.0);
      below.push_back(std::min(static_cast<std::int64_t>(at), in - 1));
      above.push_back(std::min(below.back() + 1, in - 1));
      shares.push_back(at - static_cast<double>(below.back()));
    }
    const Array<T> share = nax::detail::along_axes(shares, Shape{out}, y, axis).template astype<T>(),
                   near = take(y, asarray(below), {.axis = axis}),
                   far = take(y, asarray(above), {.axis = axis});
    y = where(share == T(0), near, near * (T(1) - share) + far * share);
  }
  return y;
}

// Channels become pixels: x (..., H, W, C r r) gives (..., H r, W r, C). Channel c r r + i r + j is the pixel
// (i, j) of channel c, as in PyTorch. Throws ShapeError where r r does not divide the channels, and
// ValueError for r below 1.
template <class T>
Array<T> pixel_shuffle(const Array<T>& x, std::int64_t r) {
  nax::detail::check_operand("pixel_shuffle", x);
  if (r < 1) raise<ValueError>({"pixel_shuffle: the factor must be at least 1, got ", r});
  if (x.ndim() < 3 || x.shape(-1) % (r * r) != 0)
    raise<ShapeError>({"pixel_shuffle: x must be (..., H, W, C r r) with r = ", r, ", shape ", x.shape()});
  const std::int64_t h = x.shape(-3), w = x.shape(-2), c = x.shape(-1) / (r * r);
  Shape batch = x.shape();
  for (int i = 0; i < 3; ++i) batch.pop_back();
  Shape whole = batch;
  std::int64_t n = 1;
  for (const std::int64_t extent : batch) n *= extent;
  whole.push_back(h * r), whole.push_back(w * r), whole.push_back(c);
  return x.reshape({n, h, w, c, r, r}).transpose({0, 1, 4, 2, 5, 3}).reshape(whole);
}
// Pixels become channels, the reverse of pixel_shuffle: x (..., H r, W r, C) gives (..., H, W, C r r). Throws
// ShapeError where r does not divide height and width, and ValueError for r below 1.
template <class T>
Array<T> pixel_unshuffle(const Array<T>& x, std::int64_t r) {
  nax::detail::check_operand("pixel_unshuffle", x);
  if (r < 1) raise<ValueError>({"pixel_unshuffle: the factor must be at least 1, got ", r});
  if (x.ndim() < 3 || x.shape(-3) % r != 0 || x.shape(-2) % r != 0)
    raise<ShapeError>({"pixel_unshuffle: x must be (..., H r, W r, C) with r = ", r, ", shape ", x.shape()});
  const std::int64_t h = x.shape(-3) / r, w = x.shape(-2) / r, c = x.shape(-1);
  Shape batch = x.shape();
  for (int i = 0; i < 3; ++i) batch.pop_back();
  Shape whole = batch;
  std::int64_t n = 1;
  for (const std::int64_t extent : batch) n *= extent;
  whole.push_back(h), whole.push_back(w), whole.push_back(c * r * r);
  return x.reshape({n, h, r, w, r, c}).transpose({0, 1, 3, 5, 2, 4}).reshape(whole);
}

}  // namespace nn
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE AdaptiveWindows::AdaptiveWindows(std::int64_t in, std::int64_t out) : in_(in), out_(out) {
  const auto begin = [&](std::int64_t o) { return o * in / out; };
  const auto end = [&](std::int64_t o) { return ((o + 1) * in + out - 1) / out; };
  for (std::int64_t o = 0; o < out; ++o) {
    counts_.push_back(static_cast<float>(end(o) - begin(o)));
    most_ = std::max(most_, end(o) - begin(o));
  }
  for (std::int64_t k = 0; k < most_; ++k)
    for (std::int64_t o = 0; o < out; ++o) {
      places_.push_back(std::min(begin(o) + k, end(o) - 1));
      own_.push_back(begin(o) + k < end(o));
    }
}

NAX_ENGINE int first_spatial(const char* function, const ArrayBase& x, const Shape& numbers,
                             const char* what) {
  check_operand(function, x);
  if (numbers.empty() || x.ndim() < static_cast<int>(numbers.size()) + 1)
    raise<ShapeError>({function, ": an array of shape ", x.shape(), " has no axes for ", what, " ", numbers,
                       " before its last axis, the channels"});
  const int first = x.ndim() - 1 - static_cast<int>(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 1) raise<ValueError>({function, ": ", what, " must be at least 1: ", numbers});
    if (x.shape(first + static_cast<int>(i)) < 1)
      raise<ShapeError>({function, ": a spatial axis has no elements, shape ", x.shape()});
  }
  return first;
}

}  // namespace detail
NAX_END
#endif
