// nax's use of NCCL, and the emulated NCCL on the stand-in's streams.
#include "nax/devices/nccl/emulated/functions.hpp"
#include "nax/devices/nccl/nax_nccl.cu"

void nax::cuda::emulated_nccl::progress_all() { Worlds::instance().progress(); }
