#pragma once

#include <cstdint>

#include "nax/core/function_ref.hpp"

NAX_BEGIN
namespace loops {

// Decides what an index out of range becomes: dropped_index, or one that is in range. `slide` brings the
// entries from the index on into range, a window of so many.
enum class IndexMode : std::uint8_t { drop, wrap, clip, slide };

// Allocates a result whose length the operation finds: returns room for so many elements on the device.
using Room = FunctionRef<std::int64_t*(std::int64_t count)>;

}  // namespace loops
NAX_END
