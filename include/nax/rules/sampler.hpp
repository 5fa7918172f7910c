#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace detail {

// Draws by rejection, with parameters for each element: gamma and loggamma (alpha), poisson (rate, of float),
// binomial (count, probability).
enum class Sampler : std::uint8_t { gamma, loggamma, poisson, binomial };

constexpr const char* name_of(Sampler kind) {
  constexpr const char* names[] = {"gamma", "loggamma", "poisson", "binomial"};
  return names[static_cast<int>(kind)];
}
constexpr int parameter_count(Sampler kind) { return kind == Sampler::binomial ? 2 : 1; }

}  // namespace detail
NAX_END
