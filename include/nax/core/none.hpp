#pragma once

#include "nax/core/abi.hpp"

namespace nax::inline NAX_ABI {

struct None {
  friend bool operator==(None, None) { return true; }
};
// "No axis": all axes of a reduction, an argument that vmap does not map.
inline constexpr None none{};

}  // namespace nax::inline NAX_ABI
