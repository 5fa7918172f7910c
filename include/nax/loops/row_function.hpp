#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace loops {

// Functions of whole rows of n elements. The gradients take the cotangent g and the result y.
enum class RowFunction : std::uint8_t {
  softmax,               // exp(x) / sum(exp(x))
  log_softmax,           // x - log(sum(exp(x)))
  logsumexp,             // log(sum(exp(x))), one element a row
  softmax_gradient,      // y (g - sum(g y))
  log_softmax_gradient,  // g - exp(y) sum(g)
};

}  // namespace loops
NAX_END
