#pragma once

#include <gtest/gtest.h>

#include "nax/core/devices.hpp"

// Tests that include this are skipped on a machine without a GPU; the emulated one is there always.
class NeedsGpu final : public testing::Environment {
 public:
  void SetUp() override {
    if (nax::device_count("cuda") == 0) GTEST_SKIP() << "this machine has no GPU (or no driver for it)";
  }
};
inline testing::Environment* const needs_gpu = testing::AddGlobalTestEnvironment(new NeedsGpu);
