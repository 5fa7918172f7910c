#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "nax/core/devices.hpp"

// Programs that include this run their tests on the platform that NAX_TEST_PLATFORM names, "cpu" or "cuda",
// with arrays made there by default. GPUs are four, whatever the machine has.
namespace platform {

inline bool is_cuda() {
  const char* name = std::getenv("NAX_TEST_PLATFORM");
  return name && std::string(name) == "cuda";
}

// Without a GPU it prints the words by which ctest recognises a skipped test; with NAX_NEEDS_GPU=1 in the
// environment that is a failure.
inline bool has_gpu() {
  if (nax::device_count("cuda") > 0) return true;
  if (const char* const needs = std::getenv("NAX_NEEDS_GPU"); needs && std::string(needs) == "1") {
    ADD_FAILURE() << "NAX_NEEDS_GPU is 1, and there is no GPU";
    return false;
  }
  std::puts("[  SKIPPED ] this machine has no GPU (or no driver for it)");
  return false;
}

// Replaces the devices' names in a text by the CPU's.
inline std::string as_on_cpu(std::string text) {
  for (std::size_t at; (at = text.find("cuda:")) != std::string::npos;) text.replace(at, 5, "cpu:");
  return text;
}

class Environment final : public testing::Environment {
 public:
  Environment() {
    if (is_cuda()) setenv("NAX_CUDA_DEVICES", "4", 1);
  }
  void SetUp() override {
    if (!is_cuda()) return;
    if (!has_gpu()) GTEST_SKIP();
    nax::set_default_device(nax::devices("cuda")[0]);
  }
};
inline testing::Environment* const environment = testing::AddGlobalTestEnvironment(new Environment);

}  // namespace platform
