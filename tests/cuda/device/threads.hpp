#pragma once

#include <barrier>
#include <deque>
#include <mutex>
#include <thread>

#include "device/on_device.hpp"

// Each thread computes on a stream of its own, and arrays pass from one to the other without waiting for
// anything.
namespace on_device {

using Threads = OnDevice;

// Long enough that the launching thread is far ahead.
inline Array<float> slow_power(Array<float> x, int times) {
  for (int i = 0; i < times; ++i) x = x * 1.0009765625f;
  return x;
}

TEST_F(Threads, read_results_of_another_stream) {
  const Array<float> x = there(nax::ones<float>({1 << 20}));
  const float want = slow_power(Array<float>(1.f), 200).item() + 1;
  for (int round = 0; round < 5; ++round) {
    Array<float> y, z;
    std::thread([&] { y = slow_power(x, 200); }).join();
    std::thread([&] { z = y + 1.f; }).join();
    EXPECT_EQ(nax::min(z).item(), want);
    EXPECT_EQ(nax::max(z).item(), want);
  }
}

// Blocks that one thread frees are allocated next by another.
TEST_F(Threads, free_operands_of_another_stream) {
  const float want = slow_power(Array<float>(1.f), 50).item();
  std::vector<Array<float>> results(4);
  {
    Array<float> shared = there(nax::ones<float>({1 << 20}));
    std::barrier all_have_read(5);
    std::vector<std::thread> readers;
    for (Array<float>& result : results)
      readers.emplace_back([&, x = shared]() mutable {
        result = slow_power(x, 50);
        x = Array<float>();
        all_have_read.arrive_and_wait();
      });
    all_have_read.arrive_and_wait();
    shared = Array<float>();
    for (int i = 0; i < 20; ++i) there(nax::zeros<float>({1 << 20})) + 1.f;
    for (std::thread& reader : readers) reader.join();
  }
  for (const Array<float>& result : results) {
    EXPECT_EQ(nax::min(result).item(), want);
    EXPECT_EQ(nax::max(result).item(), want);
  }
}

// Arrays pass through many threads, each of which writes in place if unshared, and frees.
TEST_F(Threads, pass_arrays_on) {
  constexpr int count = 6, turns = 200;
  std::mutex mutex;
  std::deque<Array<float>> waiting;
  for (int i = 0; i < 8; ++i) waiting.push_back(there(nax::zeros<float>({10000 + i})));
  int left = count * turns;
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&] {
      for (int turn = 0; turn < turns; ++turn) {
        Array<float> x;
        {
          const std::lock_guard lock(mutex);
          if (waiting.empty()) continue;
          x = std::move(waiting.front());
          waiting.pop_front();
          --left;
        }
        const Array<float> old = x;
        x = x + 1.f;
        x = x + (old - old);
        const std::lock_guard lock(mutex);
        waiting.push_back(std::move(x));
      }
    });
  for (std::thread& thread : threads) thread.join();
  float sum = 0;
  for (const Array<float>& x : waiting) {
    EXPECT_EQ(nax::min(x).item(), nax::max(x).item());
    sum += nax::max(x).item();
  }
  EXPECT_EQ(sum, static_cast<float>(count * turns - left));
}

// More threads than a device has streams.
TEST_F(Threads, may_be_many) {
  const Array<float> x = there(nax::ones<float>({100}));
  std::vector<Array<float>> results(100);
  std::vector<std::thread> threads;
  std::barrier together(100);
  for (Array<float>& result : results)
    threads.emplace_back([&] {
      result = x * 2.f;
      together.arrive_and_wait();
      result = result + x;
    });
  for (std::thread& thread : threads) thread.join();
  for (const Array<float>& result : results) EXPECT_EQ(nax::sum(result).item(), 300.f);
}

TEST_F(Threads, as_devices_of_pmap) {
  const auto devices = nax::devices("cuda");
  const auto n = static_cast<std::int64_t>(devices.size());
  const Array<float> x = numbers({n, 50});
  const auto f = nax::pmap([](const Array<float>& v) { return nax::psum(nax::tanh(v), "i") * v; },
                           {.axis_name = "i", .devices = devices});
  const Array<float> want = nax::sum(nax::tanh(x), {.axis = 0, .keepdims = true}) * x;
  EXPECT_TRUE(compare::close(back(f(x)), want, 1e-5));
}

// Arrays that live longer than everything else.
inline std::vector<Array<float>>& kept_until_exit() {
  static std::vector<Array<float>> arrays;
  return arrays;
}
TEST_F(Threads, leave_arrays_that_outlive_the_driver) {
  kept_until_exit().push_back(there(numbers({100})));
  std::thread([&] { kept_until_exit().push_back(kept_until_exit()[0] * 2.f); }).join();
  EXPECT_EQ(kept_until_exit().size(), 2u);
}

}  // namespace on_device
