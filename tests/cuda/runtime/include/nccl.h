#pragma once

// The emulated NCCL's functions, for nax's code for NCCL on the stand-in.
#include "nax/parallel/nccl/emulated/nccl.hpp"
