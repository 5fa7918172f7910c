#include "nax/core/allocator.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "nax/core/memory_pool.hpp"

namespace {

using nax::HostAllocator;
using nax::memory_stats;
constexpr bool caches = NAX_ALLOCATOR_CACHES;

TEST(Allocator, AlignsEverySizeTo64Bytes) {
  for (std::size_t bytes : {0, 1, 63, 64, 65, 4095, 4096, 4097, 5000, 100000, 5000000}) {
    void* block = HostAllocator::allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u) << bytes;
    std::memset(block, 1, bytes);
    HostAllocator::deallocate(block, bytes);
  }
  HostAllocator::deallocate(nullptr, 10);
}

TEST(Allocator, LargeClassesCoverTheirSizesWithAQuarterOfWaste) {
  using namespace nax::detail::memory;
  for (std::size_t bytes = small_limit + 1; bytes < (std::size_t{1} << 40); bytes += bytes / 7 + 1) {
    const std::size_t size = large_bytes(large_class(bytes));
    EXPECT_GE(size, bytes);
    EXPECT_LE(size - bytes, bytes / 4);
    EXPECT_EQ(large_class(size), large_class(bytes));
    EXPECT_NE(large_class(size + 1), large_class(bytes));
  }
}

TEST(Allocator, CountsBytesInUseExactly) {
  const auto before = memory_stats();
  std::vector<std::pair<void*, std::size_t>> blocks;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < 5000; ++i) {
    const std::size_t bytes = i * 37 % 9000;
    blocks.emplace_back(HostAllocator::allocate(bytes), bytes);
    sum += bytes;
    if (i % 500 == 0) {
      EXPECT_EQ(memory_stats().in_use, before.in_use + sum);
    }
  }
  EXPECT_EQ(memory_stats().in_use, before.in_use + sum);
  EXPECT_EQ(memory_stats().allocations, before.allocations + 5000);
  for (auto [block, bytes] : blocks) HostAllocator::deallocate(block, bytes);
  EXPECT_EQ(memory_stats().in_use, before.in_use);
}

TEST(Allocator, PeakIsExactOnOneThread) {
  for (std::size_t bytes : {100u, 4000u, 50000u}) {
    nax::reset_peak_memory();
    const std::size_t base = memory_stats().in_use;
    std::vector<void*> blocks;
    for (int i = 0; i < 70; ++i) blocks.push_back(HostAllocator::allocate(bytes));
    for (void* block : blocks) HostAllocator::deallocate(block, bytes);
    HostAllocator::deallocate(HostAllocator::allocate(bytes), bytes);
    EXPECT_EQ(memory_stats().peak, base + 70 * bytes);
    nax::reset_peak_memory();
    EXPECT_EQ(memory_stats().peak, base);
  }
}

TEST(Allocator, ReusesFreedBlocks) {
  if (!caches) GTEST_SKIP();
  for (std::size_t bytes : {100, 100000}) {
    void* first = HostAllocator::allocate(bytes);
    HostAllocator::deallocate(first, bytes);
    void* second = HostAllocator::allocate(bytes);
    EXPECT_EQ(first, second);
    HostAllocator::deallocate(second, bytes);
  }
}

TEST(Allocator, ReleaseGivesEverythingBack) {
  std::vector<void*> blocks;
  for (int i = 0; i < 3000; ++i) blocks.push_back(HostAllocator::allocate(192));
  for (void* block : blocks) HostAllocator::deallocate(block, 192);
  HostAllocator::deallocate(HostAllocator::allocate(1 << 20), 1 << 20);
  nax::release_cached_memory();
  const auto stats = memory_stats();
  EXPECT_LE(stats.cached,
            std::size_t{64 * 1024} * 4);  // gtest holds nothing here, slabs partly in use may stay
}

