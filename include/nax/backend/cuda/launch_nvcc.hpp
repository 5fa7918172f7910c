#pragma once

#include <algorithm>

#include "nax/backend/cuda/stream.hpp"

// Kernels on a GPU: element by element over a grid that covers the loop, or strides through it where it is
// larger than 2^31 blocks.
namespace nax::cuda {

inline constexpr int block_threads = 256;

template <class Body>
__global__ void __launch_bounds__(block_threads) run(Body body, std::int64_t n) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n; i += step)
    body(i);
}

template <class Body>
void launch(Device device, std::int64_t n, const Body& body) {
  if (n == 0) return;
  const std::int64_t blocks =
      std::min<std::int64_t>((n + block_threads - 1) / block_threads, std::int64_t{1} << 31 - 1);
  const cudaStream_t stream = use(device);
  run<<<static_cast<unsigned>(blocks), block_threads, 0, stream>>>(body, n);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

}  // namespace nax::cuda
