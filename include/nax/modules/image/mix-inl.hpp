#pragma once

#include <algorithm>

#include "nax/modules/image/mix.hpp"
#include "nax/random/gamma.hpp"
#include "nax/random/integers.hpp"

NAX_BEGIN
namespace image::detail {

NAX_ENGINE Array<float> draw_share(const random::Key& key, double alpha) {
  const float a = static_cast<float>(alpha);
  return random::beta(key, a, a, {});
}

NAX_ENGINE Array<bool> draw_box(const random::Key& keys, double alpha, int height, int width) {
  const Array<float> share = draw_share(keys[0], alpha);
  // Rows and columns within half the box's extent of its middle.
  const auto within = [&](const random::Key& k, int n) {
    const Array<int> half = floor(sqrt(1 - share) * static_cast<float>(n) * 0.5f).astype<int>();
    const Array<int> middle = random::randint(k, {}, 0, std::max(n, 1)), at = arange<int>(n);
    return Array<bool>(logical_and(at >= middle - half, at < middle + half));
  };
  return logical_and(within(keys[2], height).reshape({height, 1}), within(keys[3], width))
      .reshape({height, width, 1});
}

NAX_ENGINE Array<float> area_outside(const Array<bool>& box) { return 1 - mean(box.astype<float>()); }

}  // namespace image::detail
NAX_END
