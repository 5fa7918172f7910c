#pragma once

#include <cstdint>

#include "nax/core/device.hpp"

// The grid of a kernel as a loop on the host.
namespace nax::inline NAX_ABI::cuda {
inline namespace emulated {

template <class Body>
void launch(Device, std::int64_t n, const Body& body) {
  for (std::int64_t i = 0; i < n; ++i) body(i);
}

}  // namespace emulated
}  // namespace nax::inline NAX_ABI::cuda
