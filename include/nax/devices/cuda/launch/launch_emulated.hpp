#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "nax/core/device.hpp"
#include "nax/core/graph_recording.hpp"
#include "nax/devices/cuda/launch/host_teams.hpp"

// The grid of a kernel as a loop on the host.
NAX_BEGIN
namespace cuda {

using EmulatedSteps = std::vector<std::function<void()>>;

// How many kernels, copies and graphs the host has launched.
inline std::atomic<std::int64_t>& emulated_launches() {
  static std::atomic<std::int64_t> count{0};
  return count;
}

// Does something that a GPU would be told to do: now, or whenever the graph that is being recorded is
// replayed.
template <class Step>
void emulate(const Step& step) {
  if (detail::graph_recording) [[unlikely]] {
    static_cast<EmulatedSteps*>(detail::graph_recording->state)->push_back(step);
  } else {
    emulated_launches().fetch_add(1, std::memory_order_relaxed);
    step();
  }
}

inline namespace emulated {

template <class Grid>
void launch_once(Device device, std::int64_t n, const Grid& grid) {
  if (n == 0) return;
  detail::check_recorded_on(device);
  emulate(grid);
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

}  // namespace emulated
}  // namespace cuda
NAX_END
