#pragma once

#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "needs_gpu.hpp"
#include "support/compare.hpp"

// Tests of the device behind nax's seam. They are compiled twice: as C++ for the emulated device, where they
// always run, and as CUDA, where they are skipped on a machine without a GPU.
namespace on_device {

using nax::Array, nax::Device;

class OnDevice : public testing::Test {
 protected:
  static Device gpu() { return nax::devices("cuda")[0]; }
  static Device host() { return nax::devices("cpu")[0]; }
  template <class X>
  static auto there(const X& x) {
    return nax::device_put(x, gpu());
  }
  template <class X>
  static auto back(const X& x) {
    return nax::device_put(x, host());
  }
};

// n numbers between -1 and 1 without a pattern.
template <class T = float>
Array<T> numbers(nax::Shape shape, int seed = 1) {
  std::int64_t n = 1;
  for (std::int64_t extent : shape) n *= extent;
  std::vector<T> values;
  std::uint32_t state = 2654435761u * static_cast<std::uint32_t>(seed);
  for (std::int64_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<T>(static_cast<float>(state >> 8) / 8388608.f - 1.f));
  }
  return nax::asarray(values.data(), shape);
}

}  // namespace on_device
