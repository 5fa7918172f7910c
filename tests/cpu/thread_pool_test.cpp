#include "nax/core/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/with_threads.hpp"

namespace {

class ThreadPool : public testing::Test {
 protected:
  const WithThreads threads_{4};
};

TEST_F(ThreadPool, CoversTheRangeOnce) {
  for (std::int64_t n : {0, 1, 7, 100, 12345}) {
    for (std::int64_t grain : {0, 1, 16, 1000, 100000}) {
      std::vector<int> seen(static_cast<std::size_t>(n), 0);
      nax::parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
        ASSERT_LT(begin, end);
        ASSERT_EQ(begin % std::max<std::int64_t>(grain, 1), 0);
        for (auto i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      for (int count : seen) ASSERT_EQ(count, 1) << n << " " << grain;
    }
  }
}

TEST_F(ThreadPool, ManyThreadsCoverTheRangeOnce) {
  nax::set_num_threads(100);
  for (std::int64_t n : {2, 65, 99, 100, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
    nax::parallel_for(n, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    for (const auto& count : seen) ASSERT_EQ(count, 1) << n;
  }
}

TEST_F(ThreadPool, SmallWorkStaysHere) {
  const auto here = std::this_thread::get_id();
  int calls = 0;
  nax::parallel_for(100, 100, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
    ++calls;
  });
  const nax::ThreadLimit one(1);
  nax::parallel_for(100, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST_F(ThreadPool, NestedCallsRunInline) {
  std::atomic<int> inner{0};
  nax::parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(nax::available_threads(), 1);
    const auto here = std::this_thread::get_id();
    for (auto i = begin; i < end; ++i)
      nax::parallel_for(1000, 1, [&](std::int64_t b, std::int64_t e) {
        EXPECT_EQ(std::this_thread::get_id(), here);
        EXPECT_EQ(e - b, 1000);
        ++inner;
      });
  });
  EXPECT_EQ(inner, 8);
  EXPECT_EQ(nax::available_threads(), 4);
}

TEST_F(ThreadPool, OtherThreadsHelp) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  for (int tries = 0; tries < 200 && ids.size() < 2; ++tries)
    nax::parallel_for(4, 1, [&](std::int64_t, std::int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
  EXPECT_GE(ids.size(), 2u);
}

TEST_F(ThreadPool, ExceptionsReachTheCaller) {
  for (int at : {0, 500, 999}) {
    EXPECT_THROW(nax::parallel_for(1000, 1,
                                   [&](std::int64_t begin, std::int64_t end) {
                                     if (begin <= at && at < end) throw std::runtime_error("inside");
                                   }),
                 std::runtime_error);
    std::atomic<std::int64_t> sum{0};
    nax::parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum, 1000);
  }
}

TEST_F(ThreadPool, LimitsNestAndEnd) {
  {
    const nax::ThreadLimit two(2);
    EXPECT_EQ(nax::available_threads(), 2);
    {
      const nax::ThreadLimit three(3);
      EXPECT_EQ(nax::available_threads(), 2);
    }
    std::thread([] { EXPECT_EQ(nax::available_threads(), 4); }).join();
  }
  EXPECT_EQ(nax::available_threads(), 4);
}

TEST_F(ThreadPool, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> sum{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      const nax::ThreadLimit limit(2);
      for (int turn = 0; turn < 500; ++turn) {
        std::int64_t parts[64] = {};
        nax::parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) {
          for (auto i = begin; i < end; ++i) parts[i] = i;
        });
        std::int64_t here = 0;
        for (auto part : parts) here += part;
        sum += here;
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 500 * 2016);
}

TEST_F(ThreadPool, BadCountsThrow) {
  EXPECT_THROW(nax::set_num_threads(0), nax::ValueError);
  EXPECT_THROW(nax::set_num_threads(100000), nax::ValueError);
  EXPECT_THROW(nax::ThreadLimit(0), nax::ValueError);
}

}  // namespace
