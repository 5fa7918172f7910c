#include <algorithm>
#include <cmath>

#include "hand.hpp"

namespace bench {
namespace {

constexpr std::int64_t height = 4096, width = 1000, side = 2048;

// f(row of x, row of g, number of the row, out) for each row
template <class F>
Work by_rows(std::int64_t results, F f) {
  const Floats x = uniform(1, height * width), g = uniform(2, height * width);
  return fills(results, [=](float* __restrict out) {
    for (std::int64_t i = 0; i < height; ++i) f(x.data() + i * width, g.data() + i * width, i, out);
  });
}

float largest(const float* x) {
  float m = x[0];
  for (std::int64_t j = 0; j < width; ++j) m = m > x[j] ? m : x[j];
  return m;
}

// exp(x - max) into e; their sum
float exponentials(const float* x, float m, float* __restrict e) {
  float sum = 0;
  for (std::int64_t j = 0; j < width; ++j) sum += e[j] = std::exp(x[j] - m);
  return sum;
}

Work softmax() {
  return by_rows(height * width, [](const float* x, const float*, std::int64_t i, float* out) {
    float* row = out + i * width;
    const float scale = 1 / exponentials(x, largest(x), row);
    for (std::int64_t j = 0; j < width; ++j) row[j] *= scale;
  });
}

Work softmax_gradient() {
  return by_rows(2 * height * width, [](const float* x, const float* g, std::int64_t i, float* out) {
    float *row = out + i * width, *__restrict gradient = row + height * width;
    const float scale = 1 / exponentials(x, largest(x), row);
    float dot = 0;
    for (std::int64_t j = 0; j < width; ++j) dot += (row[j] *= scale) * g[j];
    for (std::int64_t j = 0; j < width; ++j) gradient[j] = row[j] * (g[j] - dot);
  });
}

Work logsumexp() {
  return by_rows(height, [](const float* x, const float*, std::int64_t i, float* out) {
    const float m = largest(x);
    float sum = 0;
    for (std::int64_t j = 0; j < width; ++j) sum += std::exp(x[j] - m);
    out[i] = m + std::log(sum);
  });
}

Work logsumexp_gradient() {
  const Floats g = uniform(2, height);
  return by_rows(height + height * width, [=](const float* x, const float*, std::int64_t i, float* out) {
    float* gradient = out + height + i * width;
    const float m = largest(x), sum = exponentials(x, m, gradient);
    const float scale = g[static_cast<std::size_t>(i)] / sum;
    for (std::int64_t j = 0; j < width; ++j) gradient[j] *= scale;
    out[i] = m + std::log(sum);
  });
}

struct Moments {
  float mean, inverse;
};
Moments moments(const float* x) {
  float sum = 0, squares = 0;
  for (std::int64_t j = 0; j < width; ++j) sum += x[j];
  const float mean = sum / width;
  for (std::int64_t j = 0; j < width; ++j) squares += (x[j] - mean) * (x[j] - mean);
  return {mean, 1 / std::sqrt(squares / width + 1e-5f)};
}

Work layer_norm() {
  const Floats scale = uniform(3, width), bias = uniform(4, width);
  return by_rows(height * width, [=](const float* x, const float*, std::int64_t i, float* out) {
    const auto [mean, inverse] = moments(x);
    float* __restrict row = out + i * width;
    const float *s = scale.data(), *b = bias.data();
    for (std::int64_t j = 0; j < width; ++j) row[j] = (x[j] - mean) * inverse * s[j] + b[j];
  });
}

Work layer_norm_gradient() {
  const Floats scale = uniform(3, width), bias = uniform(4, width);
  return by_rows(2 * height * width, [=](const float* x, const float* g, std::int64_t i, float* out) {
    const auto [mean, inverse] = moments(x);
    const float *s = scale.data(), *b = bias.data();
    float* __restrict row = out + i * width, * __restrict gradient = row + height * width;
    float sum = 0, dot = 0;
    for (std::int64_t j = 0; j < width; ++j) {
      const float standard = (x[j] - mean) * inverse;
      row[j] = standard * s[j] + b[j];
      sum += g[j] * s[j];
      dot += g[j] * s[j] * standard;
    }
    sum /= width;
    dot /= width;
    for (std::int64_t j = 0; j < width; ++j)
      gradient[j] = inverse * (g[j] * s[j] - sum - dot * (x[j] - mean) * inverse);
  });
}

Work sum_all() {
  constexpr std::int64_t n = 1 << 24, part = 1 << 12;
  const Floats x = uniform(1, n);
  return fills(1, [=](float* out) {
    double total = 0;  // of parts: as accurate as sums in pairs
    for (std::int64_t begin = 0; begin < n; begin += part) {
      const float* from = x.data() + begin;
      float sum = 0;
      for (std::int64_t i = 0; i < part; ++i) sum += from[i];
      total += sum;
    }
    *out = static_cast<float>(total);
  });
}

// Four rows at a time, so that the accumulators are read and written a quarter as often.
template <class F>
Work down(F f, float start) {
  const Floats x = uniform(1, side * side);
  return fills(side, [=](float* __restrict out) {
    std::fill_n(out, side, start);
    for (std::int64_t i = 0; i < side; i += 4) {
      const float* r = x.data() + i * side;
      for (std::int64_t j = 0; j < side; ++j)
        out[j] = f(out[j], f(f(r[j], r[j + side]), f(r[j + 2 * side], r[j + 3 * side])));
    }
  });
}

Work sum_along() {
  const Floats x = uniform(1, side * side);
  return fills(side, [=](float* __restrict out) {
    for (std::int64_t i = 0; i < side; ++i) {
      const float* r = x.data() + i * side;
      float sum = 0;
      for (std::int64_t j = 0; j < side; ++j) sum += r[j];
      out[i] = sum;
    }
  });
}

Work argmax() {
  constexpr std::int64_t block = 256;
  const Floats x = uniform(1, side * side);
  return fills(side, [=](float* __restrict out) {
    for (std::int64_t i = 0; i < side; ++i) {
      const float* r = x.data() + i * side;
      float most = r[0];
      std::int64_t where = 0;  // the block of the first largest
      for (std::int64_t begin = 0; begin < side; begin += block) {
        float m = r[begin];
        for (std::int64_t j = begin; j < begin + block; ++j) m = m > r[j] ? m : r[j];
        if (m > most) most = m, where = begin;
      }
      out[i] = static_cast<float>(std::find(r + where, r + side, most) - r);
    }
  });
}

Work max_gradient() {
  const Floats x = uniform(1, side * side), g = uniform(2, side);
  const auto scratch = std::make_shared<Floats>(floats(side));
  return fills(side + side * side, [=](float* __restrict out) {
    float *most = out, *count = scratch->data(), *gradient = out + side;
    std::copy_n(x.data(), side, most);
    for (std::int64_t i = 1; i < side; ++i)
      for (std::int64_t j = 0; j < side; ++j)
        most[j] = std::max(most[j], x[static_cast<std::size_t>(i * side + j)]);
    std::fill_n(count, side, 0.f);
    for (std::int64_t i = 0; i < side; ++i)
      for (std::int64_t j = 0; j < side; ++j)
        count[j] += x[static_cast<std::size_t>(i * side + j)] == most[j];
    for (std::int64_t j = 0; j < side; ++j) count[j] = g[static_cast<std::size_t>(j)] / count[j];
    for (std::int64_t i = 0; i < side; ++i)
      for (std::int64_t j = 0; j < side; ++j)
        gradient[i * side + j] = x[static_cast<std::size_t>(i * side + j)] == most[j] ? count[j] : 0.f;
  });
}

}  // namespace

Rows hand_reduction_rows() {
  return {
      {"softmax_4096x1000", softmax},
      {"logsumexp_4096x1000", logsumexp},
      {"layer_norm_4096x1000", layer_norm},
      {"softmax_gradient_4096x1000", softmax_gradient},
      {"logsumexp_gradient_4096x1000", logsumexp_gradient},
      {"layer_norm_gradient_4096x1000", layer_norm_gradient},
      {"sum_16m", sum_all},
      {"sum_axis0_2048", [] { return down([](float a, float b) { return a + b; }, 0); }},
      {"sum_axis1_2048", sum_along},
      {"max_axis0_2048", [] { return down([](float a, float b) { return std::max(a, b); }, -2); }},
      {"argmax_axis1_2048", argmax},
      {"max_axis0_gradient_2048", max_gradient},
  };
}

}  // namespace bench
