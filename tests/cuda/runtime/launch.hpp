#pragma once

#include <cstdint>

#include "cuda/runtime/runtime.hpp"
#include "nax/devices/cuda/device/streams.hpp"
#include "nax/devices/cuda/launch/host_teams.hpp"

// Kernels of programs that run on the stand-in: the grid is a loop on the host, whenever the stream gets
// there.
NAX_BEGIN
namespace cuda::inline on_stand_in {

template <class Grid>
void launch_once(Device device, std::int64_t n, const Grid& grid) {
  if (n == 0) return;
  const StreamInUse stream = use(device);
  stand_in::launch(stream, grid);
  check(cudaGetLastError(), "cudaLaunchKernel");
}

template <class Body>
void launch(Device device, std::int64_t n, const Body& body) {
  launch_once(device, n, [n, body] {
    for (std::int64_t i = 0; i < n; ++i) body(i);
  });
}
template <class Body>
void launch_teams(Device device, std::int64_t n, int /*threads*/, const Body& body) {
  launch_once(device, n, [n, body] { run_team(n, body); });
}
template <class Body>
void launch_tiles(Device device, std::int64_t n, const Body& body) {
  launch_once(device, n, [n, body] { run_tiles(n, body); });
}

template <class Body>
void launch_blocks(Device device, std::int64_t n, const Body& body) {
  launch_once(device, n, [n, body] { run_blocks(n, body); });
}

}  // namespace cuda::inline on_stand_in
NAX_END
