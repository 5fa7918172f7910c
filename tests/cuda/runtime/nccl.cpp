// nax's use of NCCL, and the emulated NCCL on the stand-in's streams.
#include "nax/backend/nccl/emulated/functions.hpp"
#include "nax/backend/nccl/nax_nccl.cu"

void nax::cuda::emulated_nccl::progress_all() { Worlds::instance().progress(); }
