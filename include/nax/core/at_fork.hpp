#pragma once

#include <atomic>

#include "nax/core/os/os.hpp"

// fork() takes only the calling thread along: a child has nax's locks as they were, and none of its threads.
NAX_BEGIN
namespace detail {

// The number of forks between the process in which nax began and this one. State made under another number
// belongs to threads that this process does not have.
inline std::atomic<unsigned> process_generation{0};

// Calls these around every fork from now on, where not null: `before` and `in_parent` in the process that
// forks, `in_child` in the new one.
NAX_ENGINE void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  [[maybe_unused]] static const bool counts =
      (os::around_fork(nullptr, nullptr, [] { process_generation.fetch_add(1, std::memory_order_relaxed); }),
       true);
  os::around_fork(before, in_parent, in_child);
}

}  // namespace detail
NAX_END
#endif
