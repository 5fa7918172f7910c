#pragma once

#include <cstdint>

#include "cuda/runtime/runtime.hpp"
#include "nax/backend/cuda/streams.hpp"

// Kernels of programs that run on the stand-in: the grid is a loop on the host, whenever the stream gets
// there.
NAX_BEGIN
namespace cuda::inline on_stand_in {

template <class Body>
void launch(Device device, std::int64_t n, const Body& body) {
  if (n == 0) return;
  stand_in::launch(use(device), [n, body] {
    for (std::int64_t i = 0; i < n; ++i) body(i);
  });
  check(cudaGetLastError(), "cudaLaunchKernel");
}

}  // namespace cuda::inline on_stand_in
NAX_END
