#pragma once

#include "nax/core/device_memory.hpp"

NAX_BEGIN

NAX_ENGINE void release_cached_memory(Device device) {
  if (detail::on_accelerator(device))
    detail::accelerator_of(device).release_cached_memory(device);
  else
    release_cached_memory();
}

NAX_END
