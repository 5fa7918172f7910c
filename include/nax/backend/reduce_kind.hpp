#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace detail {

// Names a reduction for backends that take it at run time.
enum class ReduceKind : std::uint8_t { sum, product, max, min, any, all };

}  // namespace detail
NAX_END
