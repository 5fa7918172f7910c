#pragma once

#include "nax/tape/levels.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE void check_alive(const char* function, const ArrayBase& a) {
  const VmapStack& stack = vmap_stack();
  if (stack.sweeping) return;
  const Level level = layout_of(a).levels.back();
  for (const VmapFrame& frame : stack.frames)
    if (frame.level == level) return;
  raise<ValueError>(
      {function, ": the array belongs to a vmap that has ended; return it from the mapped function instead"});
}

}  // namespace detail
NAX_END
