#pragma once

#include <cstdint>

namespace nax::detail {

// What a reduction does, for backends that are told and not instantiated.
enum class ReduceKind : std::uint8_t { sum, product, max, min, any, all };

}  // namespace nax::detail
