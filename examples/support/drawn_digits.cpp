#include "drawn_digits.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace examples {

Digits draw_digits(const nax::random::Key& key, std::int64_t n) {
  // Ends of the seven segments in a box of 1 x 2, and the segments of each digit.
  static constexpr float ends[7][4] = {{0, 0, 1, 0}, {1, 0, 1, 1}, {1, 1, 1, 2}, {0, 2, 1, 2},
                                       {0, 1, 0, 2}, {0, 0, 0, 1}, {0, 1, 1, 1}};
  static constexpr int lit[10] = {0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f};
  const auto keys = nax::random::split(key, 3);
  const auto labels = nax::random::randint<int>(keys[0], {n}, 0, 10);
  const auto shapes = nax::random::uniform<float>(keys[1], {n, 5}, {.minval = -1});
  const auto noise = nax::random::uniform<float>(keys[2], {n, 784}, {.maxval = 0.1});
  std::vector<float> pixels(noise.data(), noise.data() + n * 784);
  for (std::int64_t i = 0; i < n; ++i) {
    const float* s = shapes.data() + 5 * i;
    const float width = 8 + 1.5f * s[0], left = 10 + 2.5f * s[1], top = 5 + 2 * s[2], slant = 2.5f * s[3];
    const float thickness = 1.4f + 0.4f * s[4];
    for (int segment = 0; segment < 7; ++segment) {
      if (!(lit[labels.data()[i]] >> segment & 1)) continue;
      const float* e = ends[segment];
      const float x0 = left + width * e[0] + slant * (1 - e[1]), y0 = top + 9 * e[1];
      const float dx = left + width * e[2] + slant * (1 - e[3]) - x0, dy = top + 9 * e[3] - y0;
      for (int pixel = 0; pixel < 784; ++pixel) {
        const float x = static_cast<float>(pixel % 28) - x0, y = static_cast<float>(pixel / 28) - y0;
        const float t = std::min(1.f, std::max(0.f, (x * dx + y * dy) / (dx * dx + dy * dy)));
        const float across = x - t * dx, down = y - t * dy,
                    distance = std::sqrt(across * across + down * down);
        float& value = pixels[static_cast<std::size_t>(784 * i + pixel)];
        value = std::max(value, std::min(1.f, thickness + 0.5f - distance));
      }
    }
  }
  return {nax::array(pixels).reshape({n, 784}), labels};
}

}  // namespace examples
