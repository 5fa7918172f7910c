#pragma once

#include "nax/core/at_fork.hpp"

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
