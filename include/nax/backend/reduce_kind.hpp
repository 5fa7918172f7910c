#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

namespace nax::inline NAX_ABI::detail {

// Names a reduction for backends that take it at run time.
enum class ReduceKind : std::uint8_t { sum, product, max, min, any, all };

}  // namespace nax::inline NAX_ABI::detail
