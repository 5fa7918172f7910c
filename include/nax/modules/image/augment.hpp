#pragma once

#include "nax/modules/image/resize.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/random/continuous.hpp"
#include "nax/random/integers.hpp"

// Images changed, at random by a key: all of them map over images and keys, and differentiate where the image
// is of floating numbers. Images are (..., height, width, channels).
NAX_BEGIN
namespace image {

// The part of these rows and columns. Throws IndexError where it is not within the image.
template <Dtype T>
Array<T> crop(const Array<T>& x, std::int64_t top, std::int64_t left, std::int64_t height,
              std::int64_t width) {
  detail::check_image("crop", x);
  if (top < 0 || left < 0 || height < 0 || width < 0 || height > x.shape(-3) - top ||
      width > x.shape(-2) - left)
    raise<IndexError>({"crop: rows ", top, " to ", top + height, " and columns ", left, " to ", left + width,
                       " are not within an image of shape ", x.shape()});
  return x(ellipsis, slice(top, top + height), slice(left, left + width), _);
}
// The middle of an image, of this size: (..., height, width, channels). Throws ShapeError for less than three
// axes, ValueError unless `size` has two numbers, and IndexError where it is not within the image.
template <Dtype T>
Array<T> center_crop(const Array<T>& x, const Shape& size) {
  detail::check_image("center_crop", x);
  if (size.size() != 2) raise<ValueError>({"center_crop: the size must be (height, width), not ", size});
  return crop(x, (x.shape(-3) - size[0]) / 2, (x.shape(-2) - size[1]) / 2, size[0], size[1]);
}
// A part of this size anywhere in the image; of each image of a batch the same (map over keys for parts of
// their own). Throws ShapeError for less than three axes, and ValueError for a size that is not within the
// image.
template <Dtype T>
Array<T> random_crop(const random::Key& key, const Array<T>& x, const Shape& size) {
  detail::check_image("random_crop", x);
  if (size.size() != 2 || size[0] < 0 || size[1] < 0 || size[0] > x.shape(-3) || size[1] > x.shape(-2))
    raise<ValueError>({"random_crop: no part of size ", size, " is within an image of shape ", x.shape()});
  const auto [down, across] = random::split(key);
  const auto places = [](const random::Key& k, std::int64_t room, std::int64_t n) {
    const Array<int> first = random::randint(k, {}, 0, static_cast<int>(room + 1));
    return Array<int>(arange<int>(static_cast<int>(n)) + first);
  };
  const Array<int> rows = places(down, x.shape(-3) - size[0], size[0]),
                   columns = places(across, x.shape(-2) - size[1], size[1]);
  return take(take(x, rows, {.axis = -3}), columns, {.axis = -2});
}
// The image mirrored from left to right. Throws ShapeError for less than three axes.
template <Dtype T>
Array<T> flip_left_right(const Array<T>& x) {
  detail::check_image("flip_left_right", x);
  return flip(x, {.axis = -2});
}
// Flipped with this probability. Throws ShapeError for less than three axes.
template <Dtype T>
Array<T> random_flip(const random::Key& key, const Array<T>& x, double probability = 0.5) {
  detail::check_image("random_flip", x);
  return where(random::bernoulli(key, probability), flip_left_right(x), x);
}

// (x - mean) / deviation, channel by channel; bytes are divided by 255 first. Throws ShapeError for less than
// three axes.
template <Dtype T>
auto normalise(const Array<T>& x, const Array<float>& mean, const Array<float>& deviation) {
  detail::check_image("normalise", x);
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return Array<float>((x.template astype<float>() / 255.f - mean) / deviation);
  else
    return eval((x - mean) / deviation);
}

struct JitterOptions {
  double brightness = 0;  // factors are drawn from [1 - this, 1 + this]
  double contrast = 0;
  double saturation = 0;
};

// Brightness, contrast and saturation, each by a factor of its own, in this order. Bytes stay bytes; floating
// images are taken to lie in [0, 1], and stay there. Contrast and saturation are of images of three channels,
// around their mean grey and each pixel's (ITU-R 601). Throws ShapeError unless there are three channels, and
// ValueError for strengths outside [0, 1].
template <Dtype T>
Array<T> color_jitter(const random::Key& key, const Array<T>& x, const JitterOptions& options) {
  detail::check_image("color_jitter", x);
  for (const double by : {options.brightness, options.contrast, options.saturation})
    if (!(by >= 0 && by <= 1))
      raise<ValueError>({"color_jitter: strengths must be between 0 and 1, not ", by});
  if (x.shape(-1) != 3) raise<ShapeError>({"color_jitter: an image has three channels, shape ", x.shape()});
  constexpr bool bytes = std::is_same_v<T, std::uint8_t>;
  using R = std::conditional_t<bytes, float, T>;
  const auto factor = [](const random::Key& k, double by) {
    return random::uniform<R>(k, {}, {.minval = 1 - by, .maxval = 1 + by});
  };
  const random::Key keys = random::split(key, {3});
  const Array<R> weights = {R(0.299), R(0.587), R(0.114)};
  Array<R> y = x.template astype<R>();
  const R most = bytes ? R(255) : R(1);
  if (options.brightness > 0) y = clip(y * factor(keys[0], options.brightness), R(0), most);
  const auto grey = [&] { return Array<R>(sum(y * weights, {.axis = -1, .keepdims = true})); };
  if (options.contrast > 0) {
    const Array<R> middle = mean(grey(), {.axis = {-3, -2}, .keepdims = true});
    y = clip(middle + (y - middle) * factor(keys[1], options.contrast), R(0), most);
  }
  if (options.saturation > 0) {
    const Array<R> own = grey();
    y = clip(own + (y - own) * factor(keys[2], options.saturation), R(0), most);
  }
  if constexpr (bytes)
    return Array<R>(rint(y)).template astype<std::uint8_t>();
  else
    return y;
}

}  // namespace image
NAX_END
