#pragma once

#include <algorithm>

#include "nax/devices/cuda/device/streams.hpp"
#include "nax/devices/cuda/launch/teams.hpp"

// Kernels on a GPU. A grid has at most 2^31 - 1 blocks, and threads of one that is too small for the loop
// stride through it.
NAX_BEGIN
namespace cuda {

#if defined(NAX_CUDA_LINKED)  // by the target nax::cuda
// Defined by nax_cuda.cu: the linker misses it where that was compiled for another processor, whose namespace
// (core/abi.hpp) is another one.
extern const bool nax_cuda_of_this_processor;
[[gnu::used]] static const bool* const needs_nax_cuda = &nax_cuda_of_this_processor;
#endif

inline constexpr std::int64_t most_blocks = (std::int64_t{1} << 31) - 1;

inline unsigned blocks_for(std::int64_t n, std::int64_t each) {
  return static_cast<unsigned>(std::min((n + each - 1) / each, most_blocks));
}

// A thread an element.
template <class Body>
__global__ void __launch_bounds__(block_threads) run(const Body body, std::int64_t n) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n; i += step)
    body(i);
}
template <class Body>
void launch(Device device, std::int64_t n, const Body& body) {
  if (n == 0) return;
  const StreamInUse stream = use(device);
  run<<<blocks_for(n, block_threads), block_threads, 0, stream>>>(body, n);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

// A team an element: of a power of two of threads up to a warp's, or of a block.
template <class Body>
__global__ void __launch_bounds__(block_threads) run_teams(const Body body, std::int64_t n, int threads) {
  __shared__ alignas(most_state_bytes) char room[block_threads / warp_threads * most_state_bytes];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_threads;
  const unsigned group = threads < warp_threads ? ((1u << threads) - 1) << lane / threads * threads : ~0u;
  const Team team{threads, thread % threads, group, room};
  const std::int64_t each = block_threads / threads, step = static_cast<std::int64_t>(gridDim.x) * each;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * each + thread / threads; i < n; i += step)
    body(team, i);
}
template <class Body>
void launch_teams(Device device, std::int64_t n, int threads, const Body& body) {
  if (n == 0) return;
  const StreamInUse stream = use(device);
  run_teams<<<blocks_for(n, block_threads / threads), block_threads, 0, stream>>>(body, n, threads);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

// A block a tile.
template <class Body>
__global__ void __launch_bounds__(block_threads) run_tiles(const Body body, std::int64_t n) {
  __shared__ alignas(most_state_bytes) char room[block_threads * most_state_bytes];
  const TileTeam team{static_cast<int>(threadIdx.x), room};
  for (std::int64_t i = blockIdx.x; i < n; i += gridDim.x) body(team, i);
}
template <class Body>
void launch_tiles(Device device, std::int64_t n, const Body& body) {
  if (n == 0) return;
  const StreamInUse stream = use(device);
  run_tiles<<<blocks_for(n, 1), block_threads, 0, stream>>>(body, n);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

// A block an element, with Body::shared_bytes of shared memory; Body::blocks of them run on a multiprocessor
// at least.
template <class Body>
__global__ void __launch_bounds__(block_threads, Body::blocks) run_blocks(const Body body, std::int64_t n) {
  extern __shared__ __align__(16) char dynamic_room[];
  const Block block{static_cast<int>(threadIdx.x), dynamic_room};
  for (std::int64_t i = blockIdx.x; i < n; i += gridDim.x) {
    body(block, i);
    block.wait();
  }
}
template <class Body>
void launch_blocks(Device device, std::int64_t n, const Body& body) {
  if (n == 0) return;
  const StreamInUse stream = use(device);
  if constexpr (Body::shared_bytes > 48 << 10)  // more must be asked for
    check(cudaFuncSetAttribute(run_blocks<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               Body::shared_bytes),
          "cudaFuncSetAttribute");
  run_blocks<<<blocks_for(n, 1), block_threads, Body::shared_bytes, stream>>>(body, n);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

}  // namespace cuda
NAX_END
