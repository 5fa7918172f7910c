#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace loops {

// Names a reduction for backends that take it at run time.
enum class ReduceKind : std::uint8_t { sum, product, max, min, any, all };
inline constexpr int reduce_kinds = 6;

}  // namespace loops
NAX_END
