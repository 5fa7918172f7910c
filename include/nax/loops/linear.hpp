#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace loops {

// Applied to the rows of a product plus a bias; gelu is JAX's approximation by tanh.
enum class Activation : std::uint8_t { identity, relu, gelu };

}  // namespace loops
NAX_END
