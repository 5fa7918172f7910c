// The time of a product's multiply-adds alone, in registers: a lower bound for every kernel.
#include "hand.hpp"

namespace bench {
namespace {

#ifdef __AVX512F__
constexpr int bytes = 64;
#else
constexpr int bytes = 32;
#endif
using Vector = float __attribute__((vector_size(bytes)));

float volatile start = 0.5f;  // not known when compiling

Work multiply_adds(double count) {
  constexpr int chains = 12;
  const auto turns = static_cast<std::int64_t>(count / (bytes / 4 * chains));
  return work(
      [=] {
        const float scale = start;
        // Chains that begin alike would be computed once.
        Vector sums[chains], shift = Vector{} + scale * 0.5f;
        for (Vector& sum : sums) sum = Vector{} + start;
        for (std::int64_t i = 0; i < turns; ++i)
          for (Vector& sum : sums) sum = sum * scale + shift;
        Vector total = sums[0];
        for (int i = 1; i < chains; ++i) total += sums[i] * static_cast<float>(i);
        start = total[0] > 0 ? 0.5f : 0.25f;
      },
      [] { return Floats(); });
}

// Of a training step: three products a layer, the first layer's input needs no gradient.
double step(double batch, double inputs, double hidden) {
  return batch * (2 * inputs * hidden + 3 * hidden * hidden + 3 * hidden * 10);
}

}  // namespace

Rows hand_peak_rows() {
  return {
      {"step_784-1024-1024-10_tanh_128", [] { return multiply_adds(step(128, 784, 1024)); }},
      {"step_784-512-512-10_relu_128", [] { return multiply_adds(step(128, 784, 512)); }},
      {"matmul_128x784x1024", [] { return multiply_adds(128. * 784 * 1024); }},
      {"matmul_1024", [] { return multiply_adds(1024. * 1024 * 1024); }},
      {"matmul_batched_64x128", [] { return multiply_adds(64. * 128 * 128 * 128); }},
      {"matmul_and_gradients_128x784x1024", [] { return multiply_adds(3 * 128. * 784 * 1024); }},
  };
}

}  // namespace bench
