#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "nax/core/devices.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/indexing/placement.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/parallel/pmap.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/compare.hpp"
#include "support/platform.hpp"

// Four emulated GPUs, whose collectives go by NCCL's calls; or the cards that there are.
namespace nccl_devices {

using namespace nax;

class Environment final : public testing::Environment {
 public:
  Environment() {
#if defined(NAX_CUDA_EMULATED)
    setenv("NAX_CUDA_DEVICES", "4", 1);
#else
    unsetenv("NAX_CUDA_DEVICES");
#endif
    unsetenv("NAX_NCCL");
  }
  void SetUp() override {
    if (!platform::has_gpu()) GTEST_SKIP();
    set_default_device(devices("cuda")[0]);
  }
};
inline testing::Environment* const environment = testing::AddGlobalTestEnvironment(new Environment);

inline int most_gpus() { return std::min(4, device_count("cuda")); }
inline std::vector<Device> first_gpus(int count) {
  std::vector<Device> all = devices("cuda");
  all.resize(static_cast<std::size_t>(count));
  return all;
}

// A variable of the environment for as long as this lives.
class With {
 public:
  With(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~With() { unsetenv(name_); }
  With(const With&) = delete;
  With& operator=(const With&) = delete;

 private:
  const char* name_;
};

}  // namespace nccl_devices
