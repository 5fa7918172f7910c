#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"

// Spatial axes of another extent, channels last: pooling to a size, enlarging, channels that become pixels.
NAX_BEGIN
namespace detail {

// A matrix (out, in), row by row.
struct AxisMatrix {
  std::int64_t in = 0, out = 0;
  std::vector<float> rows = {};

  AxisMatrix(std::int64_t i, std::int64_t o) : in(i), out(o), rows(static_cast<std::size_t>(i * o), 0.f) {}
  float& at(std::int64_t o, std::int64_t i) { return rows[static_cast<std::size_t>(o * in + i)]; }
};
// The product of the matrix with each line along an axis.
template <class T>
Array<T> along_axis(const AxisMatrix& m, const Array<T>& x, int axis) {
  const Array<T> rows = asarray(m.rows, Shape{m.out, m.in}).template astype<T>();
  return Array<T>(moveaxis(tensordot(rows, x, {.axes = TensordotAxes(1, axis)}), 0, axis));
}

// The first of the axes that `count` numbers are for, before the channels, of an array (N, spatial..., C).
NAX_ENGINE int first_spatial(const char* function, const ArrayBase& x, const Shape& numbers,
                             const char* what);

// The elements that make element o of `out`: from o in / out, rounded down, to (o + 1) in / out, rounded up.
inline std::pair<std::int64_t, std::int64_t> adaptive_window(std::int64_t o, std::int64_t in,
                                                             std::int64_t out) {
  return {o * in / out, ((o + 1) * in + out - 1) / out};
}

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
    nax::detail::AxisMatrix m(x.shape(axis), size[i]);
    for (std::int64_t o = 0; o < m.out; ++o) {
      const auto [begin, end] = nax::detail::adaptive_window(o, m.in, m.out);
      for (std::int64_t j = begin; j < end; ++j) m.at(o, j) = 1.f / static_cast<float>(end - begin);
    }
    y = nax::detail::along_axis(m, y, axis);
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
    const std::int64_t in = x.shape(axis), out = size[i];
    std::int64_t most = 1;
    for (std::int64_t o = 0; o < out; ++o) {
      const auto [begin, end] = nax::detail::adaptive_window(o, in, out);
      most = std::max(most, end - begin);
    }
    std::vector<std::int64_t> places;  // (most, out): shorter windows repeat their last element
    for (std::int64_t k = 0; k < most; ++k)
      for (std::int64_t o = 0; o < out; ++o) {
        const auto [begin, end] = nax::detail::adaptive_window(o, in, out);
        places.push_back(std::min(begin + k, end - 1));
      }
    y = max(take(y, asarray(places, Shape{most, out}), {.axis = axis}), {.axis = axis});
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
    nax::detail::AxisMatrix m(in, out);
    for (std::int64_t o = 0; o < out; ++o) {
      const double at =
          options.align_corners
              ? static_cast<double>(o * (in - 1)) / static_cast<double>(std::max<std::int64_t>(out - 1, 1))
              : std::max((static_cast<double>(o) + 0.5) / static_cast<double>(factor) - 0.5, 0.0);
      const std::int64_t below = std::min(static_cast<std::int64_t>(at), in - 1);
      const float share = static_cast<float>(at - static_cast<double>(below));
      m.at(o, below) += 1 - share;
      m.at(o, std::min(below + 1, in - 1)) += share;
    }
    y = nax::detail::along_axis(m, y, axis);
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
