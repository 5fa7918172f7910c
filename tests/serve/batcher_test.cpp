#include "serve/batcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <numeric>
#include <semaphore>
#include <string>

namespace batcher_test {
using namespace std::chrono_literals;
using serve::Batcher;

constexpr auto never = std::chrono::duration_cast<std::chrono::microseconds>(1h);

// Sums pairs of numbers, and keeps the sizes of its batches.
struct Sums {
  std::vector<std::int64_t> batches;

  Batcher::Compute function() {
    return [this](std::int64_t rows, std::span<const float> in, std::span<float> out) {
      batches.push_back(rows);
      ASSERT_EQ(in.size(), static_cast<std::size_t>(2 * rows));
      ASSERT_EQ(out.size(), static_cast<std::size_t>(rows));
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = in[2 * i] + in[2 * i + 1];
    };
  }
};

// Rows first, first + 1, ... of which each sums to its number.
std::vector<float> rows(int first, int count) {
  std::vector<float> in;
  for (int i = 0; i < count; ++i) in.insert(in.end(), {static_cast<float>(first + i) - 0.5f, 0.5f});
  return in;
}

std::vector<float> call(Batcher& batcher, int first, int count = 1) {
  std::vector<float> out(static_cast<std::size_t>(count), -1);
  batcher(rows(first, count), out);
  return out;
}

std::vector<float> numbers(int first, int count) {
  std::vector<float> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), static_cast<float>(first));
  return all;
}

void wait_for(const Batcher& batcher, std::int64_t waiting) {
  while (batcher.waiting() != waiting) std::this_thread::yield();
}

TEST(Batcher, AFullBatchDoesNotWait) {
  Sums sums;
  Batcher batcher({.in = 2, .out = 1, .max_batch = 4, .max_wait = never}, sums.function());
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i) callers.emplace_back([&, i] { EXPECT_EQ(call(batcher, i), numbers(i, 1)); });
  }
  EXPECT_EQ(sums.batches, (std::vector<std::int64_t>{4}));
}

TEST(Batcher, APartOfABatchBeginsAtTheDeadline) {
  Sums sums;
  Batcher batcher({.in = 2, .out = 1, .max_batch = 4, .max_wait = 30ms}, sums.function());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(call(batcher, 7, 3), numbers(7, 3));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 30ms);
  EXPECT_EQ(sums.batches, (std::vector<std::int64_t>{3}));
}

TEST(Batcher, ManyRowsOfOneCallerAreSpreadOverBatches) {
  Sums sums;
  Batcher batcher({.in = 2, .out = 1, .max_batch = 8, .max_wait = 0us}, sums.function());
  EXPECT_EQ(call(batcher, 0, 20), numbers(0, 20));
  EXPECT_EQ(sums.batches, (std::vector<std::int64_t>{8, 8, 4}));
}

TEST(Batcher, TakesRowsInTheOrderOfTheirCallers) {
  Sums sums;
  std::binary_semaphore begun{0}, go{0};
  const auto compute = sums.function();
  Batcher batcher({.in = 2, .out = 1, .max_batch = 8, .max_wait = 0us}, [&](auto count, auto in, auto out) {
    if (sums.batches.empty()) begun.release(), go.acquire();
    compute(count, in, out);
  });
  std::vector<std::jthread> callers;
  const auto begin = [&](int first, int count, std::int64_t waiting) {
    callers.emplace_back(
        [&batcher, first, count] { EXPECT_EQ(call(batcher, first, count), numbers(first, count)); });
    wait_for(batcher, waiting);
  };
  callers.emplace_back([&] { EXPECT_EQ(call(batcher, 100), numbers(100, 1)); });
  begun.acquire();  // what comes now waits behind it
  begin(0, 3, 3);
  begin(10, 6, 9);
  begin(20, 2, 11);
  go.release();
  callers.clear();
  EXPECT_EQ(sums.batches, (std::vector<std::int64_t>{1, 8, 3}));
}

// Throws for batches that have a negative sum.
Batcher::Compute refusing_negatives(std::atomic<int>& batches) {
  return [&](std::int64_t, std::span<const float> in, std::span<float> out) {
    ++batches;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = in[2 * i] + in[2 * i + 1];
      if (out[i] < 0) throw std::domain_error("negative: " + std::to_string(static_cast<int>(out[i])));
    }
  };
}

