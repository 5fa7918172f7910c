#pragma once

#include <gtest/gtest.h>

#include "support/platform.hpp"

// Tests that include this are skipped on a machine without a GPU; the emulated one is there always.
class NeedsGpu final : public testing::Environment {
 public:
  void SetUp() override {
    if (!platform::has_gpu()) GTEST_SKIP();
  }
};
inline testing::Environment* const needs_gpu = testing::AddGlobalTestEnvironment(new NeedsGpu);
