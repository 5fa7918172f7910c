#pragma once

#include <algorithm>

#include "nax/backend/cuda/streams.hpp"

// Kernels on a GPU: a thread an element of the grid. A grid has at most 2^31 - 1 blocks, and threads of one
// that is too small for the loop stride through it.
NAX_BEGIN
namespace cuda {

inline constexpr int block_threads = 256;
inline constexpr std::int64_t most_blocks = (std::int64_t{1} << 31) - 1;

template <class Body>
__global__ void __launch_bounds__(block_threads) run(const Body body, std::int64_t n) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n; i += step)
    body(i);
}

template <class Body>
void launch(Device device, std::int64_t n, const Body& body) {
  if (n == 0) return;
  const std::int64_t blocks = std::min((n + block_threads - 1) / block_threads, most_blocks);
  const cudaStream_t stream = use(device);
  run<<<static_cast<unsigned>(blocks), block_threads, 0, stream>>>(body, n);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

}  // namespace cuda
NAX_END
