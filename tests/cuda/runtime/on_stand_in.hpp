#pragma once

#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <thread>

#include "cuda/runtime/runtime.hpp"
#include "nax/devices/cuda/device/gpu.hpp"

// nax's own code for CUDA, on the stand-in of the runtime.
namespace on_stand_in {

using nax::Array, nax::Device;

class OnStandIn : public testing::Test {
 protected:
  OnStandIn() {
    stand_in::seed(1);
    stand_in::fail_at(-1, cudaSuccess);
    nax::set_default_device(gpu());
  }
  ~OnStandIn() override {
    nax::set_default_device(nax::devices("cpu")[0]);
    stand_in::card_bytes(std::size_t{1} << 30);
    stand_in::fail_at(-1, cudaSuccess);
    EXPECT_EQ(stand_in::violations(), 0);
  }
  static Device gpu(int number = 0) { return nax::devices("cuda")[static_cast<std::size_t>(number)]; }
  static Array<float> there(const Array<float>& x, int number = 0) { return nax::device_put(x, gpu(number)); }
  // f on a thread of its own, which computes on the first GPU.
  template <class F>
  static void in_thread(const F& f) {
    std::exception_ptr error;
    std::thread([&] {
      nax::set_default_device(gpu());
      try {
        f();
      } catch (...) {
        error = std::current_exception();
      }
    }).join();
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace on_stand_in
