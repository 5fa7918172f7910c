#pragma once

#include <cstdint>

// Kernels, and how they start. A kernel's body is an object with `operator()(i)`, which element i of the grid
// runs; bodies are the same for a GPU and for the emulated device, on which the grid is a loop on the host.
// (They are plain constexpr functions: __host__ __device__ ones could not use what the host's packets use.)
#if defined(__CUDACC__)
#define NAX_CUDA_KERNELS 1
#include "nax/devices/cuda/launch/launch_nvcc.hpp"
#elif defined(NAX_CUDA_EMULATED)
#define NAX_CUDA_KERNELS 1
#include "nax/devices/cuda/launch/launch_emulated.hpp"
#elif defined(NAX_CUDA_LAUNCH)  // a header that defines launch(): tests bring one
#define NAX_CUDA_KERNELS 1
#include NAX_CUDA_LAUNCH
#else
#define NAX_CUDA_KERNELS 0
#endif
