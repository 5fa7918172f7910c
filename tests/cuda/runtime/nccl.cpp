// nax's use of NCCL, and the emulated NCCL on the stand-in's streams.
#include "nax/parallel/nccl/emulated/functions.hpp"
#include "nax/parallel/nccl/nax_nccl.cu"

void nax::cuda::emulated_nccl::progress_all() { Worlds::instance().progress(); }