TEST(Allocator, LimitGivesCachedBackThenThrows) {
  HostAllocator::deallocate(HostAllocator::allocate(8 << 20), 8 << 20);
  nax::release_cached_memory();
  const auto stats = memory_stats();
  nax::set_memory_limit(stats.in_use + stats.cached + (10 << 20));
  HostAllocator::deallocate(HostAllocator::allocate(8 << 20), 8 << 20);
  void* other = HostAllocator::allocate(6 << 20);  // only fits once the cached block is gone
  try {
    HostAllocator::allocate(8 << 20);
    ADD_FAILURE() << "no throw";
  } catch (const nax::Error& error) {
    EXPECT_NE(std::string(error.what()).find("allocate: over the memory limit (8388608 bytes asked, "),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(memory_stats().in_use, stats.in_use + (6 << 20));
  HostAllocator::deallocate(other, 6 << 20);
  nax::set_memory_limit(0);
  void* fits = HostAllocator::allocate(8 << 20);
  HostAllocator::deallocate(fits, 8 << 20);
}

// Bytes that the system counts for this process; 0 where it does not say, or counts a sanitizer's as well.
std::size_t resident() {
#if defined(__SANITIZE_THREAD__)
  return 0;
#endif
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * 4096;
}

// After arrays of many sizes, the cache holds a multiple of the peak use, not their sum.
TEST(Allocator, CacheIsCapped) {
  if (!caches) GTEST_SKIP();
  nax::release_cached_memory();
  const std::size_t base = memory_stats().in_use + memory_stats().cached, before = resident();
  constexpr std::size_t megabyte = 1 << 20, largest = 48 * megabyte;
  for (int round = 0; round < 2; ++round)
    for (std::size_t bytes = 4 * megabyte; bytes <= largest; bytes += 4 * megabyte) {
      void* const block = HostAllocator::allocate(bytes);
      std::memset(block, 1, bytes);
      HostAllocator::deallocate(block, bytes);
    }
  const std::size_t most = 2 * largest + 64 * megabyte;
  EXPECT_LE(memory_stats().cached, base + most);
  EXPECT_LE(resident(), before + most + 32 * megabyte);
  nax::set_memory_cache(0);
  EXPECT_LE(memory_stats().cached, base + 64 * megabyte);
  EXPECT_LE(resident(), before + 96 * megabyte);
  nax::set_memory_cache(2);
  EXPECT_THROW(nax::set_memory_cache(-1), nax::ValueError);
}

// Memory that a program uses repeatedly stays in the cache.
TEST(Allocator, CacheKeepsWhatIsUsedAgain) {
  if (!caches) GTEST_SKIP();
  std::vector<std::pair<void*, std::size_t>> blocks;
  std::size_t held = 0;
  for (int step = 0; step < 20; ++step) {
    for (std::size_t bytes = 10'000; bytes < 20'000'000; bytes += bytes / 3)
      for (int i = 0; i < 2; ++i) blocks.emplace_back(HostAllocator::allocate(bytes), bytes);
    for (const auto& [block, bytes] : blocks) HostAllocator::deallocate(block, bytes);
    blocks.clear();
    const std::size_t now = memory_stats().cached + memory_stats().in_use;
    if (step > 0) {
      EXPECT_EQ(now, held);
    }
    held = now;
  }
}

// A request takes a free block of up to twice its size.
TEST(Allocator, BlocksAreSharedAcrossClasses) {
  if (!caches) GTEST_SKIP();
  nax::release_cached_memory();
  constexpr std::size_t large = 9'000'000, small = 5'000'000, tiny = 1'000'000;
  void* const first = HostAllocator::allocate(large);
  HostAllocator::deallocate(first, large);
  const std::size_t held = memory_stats().cached + memory_stats().in_use;
  void* const second = HostAllocator::allocate(small);
  EXPECT_EQ(second, first);
  void* const third = HostAllocator::allocate(tiny);
  EXPECT_NE(third, first);
  HostAllocator::deallocate(second, small);
  void* const fourth = HostAllocator::allocate(large);  // the block kept its size
  EXPECT_EQ(fourth, first);
  HostAllocator::deallocate(fourth, large);
  HostAllocator::deallocate(third, tiny);
  EXPECT_LT(memory_stats().cached + memory_stats().in_use, held + 2 * tiny);
}

TEST(Allocator, ImpossibleSizesThrow) {
  EXPECT_THROW(HostAllocator::allocate(~std::size_t{0} - 100), nax::Error);
  EXPECT_THROW(HostAllocator::allocate(std::size_t{1} << 62), nax::Error);
}

TEST(Allocator, BlocksMayBeFreedOnAnotherThread) {
  const auto before = memory_stats().in_use;
  std::vector<void*> blocks(20000);
  std::thread([&] {
    for (auto& block : blocks) block = HostAllocator::allocate(64);
  }).join();
  EXPECT_EQ(memory_stats().in_use, before + 20000 * 64);
  std::thread([&] {
    for (auto& block : blocks) HostAllocator::deallocate(block, 64);
  }).join();
  EXPECT_EQ(memory_stats().in_use, before);
}

TEST(Allocator, ThreadsWorkAtOnce) {
  const auto before = memory_stats().in_use;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::vector<std::pair<char*, std::size_t>> live;
      for (std::size_t i = 0; i < 20000; ++i) {
        const std::size_t bytes = (i * 131 + static_cast<std::size_t>(t)) % 6000 + 1;
        auto* block = static_cast<char*>(HostAllocator::allocate(bytes));
        block[0] = block[bytes - 1] = static_cast<char>(t);
        live.emplace_back(block, bytes);
        if (live.size() > 50) {
          auto [old, size] = live[i % 50];
          live[i % 50] = live.back();
          live.pop_back();
          ASSERT_EQ(old[0], static_cast<char>(t));
          HostAllocator::deallocate(old, size);
        }
        if (i % 4096 == 0) memory_stats();
      }
      for (auto [block, size] : live) HostAllocator::deallocate(block, size);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(memory_stats().in_use, before);
}

// Freed after main, when thread-local caches are gone.
struct Late {
  void* block = HostAllocator::allocate(128);
  ~Late() {
    HostAllocator::deallocate(block, 128);
    HostAllocator::deallocate(HostAllocator::allocate(64), 64);
    HostAllocator::deallocate(HostAllocator::allocate(64000), 64000);
  }
} late;

}  // namespace
