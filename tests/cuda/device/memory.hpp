#pragma once

#include "device/on_device.hpp"

namespace on_device {

using Memory = OnDevice;

TEST_F(Memory, counts_memory_of_arrays) {
  const auto before = nax::memory_stats(gpu());
  {
    const Array<float> x = there(numbers({1000, 1000}));
    const auto during = nax::memory_stats(gpu());
    EXPECT_EQ(during.in_use, before.in_use + x.nbytes());
    EXPECT_GE(during.peak, during.in_use);
    EXPECT_GT(during.allocations, before.allocations);
  }
  EXPECT_EQ(nax::memory_stats(gpu()).in_use, before.in_use);
}

// CUDA's libraries refuse workspaces that lie otherwise.
TEST_F(Memory, lies_at_multiples_of_256_bytes) {
  std::vector<Array<float>> held;
  for (const std::int64_t n : {1, 130, 150, 170, 190, 210, 230, 250, 260, 300, 400, 500, 600, 1000, 5000})
    held.push_back(there(numbers({n})));
  for (const Array<float>& x : held)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.device_data()) % 256, 0u) << x.size();
}

TEST_F(Memory, a_step_that_repeats_takes_no_more_memory) {
  const Array<float> x = there(numbers({512, 300}));
  const auto step = [&] { return Array<float>(nax::sum(nax::tanh(x * 2.f) * x, {.axis = 0})); };
  Array<float> y = step();
  const auto held = [&] {
    const auto now = nax::memory_stats(gpu());
    return now.in_use + now.cached;
  };
  const std::size_t before = held();
  for (int i = 0; i < 50; ++i) y = step();
  EXPECT_EQ(held(), before);
}

TEST_F(Memory, freed_memory_goes_back_on_request) {
  { const Array<float> x = there(numbers({4 << 20})); }
  nax::release_cached_memory(gpu());
  EXPECT_LT(nax::memory_stats(gpu()).cached, std::size_t{16} << 20);
}

TEST_F(Memory, out_of_memory_names_requested_and_held_bytes) {
  const Array<float> x = there(numbers({1000}));
  const Array<float> row = there(numbers({1 << 14}));
  try {
    // 2^42 elements.
    const auto big = nax::broadcast_to(row, {1 << 14, 1 << 14, 1 << 14});
    const Array<float> y = big + 1.f;
    FAIL() << "2^44 bytes were to be had";
  } catch (const nax::DeviceError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("17592186044416"), text.npos) << text;
    EXPECT_NE(text.find(nax::to_string(gpu())), text.npos) << text;
    EXPECT_NE(text.find("hold"), text.npos) << text;
  }
  EXPECT_TRUE(compare::close(back(Array<float>(x + x)), Array<float>(back(x) * 2.f), 0));
}

}  // namespace on_device
