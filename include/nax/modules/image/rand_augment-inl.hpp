#pragma once

#include <cmath>
#include <tuple>

#include "nax/lax/branches.hpp"
#include "nax/modules/image/rand_augment.hpp"
#include "nax/random/integers.hpp"

NAX_BEGIN
namespace image {

NAX_ENGINE Array<std::uint8_t> rand_augment(const random::Key& key, const Array<std::uint8_t>& x,
                                            const RandAugmentOptions& options) {
  detail::check_colors("rand_augment", x);
  if (options.operations < 0 || options.magnitude < 0 || options.magnitude > 30)
    raise<ValueError>({"rand_augment: operations = ", options.operations, " and magnitude = ",
                       options.magnitude, " must be at least 0, the magnitude at most 30"});
  const float part = static_cast<float>(options.magnitude) / 30;
  const float w = static_cast<float>(x.shape(-2)), h = static_cast<float>(x.shape(-3));
  const int fill = options.fill;
  Array<std::uint8_t> y = x;
  for (int i = 0; i < options.operations; ++i) {
    const auto [of_operation, of_sign] = random::split(random::fold_in(key, i));
    const Array<float> sign = where(random::bernoulli(of_sign), 1.f, -1.f);
    const Array<float> one(1.f), none(0.f), factor = 1.f + sign * (0.9f * part);
    const auto warp = [&](const Array<float>& a, const Array<float>& b, const Array<float>& c,
                          const Array<float>& d, const Array<float>& e, const Array<float>& f) {
      return [matrix = stack({a, b, c, d, e, f}), fill](const Array<std::uint8_t>& v) {
        return affine(v, matrix, {.fill = fill});
      };
    };
    const Array<float> shear = sign * (0.3f * part);
    const Array<float> right = sign * std::trunc(150.f / 331 * w * part),
                       down = sign * std::trunc(150.f / 331 * h * part);
    const float angle = part * 30 * 3.14159265f / 180;
    const Array<float> c(std::cos(angle)), s = sign * -std::sin(angle);
    const int bits = 8 - static_cast<int>(std::nearbyint(static_cast<float>(options.magnitude) / 7.5f));
    const int threshold = static_cast<int>(std::ceil(255 * (1 - part)));
    y = lax::switch_(
        random::randint(of_operation, {}, 0, 14),
        std::tuple{[](const Array<std::uint8_t>& v) { return v; }, warp(one, shear, none, none, one, none),
                   warp(one, none, none, shear, one, none),
                   warp(one, none, Array<float>(-right), none, one, none),
                   warp(one, none, none, none, one, Array<float>(-down)),
                   warp(c, s, Array<float>(w / 2 - c * (w / 2) - s * (h / 2)), Array<float>(-s), c,
                        Array<float>(h / 2 + s * (w / 2) - c * (h / 2))),
                   [&](const Array<std::uint8_t>& v) { return adjust_brightness(v, factor); },
                   [&](const Array<std::uint8_t>& v) { return adjust_saturation(v, factor); },
                   [&](const Array<std::uint8_t>& v) { return adjust_contrast(v, factor); },
                   [&](const Array<std::uint8_t>& v) { return adjust_sharpness(v, factor); },
                   [&](const Array<std::uint8_t>& v) { return posterize(v, bits); },
                   [&](const Array<std::uint8_t>& v) { return solarize(v, threshold); },
                   [](const Array<std::uint8_t>& v) { return autocontrast(v); },
                   [](const Array<std::uint8_t>& v) { return equalize(v); }},
        y);
  }
  return y;
}

}  // namespace image
NAX_END
