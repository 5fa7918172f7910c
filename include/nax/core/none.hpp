#pragma once

#include "nax/core/abi.hpp"

NAX_BEGIN

struct None {
  friend bool operator==(None, None) { return true; }
};
// "No axis": all axes of a reduction, an argument that vmap does not map.
inline constexpr None none{};

NAX_END