TEST(Batcher, AnExceptionReachesEachCallerOfItsBatch) {
  std::atomic<int> batches{0}, told{0};
  Batcher batcher({.in = 2, .out = 1, .max_batch = 3, .max_wait = never}, refusing_negatives(batches));
  {
    std::vector<std::jthread> callers;
    for (const int first : {5, -2, 9})
      callers.emplace_back([&, first] {
        try {
          call(batcher, first);
        } catch (const std::domain_error& error) {
          EXPECT_STREQ(error.what(), "negative: -2");
          ++told;
        }
      });
  }
  EXPECT_EQ(told, 3);
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(call(batcher, 1, 3), numbers(1, 3));  // the next batch is not affected
}

TEST(Batcher, AFailedCallersOtherRowsAreDropped) {
  std::atomic<int> batches{0};
  Batcher batcher({.in = 2, .out = 1, .max_batch = 4, .max_wait = 0us}, refusing_negatives(batches));
  EXPECT_THROW(call(batcher, -1, 11), std::domain_error);
  EXPECT_EQ(batches, 1);  // its other rows are not computed
  EXPECT_EQ(batcher.waiting(), 0);
  EXPECT_EQ(call(batcher, 3, 5), numbers(3, 5));
}

TEST(Batcher, StopAnswersWaitingCallers) {
  Sums sums;
  auto batcher = std::make_unique<Batcher>(
      serve::BatcherOptions{.in = 2, .out = 1, .max_batch = 100, .max_wait = never}, sums.function());
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&, i] { EXPECT_EQ(call(*batcher, 10 * i, 5), numbers(10 * i, 5)); });
  wait_for(*batcher, 15);
  batcher->stop();
  callers.clear();
  EXPECT_EQ(sums.batches, (std::vector<std::int64_t>{15}));
  EXPECT_THROW(call(*batcher, 0), serve::Stopped);
  batcher->stop();
}

TEST(Batcher, CallersDuringStopAreAnsweredOrRefused) {
  for (int round = 0; round < 20; ++round) {
    Sums sums;
    Batcher batcher({.in = 2, .out = 1, .max_batch = 4, .max_wait = 50us}, sums.function());
    std::atomic<int> answered{0};
    std::latch begun(5);
    {
      std::vector<std::jthread> callers;
      for (int i = 0; i < 4; ++i)
        callers.emplace_back([&, i] {
          begun.arrive_and_wait();
          try {
            for (int k = 0; k < 100'000; ++k, ++answered) EXPECT_EQ(call(batcher, i, 2), numbers(i, 2));
          } catch (const serve::Stopped&) {
          }
        });
      begun.arrive_and_wait();
      std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
      batcher.stop();
    }
    EXPECT_EQ(std::accumulate(sums.batches.begin(), sums.batches.end(), std::int64_t{0}), 2 * answered);
  }
}

TEST(Batcher, ManyCallersGetTheirOwnResults) {
  Sums sums;
  Batcher batcher({.in = 2, .out = 1, .max_batch = 16, .max_wait = 20us}, sums.function());
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i)
      callers.emplace_back([&, i] {
        for (int k = 0; k < 300; ++k) {
          const int first = 1000 * i + k, count = 1 + (k * 7 + i) % 20;
          EXPECT_EQ(call(batcher, first, count), numbers(first, count));
        }
      });
  }
  EXPECT_LE(*std::max_element(sums.batches.begin(), sums.batches.end()), 16);
  EXPECT_EQ(batcher.waiting(), 0);
}

TEST(Batcher, RefusesSizesThatAreNoRows) {
  Sums sums;
  Batcher batcher({.in = 2, .out = 1}, sums.function());
  std::vector<float> three(3), one(1), two(2);
  EXPECT_THROW(batcher(three, one), std::invalid_argument);
  EXPECT_THROW(batcher(two, two), std::invalid_argument);
  EXPECT_THROW(batcher({}, {}), std::invalid_argument);
  EXPECT_THROW(Batcher({.in = 0, .out = 1}, sums.function()), std::invalid_argument);
  EXPECT_THROW(Batcher({.in = 1, .out = 1, .max_batch = 0}, sums.function()), std::invalid_argument);
}

}  // namespace batcher_test
