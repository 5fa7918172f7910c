#pragma once

namespace nax {

struct None {
  friend constexpr bool operator==(None, None) { return true; }
};
// "Not given": an argument that vmap does not map, an axis option that means all axes, an open end of a
// slice.
inline constexpr None none{};

}  // namespace nax
