#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

namespace nax::inline NAX_ABI::detail {

// What a reduction does, for backends that are told and not instantiated.
enum class ReduceKind : std::uint8_t { sum, product, max, min, any, all };

}  // namespace nax::inline NAX_ABI::detail
