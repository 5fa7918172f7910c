#pragma once

#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <thread>

#include "faults/injector.hpp"
#include "support/four_devices.hpp"

// A program with each of its allocations failing once: it ends in an exception (or gets along), nothing
// leaks, and the next run is right.
namespace faults {

using namespace nax;

// Collects a program's results as text, with all digits, for an exact comparison.
template <class... X>
std::string found(const X&... x) {
  std::string text;
  ((text += to_string(x) + "\n"), ...);
  return text;
}

struct Held {
  std::int64_t blocks = live_blocks();
  std::int64_t bytes = static_cast<std::int64_t>(memory_stats().in_use);
  friend bool operator>(const Held& a, const Held& b) { return a.blocks > b.blocks || a.bytes > b.bytes; }
};

// Whether the program ended as it should.
template <class Program>
bool survives(const Program& program, const std::string& want) {
  try {
    return program() == want;
  } catch (const std::exception&) {
    return true;
  }
}

// `fail` arms the failure of allocation n, `stop` disarms it and returns whether it happened.
template <class Program, class Fail, class Stop>
void fail_each(const Program& program, const Fail& fail, const Stop& stop) {
  program();  // what is made once and stays
  const std::string want = program();
  std::int64_t n = 0;
  for (bool came_to_it = true; came_to_it; ++n) {
    // Something may stay after a failure, but not after each of the same.
    bool leaks = true;
    for (int time = 0; time < 4 && leaks && came_to_it; ++time) {
      const Held before;
      bool survived = false, right = false;
      std::thread([&] {  // one that has nothing yet: what a thread makes once and keeps can fail, too
        fail(n);
        survived = survives(program, want);
        came_to_it = stop();
        right = program() == want;
      })
          .join();
      ASSERT_TRUE(survived) << "wrong although it did not throw, failure " << n;
      ASSERT_TRUE(right) << "the run after failure " << n;
      const Held after;
      leaks = after > before;
      if (leaks && time == 3)
        FAIL() << "failure " << n << " leaks " << after.blocks - before.blocks << " blocks and "
               << after.bytes - before.bytes << " bytes of arrays";
    }
    ASSERT_LT(n, 200000);
  }
  EXPECT_GT(n, 1) << "nothing failed";
}

// Each operator new of the program.
template <class Program>
void fail_each_allocation(const Program& program) {
  fail_each(program, fail_allocation, stop_failing);
}

// Fails allocations of arrays instead, by raising nax's memory limit step by step.
template <class Program>
void fail_each_step_of_memory(const Program& program) {
  const std::size_t step = NAX_ALLOCATOR_CACHES ? 1 << 16 : 1 << 10;
  bool failed = false;
  fail_each(
      [&] {
        try {
          return program();
        } catch (const Error&) {
          failed = true;
          throw;
        }
      },
      [&](std::int64_t n) {
        release_cached_memory();
        const MemoryStats now = memory_stats();
        failed = false;
        set_memory_limit(now.in_use + now.cached + 1 + static_cast<std::size_t>(n) * step);
      },
      [&] {
        set_memory_limit(0);
        return failed;
      });
}

}  // namespace faults
