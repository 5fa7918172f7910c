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

}  // namespace loops
NAX_END
