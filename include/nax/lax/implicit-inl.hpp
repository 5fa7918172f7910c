#pragma once

#include "nax/lax/implicit.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<VmapFrame> merged_vmaps(const std::vector<VmapFrame>& then) {
  std::vector<VmapFrame> all = then;
  for (const VmapFrame& frame : vmap_stack().frames) {
    bool known = false;
    for (const VmapFrame& other : then) known = known || other.level == frame.level;
    if (!known) all.push_back(frame);
  }
  std::sort(all.begin(), all.end(), [](const VmapFrame& a, const VmapFrame& b) { return a.level < b.level; });
  return all;
}

}  // namespace detail
NAX_END
