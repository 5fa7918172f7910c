#pragma once

// The emulated NCCL's functions, for nax's code for NCCL on the stand-in.
#include "nax/devices/nccl/emulated/nccl.hpp"
