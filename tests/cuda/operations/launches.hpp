#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#if defined(NAX_CUDA_EMULATED)
#include "nax/devices/cuda/launch/launch_emulated.hpp"
#endif

// Runs f, and checks how many kernels, copies and graphs it launches where the device counts them: the
// emulated one does, a card does not.
template <class F>
void expect_launches([[maybe_unused]] std::int64_t expected, const F& f) {
#if defined(NAX_CUDA_EMULATED)
  const std::int64_t before = nax::cuda::emulated_launches();
  f();
  EXPECT_EQ(nax::cuda::emulated_launches() - before, expected);
#else
  f();
#endif
}
