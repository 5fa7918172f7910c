#include <algorithm>
#include <cmath>
#include <cstring>

#include "hand.hpp"

namespace bench {
namespace {

constexpr std::int64_t side = 2048, height = 4096, width = 1000;

// Four rows at a time: four chains of sums that do not wait for each other.
template <bool backward>
void cumsum_rows(const float* x, float* __restrict out) {
  for (std::int64_t i = 0; i < side; i += 4) {
    float sum[4] = {};
    for (std::int64_t k = 0; k < side; ++k) {
      const std::int64_t j = backward ? side - 1 - k : k;
      for (std::int64_t r = 0; r < 4; ++r) out[(i + r) * side + j] = sum[r] += x[(i + r) * side + j];
    }
  }
}
Work cumsum() {
  const Floats x = uniform(1, side * side);
  return fills(side * side, [=](float* out) { cumsum_rows<false>(x.data(), out); });
}
Work cumsum_gradient() {
  const Floats x = uniform(1, side * side), g = uniform(2, side * side);
  return fills(2 * side * side, [=](float* out) {
    cumsum_rows<false>(x.data(), out);
    cumsum_rows<true>(g.data(), out + side * side);
  });
}

Work take() {
  const Floats x = uniform(1, height * width);
  const auto rows = integers(3, height, height);
  return fills(height * width, [=](float* __restrict out) {
    for (std::int64_t i = 0; i < height; ++i)
      std::memcpy(out + i * width, x.data() + rows[static_cast<std::size_t>(i)] * width,
                  width * sizeof(float));
  });
}

Work take_gradient() {
  const Floats x = uniform(1, height * width), g = uniform(2, height * width);
  const auto rows = integers(3, height, height);
  return fills(2 * height * width, [=](float* __restrict out) {
    float* const gradient = out + height * width;
    std::fill_n(gradient, height * width, 0.f);
    for (std::int64_t i = 0; i < height; ++i) {
      std::memcpy(out + i * width, x.data() + rows[static_cast<std::size_t>(i)] * width,
                  width * sizeof(float));
      float* to = gradient + rows[static_cast<std::size_t>(i)] * width;
      const float* from = g.data() + i * width;
      for (std::int64_t j = 0; j < width; ++j) to[j] += from[j];
    }
  });
}

Work convolve() {
  constexpr std::int64_t batch = 64, n = 256, taps = 9, length = n + taps - 1, pad = taps - 1;
  const Floats x = uniform(1, batch * n), w = uniform(2, taps);
  return fills(batch * length, [=](float* __restrict out) {
    float padded[n + 2 * pad] = {};
    for (std::int64_t b = 0; b < batch; ++b) {
      std::copy_n(x.data() + b * n, n, padded + pad);
      for (std::int64_t i = 0; i < length; ++i) {
        float sum = 0;
        for (std::int64_t k = 0; k < taps; ++k) sum += w[static_cast<std::size_t>(k)] * padded[i + pad - k];
        out[b * length + i] = sum;
      }
    }
  });
}

Work logistic_gradient() {
  constexpr std::int64_t n = 1024, m = 32;
  const Floats x = uniform(1, n * m), signs = uniform(2, n), weights = uniform(3, m);
  return fills(m, [=](float* __restrict out) {
    std::fill_n(out, m, 0.f);
    for (std::int64_t i = 0; i < n; ++i) {
      const float *row = x.data() + i * m, y = signs[static_cast<std::size_t>(i)] > 0 ? 1.f : -1.f;
      float z = 0;
      for (std::int64_t j = 0; j < m; ++j) z += row[j] * weights[static_cast<std::size_t>(j)];
      const float slope = -y / (1 + std::exp(y * z)) / n;
      for (std::int64_t j = 0; j < m; ++j) out[j] += slope * row[j];
    }
  });
}

}  // namespace

Rows hand_layout_rows() {
  return {
      {"cumsum_axis1_2048", cumsum},        {"cumsum_gradient_2048", cumsum_gradient},
      {"take_rows_4096x1000", take},        {"take_rows_gradient_4096x1000", take_gradient},
      {"vmap_convolve_64x256_9", convolve}, {"gradient_logistic_1024x32", logistic_gradient},
  };
}

}  // namespace bench
