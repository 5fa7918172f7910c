#pragma once

#include "nax/modules/image/enhance.hpp"
#include "nax/modules/image/resize.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/bitwise.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/numpy/indexing/at.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/reductions/variance.hpp"

NAX_BEGIN
namespace image {
namespace detail {

inline void check_colors(const char* function, const Array<std::uint8_t>& x) {
  check_image(function, x);
  if (x.shape(-1) != 3) raise<ShapeError>({function, ": an image has three channels, shape ", x.shape()});
}
// Between one image and another: from + factor (to - from), cut off.
inline Array<std::uint8_t> blend(const Array<float>& from, const Array<std::uint8_t>& to,
                                 const Array<float>& factor) {
  return clip(from + factor * (to.astype<float>() - from), 0.f, 255.f).astype<std::uint8_t>();
}
// Luma of three channels (ITU-R 601) in whole numbers, (..., height, width, 1).
inline Array<float> luma(const Array<std::uint8_t>& x) {
  const nax::detail::ComputeOn beside_x(x);
  const Array<int> weights = {19595, 38470, 7471};
  const Array<int> total = sum(x.astype<int>() * weights, {.axis = -1, .keepdims = true});
  return right_shift(total + 0x8000, 16).astype<float>();
}

}  // namespace detail

NAX_ENGINE Array<std::uint8_t> adjust_brightness(const Array<std::uint8_t>& x, const Array<float>& factor) {
  detail::check_image("adjust_brightness", x);
  return detail::blend(Array<float>(zeros_like(x).astype<float>()), x, factor);
}

NAX_ENGINE Array<std::uint8_t> adjust_saturation(const Array<std::uint8_t>& x, const Array<float>& factor) {
  detail::check_colors("adjust_saturation", x);
  return detail::blend(detail::luma(x), x, factor);
}

NAX_ENGINE Array<std::uint8_t> adjust_contrast(const Array<std::uint8_t>& x, const Array<float>& factor) {
  detail::check_colors("adjust_contrast", x);
  const Array<float> middle = mean(detail::luma(x), {.axis = {-3, -2, -1}, .keepdims = true});
  return detail::blend(Array<float>(floor(middle + 0.5f)), x, factor);
}

NAX_ENGINE Array<std::uint8_t> adjust_sharpness(const Array<std::uint8_t>& x, const Array<float>& factor) {
  detail::check_image("adjust_sharpness", x);
  const std::int64_t h = x.shape(-3), w = x.shape(-2);
  if (h < 3 || w < 3) return x;
  const Array<float> whole = x.astype<float>();
  const auto part = [&](std::int64_t down, std::int64_t right) {
    return Array<float>(whole(ellipsis, slice(down, h - 2 + down), slice(right, w - 2 + right), _));
  };
  Array<float> total = part(1, 1) * 4.f;
  for (const std::int64_t down : {0, 1, 2})
    for (const std::int64_t right : {0, 1, 2}) total = total + part(down, right);
  const Array<float> smooth = floor(total / 13.f + 0.5f);
  return detail::blend(whole.at(ellipsis, slice(1, h - 1), slice(1, w - 1), _).set(smooth), x, factor);
}

NAX_ENGINE Array<std::uint8_t> posterize(const Array<std::uint8_t>& x, int bits) {
  detail::check_image("posterize", x);
  if (bits < 0 || bits > 8) raise<ValueError>({"posterize: bits must be 0 to 8, got ", bits});
  return bitwise_and(x, static_cast<std::uint8_t>(0xff00 >> bits & 0xff));
}

NAX_ENGINE Array<std::uint8_t> solarize(const Array<std::uint8_t>& x, int threshold) {
  detail::check_image("solarize", x);
  const Array<int> wide = x.astype<int>();
  return where(wide < threshold, wide, 255 - wide).astype<std::uint8_t>();
}

NAX_ENGINE Array<std::uint8_t> autocontrast(const Array<std::uint8_t>& x) {
  detail::check_image("autocontrast", x);
  if (x.size() == 0) return x;
  const Array<int> wide = x.astype<int>();
  const Array<int> low = min(wide, {.axis = {-3, -2}, .keepdims = true}),
                   high = max(wide, {.axis = {-3, -2}, .keepdims = true});
  const Array<int> stretched = floor_divide((wide - low) * 255, maximum(high - low, 1));
  return where(high > low, stretched, wide).astype<std::uint8_t>();
}

NAX_ENGINE Array<std::uint8_t> equalize(const Array<std::uint8_t>& x) {
  detail::check_image("equalize", x);
  if (x.size() == 0) return x;
  const nax::detail::ComputeOn beside_x(x);
  const std::int64_t pixels = x.shape(-3) * x.shape(-2), c = x.shape(-1), n = x.size() / (pixels * c);
  const Array<int> first = arange<int>(static_cast<int>(n * c)).reshape({n, 1, c}) * 256;
  const Array<int> places = x.astype<int>().reshape({n, pixels, c}) + first;
  const Array<int> counts = zeros<int>({n * c * 256}).at(places.reshape({-1})).add(1).reshape({n * c, 256});
  const Array<int> numbers = arange<int>(256);
  const Array<int> last = max(where(counts > 0, numbers, 0), {.axis = 1, .keepdims = true});
  const Array<int> step =
      floor_divide(static_cast<int>(pixels) - take_along_axis(counts, last, 1), 255);  // 0: as it is
  const Array<int> before = cumsum(counts, {.axis = 1}) - counts;
  const Array<int> spread = minimum(floor_divide(floor_divide(step, 2) + before, maximum(step, 1)), 255);
  const Array<int> table = where(step == 0, numbers, spread);
  return take(table.reshape({-1}), places).reshape(x.shape()).astype<std::uint8_t>();
}

NAX_ENGINE Array<std::uint8_t> affine(const Array<std::uint8_t>& x, const Array<float>& matrix,
                                      const AffineOptions& options) {
  detail::check_image("affine", x);
  if (!(matrix.shape() == Shape{6}))
    raise<ShapeError>({"affine: the matrix must be (6,), shape ", matrix.shape()});
  const std::int64_t h = x.shape(-3), w = x.shape(-2);
  if (x.size() == 0) return x;
  const nax::detail::ComputeOn beside_x(x);
  const Array<float> u = arange<float>(static_cast<float>(w)) + 0.5f,
                     v = arange<float>(static_cast<float>(h)).reshape({h, 1}) + 0.5f;
  const auto place = [&](int i) {
    return Array<float>(floor(matrix(i) * u + matrix(i + 1) * v + matrix(i + 2)));
  };
  const Array<float> column = place(0), row = place(3);
  const float right = static_cast<float>(w - 1), bottom = static_cast<float>(h - 1);
  const Array<bool> inside =
      logical_and(logical_and(column >= 0.f, column <= right), logical_and(row >= 0.f, row <= bottom));
  const Array<int> at =
      clip(row, 0.f, bottom).astype<int>() * static_cast<int>(w) + clip(column, 0.f, right).astype<int>();
  Shape flat = x.shape();
  flat.pop_back(), flat.pop_back();
  flat.back() = h * w;
  flat.push_back(x.shape(-1));
  const Array<std::uint8_t> moved = take(x.reshape(flat), at.reshape({-1}), {.axis = -2}).reshape(x.shape());
  return where(expand_dims(inside, -1), moved, static_cast<std::uint8_t>(options.fill));
}

}  // namespace image
NAX_END
