// nax's CUDA device as C++, with products by cuBLASLt, on the stand-ins of the runtime and of the libraries.
#include "nax/devices/cuda/nax_cuda.cu"
