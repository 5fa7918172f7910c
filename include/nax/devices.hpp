#pragma once

// The door to devices that the core knows no folder of: expressions find here what fills their slots
// (backend/expression_slots.hpp) in files that are compiled for a GPU. In all other files it is empty.
#include "nax/devices/cuda/expressions/device_kernels.hpp"
