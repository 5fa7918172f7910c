#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace loops {

// Applied to the rows of a product plus a bias: nothing, max(x, 0), or x times the normal distribution
// function of x. `gelu` is JAX's default, the approximation by tanh; `gelu_exact` is PyTorch's default, by
// erf.
enum class Activation : std::uint8_t { identity, relu, gelu, gelu_tanh = gelu, gelu_exact };

// c = the activation of a b plus a row of biases, side by side, plus `added`. `added` and `before`, to which
// what the activation is applied to is written, are laid out as c; either may be null.
struct Linear {
  Activation activation;
  const char *a, *b, *bias, *added;
  char *c, *before;
};

// Weights (k, n) of 8-bit integers, packed (backend/cpu/gemm/int8_product.hpp): about scales[j] times the
// codes of column j.
struct Int8Weights {
  std::int64_t k = 0, n = 0;
  const std::int8_t* codes = nullptr;        // columns() * steps()
  const float* scales = nullptr;             // columns()
  const std::int32_t* offsets = nullptr;     // columns(): -128 times the sum of a column
  static constexpr std::int64_t panel = 64;  // columns
  constexpr std::int64_t columns() const { return (n + 15) / 16 * 16; }
  constexpr std::int64_t steps() const { return (k + 3) / 4 * 4; }
  // Row l of column j, as a float.
  float value(std::int64_t l, std::int64_t j) const {
    const std::int64_t first = j / panel * panel,
                       width = panel < columns() - first ? panel : columns() - first;
    return static_cast<float>(codes[first * steps() + 4 * (j - first) + l / 4 * 4 * width + l % 4]) *
           scales[j];
  }
};

// The most products of codes that an integer of 32 bits adds up, those with 128 included.
inline constexpr std::int64_t most_int8_steps = 0x7fff'ffff / (128 * 127);

}  // namespace loops
NAX_END
