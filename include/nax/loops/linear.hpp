#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace loops {

// Applied to the rows of a product plus a bias; gelu is JAX's approximation by tanh.
enum class Activation : std::uint8_t { identity, relu, gelu };

// c = the activation of a b plus a row of biases, side by side, plus `added`. `added` and `before`, to which
// what the activation is applied to is written, are laid out as c; either may be null.
struct Linear {
  Activation activation;
  const char *a, *b, *bias, *added;
  char *c, *before;
};

}  // namespace loops
NAX_END
