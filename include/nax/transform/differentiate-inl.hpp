#pragma once

#include "nax/transform/differentiate.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Frame door_frame(const Frame& frame) {
  Frame out = frame;
  const auto& frames = vmap_stack().frames;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::size_t at = 0;
    while (at < out.levels.size() && out.levels[at] < frames[i].level) ++at;
    if (at < out.levels.size() && out.levels[at] == frames[i].level) continue;
    out.levels.insert(at, frames[i].level);
    out.shape.insert(at, frames[i].size);
  }
  return out;
}

}  // namespace detail
NAX_END
