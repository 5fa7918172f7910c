#pragma once

#include <cstdint>

#include "nax/core/function_ref.hpp"

NAX_BEGIN
namespace loops {

// Decides what an index out of range becomes: dropped_index, or one that is in range.
enum class IndexMode : std::uint8_t { drop, wrap, clip };

// Allocates a result whose length the operation finds: returns room for so many elements on the device.
using Room = FunctionRef<std::int64_t*(std::int64_t count)>;

}  // namespace loops
NAX_END
