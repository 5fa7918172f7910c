// nax's CUDA device and its kernels as C++, on the stand-in of the runtime.
#include "nax/devices/cuda/nax_cuda.cu"
