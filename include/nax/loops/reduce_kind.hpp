#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

NAX_BEGIN
namespace loops {

// Names a reduction for backends that take it at run time.
enum class ReduceKind : std::uint8_t { sum, product, max, min, any, all };
inline constexpr int reduce_kinds = 6;
constexpr const char* name_of(ReduceKind kind) {
  constexpr const char* names[reduce_kinds] = {"sum", "prod", "max", "min", "any", "all"};
  return names[static_cast<int>(kind)];
}

}  // namespace loops
NAX_END
