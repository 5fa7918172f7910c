#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "nax/core/array_base.hpp"
#include "nax/core/per_thread.hpp"

// The vmaps that this thread is in. Each has a level, a number that grows and never repeats, so that arrays
// of an inner vmap order their hidden axes behind those of an outer one, and one that outlives its vmap is
// recognised.
NAX_BEGIN
namespace detail {

struct VmapFrame {
  Level level;
  std::int64_t size;
  std::string axis_name;
};

struct VmapStack {
  std::vector<VmapFrame> frames;
  // Sweeps handle values of vmaps that ended within the differentiated function; while one runs nothing is
  // checked.
  int sweeping = 0;
};

inline VmapStack& vmap_stack() { return per_thread<VmapStack>(); }

inline Level next_level() {
  static std::atomic<Level> counter{0};
  return ++counter;
}

class Sweeping {
 public:
  Sweeping() { ++vmap_stack().sweeping; }
  ~Sweeping() { --vmap_stack().sweeping; }
  Sweeping(const Sweeping&) = delete;
  Sweeping& operator=(const Sweeping&) = delete;
};

// The vmaps of the moment when a call was made, entered again beside those of now while it is computed anew
// or differentiated.
class VmapScope {
 public:
  NAX_ENGINE explicit VmapScope(const std::vector<VmapFrame>& then);
  ~VmapScope() { vmap_stack().frames = std::move(before_); }
  VmapScope(const VmapScope&) = delete;
  VmapScope& operator=(const VmapScope&) = delete;

 private:
  std::vector<VmapFrame> before_;
};

// Throws when a batched array is used after the vmap that it belongs to has returned. Levels nest, so that
// the youngest tells for all.
NAX_ENGINE void check_alive(const char* function, const ArrayBase& a);

NAX_COMPILED_ONCE void check_special(const char* function, const ArrayBase& a) {
  if (is_moved_from(a)) throw_moved_from(function);
  if (is_batched(a)) check_alive(function, a);
}
// Validates an operand: not moved-from, and its vmaps are still active.
inline void check_operand(const char* function, const ArrayBase& a) {
  if (is_batched(a) || !ArrayAccess::buffer(a)) [[unlikely]]
    check_special(function, a);
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE VmapScope::VmapScope(const std::vector<VmapFrame>& then) : before_(vmap_stack().frames) {
  std::vector<VmapFrame>& frames = vmap_stack().frames;
  for (const VmapFrame& frame : then) {
    const auto is_it = [&](const VmapFrame& other) { return other.level == frame.level; };
    if (std::none_of(before_.begin(), before_.end(), is_it)) frames.push_back(frame);
  }
  std::sort(frames.begin(), frames.end(),
            [](const VmapFrame& a, const VmapFrame& b) { return a.level < b.level; });
}

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
#endif
