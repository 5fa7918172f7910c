#pragma once

#include "nax/core/devices.hpp"
#include "support/platform.hpp"

// Programs that include this have four CPU devices, whatever the environment says.
inline const bool four_devices = (nax::set_cpu_device_count(4), true);
