#pragma once

#include "nax/core/accelerator.hpp"
#include "nax/core/allocator.hpp"

// How much memory a device's arrays hold. The devices of the host share its memory, and its statistics.
NAX_BEGIN

inline MemoryStats memory_stats(Device device) {
  return detail::on_accelerator(device) ? detail::accelerator_of(device).memory_stats(device)
                                        : memory_stats();
}
// Gives the memory that a device keeps for arrays to come back to the system.
NAX_ENGINE void release_cached_memory(Device device);

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN

NAX_ENGINE void release_cached_memory(Device device) {
  if (detail::on_accelerator(device))
    detail::accelerator_of(device).release_cached_memory(device);
  else
    release_cached_memory();
}

NAX_END
#endif
