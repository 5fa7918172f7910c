// Interleaved datasets, made ahead by threads: order, positions, errors; and elements in order of completion.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "data/elements.hpp"
#include "nax/nax.hpp"
#include "support/refusal.hpp"

namespace interleave_test {
using namespace nax;
using nax::testing::all_of;
using nax::testing::rest_of;
using namespace std::chrono_literals;

// Dataset i has (7 i) % 5 elements.
const auto some = [](std::int64_t i) { return data::range(100 * i, 100 * i + 7 * i % 5); };

double seconds_of(const auto& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A dataset of three elements whose first takes a while, as a shard of a store does.
auto slow(std::int64_t i) {
  return data::from_generator([i] {
    return [i, n = 0]() mutable {
      if (n == 0) std::this_thread::sleep_for(50ms);
      return n < 3 ? std::optional(10 * i + n++) : std::nullopt;
    };
  });
}

TEST(DataInterleave, ThreadsKeepTheOrderAndPositions) {
  for (const std::int64_t cycle : {1, 3, 20})
    for (const std::int64_t block : {1, 3}) {
      const auto plain = data::range(12).interleave(some, {.cycle_length = cycle, .block_length = block});
      const std::vector<std::int64_t> expected = all_of(plain);
      EXPECT_EQ(expected.size(), 22u);
      for (const std::int64_t ahead : {0, 2}) {
        const auto threads = data::range(12).interleave(
            some, {.cycle_length = cycle, .block_length = block, .parallel = true, .ahead = ahead});
        EXPECT_EQ(all_of(threads), expected) << cycle << ' ' << block << ' ' << ahead;
        auto it = threads.iterator();
        for (std::size_t n = 0; n <= expected.size(); ++n, it.next()) {
          const std::vector<std::int64_t> rest(expected.begin() + static_cast<std::ptrdiff_t>(n),
                                               expected.end());
          EXPECT_EQ(rest_of(threads.iterator(it.state())), rest);
          EXPECT_EQ(rest_of(plain.iterator(it.state())), rest);
        }
      }
    }
}

TEST(DataInterleave, ThreadsWaitForShardsAtOnce) {
  const auto plain = data::range(16).interleave(slow);
  const auto parallel = data::range(16).interleave(slow, {.parallel = true, .ahead = 12});
  std::vector<std::int64_t> expected, elements;
  EXPECT_GT(seconds_of([&] { expected = all_of(plain); }), 0.8);
  EXPECT_LT(seconds_of([&] { elements = all_of(parallel); }), 0.4);
  EXPECT_EQ(elements, expected);
}

TEST(DataInterleave, ErrorsComeAtTheirPlace) {
  const auto make = [](std::int64_t i) {
    if (i == 2) throw ShapeError("no dataset 2");
    return data::range(10 * i, 10 * i + 4).map([](std::int64_t j) {
      if (j == 31) throw ShapeError("no 31");
      return j;
    });
  };
  const auto input = data::range(6).map([](std::int64_t i) {
    if (i == 4) throw ShapeError("no 4");
    return i;
  });
  for (const std::int64_t cycle : {2, 4}) {
    std::vector<std::string> texts[2];
    std::vector<std::int64_t> elements[2];
    for (const bool parallel : {false, true})
      elements[parallel] = all_of(
          input.interleave(make, {.cycle_length = cycle, .parallel = parallel})
              .ignore_errors({.log = [&](const std::string& text) { texts[parallel].push_back(text); }}));
    EXPECT_EQ(texts[0], texts[1]);
    EXPECT_EQ(elements[0], elements[1]);
    EXPECT_EQ(texts[0].size(), 3u);
    EXPECT_EQ(elements[0].size(), 15u);
  }
  EXPECT_EQ(refusal<ShapeError>([&] { all_of(data::range(2, 6).interleave(make, {.parallel = true})); }),
            "interleave: element 0: no dataset 2");
  EXPECT_THROW(data::range(2).interleave(some, {.ahead = 1}), ValueError);
  EXPECT_THROW(data::range(2).interleave(some, {.deterministic = false}), ValueError);
  EXPECT_THROW(data::range(2).interleave(some, {.cycle_length = 510, .parallel = true, .ahead = 3}),
               ValueError);
}

// Dataset 0 waits for all others, which only works without an order.
TEST(DataInterleave, WithoutOrderAStragglerHoldsBackNothing) {
  std::atomic<bool> free{false};
  const auto make = [&](std::int64_t i) {
    return data::range(10 * i, 10 * i + 3).map([&, i](std::int64_t j) {
      for (int wait = 0; i == 0 && !free && wait < 5000; ++wait) std::this_thread::sleep_for(1ms);
      return j;
    });
  };
  std::vector<std::int64_t> elements;
  const auto mixed = data::range(6).interleave(
      make, {.cycle_length = 2, .parallel = true, .ahead = 1, .deterministic = false});
  for (const std::int64_t j : mixed) {
    elements.push_back(j);
    if (elements.size() == 15) free = true;
  }
  ASSERT_EQ(elements.size(), 18u);
  EXPECT_EQ((std::vector(elements.end() - 3, elements.end())), (std::vector<std::int64_t>{0, 1, 2}));
  std::sort(elements.begin(), elements.end());
  EXPECT_EQ(elements, all_of(data::concatenate(std::vector{data::range(3), data::range(10, 13),
                                                           data::range(20, 23), data::range(30, 33),
                                                           data::range(40, 43), data::range(50, 53)})));
}

TEST(DataInterleave, WithoutOrderMapHandsOutWhatIsReady) {
  std::atomic<bool> free{false};
  const auto wait_at_0 = [&](std::int64_t i) {
    for (int wait = 0; i == 0 && !free && wait < 5000; ++wait) std::this_thread::sleep_for(1ms);
    return i;
  };
  const data::MapOptions options{.threads = 2, .deterministic = false};
  const auto walked = data::range(40).filter([](std::int64_t) { return true; });
  for (const auto& dataset : {data::range(40).map(wait_at_0, options), walked.map(wait_at_0, options)}) {
    free = false;
    std::vector<std::int64_t> elements;
    for (const std::int64_t i : dataset) {
      elements.push_back(i);
      if (elements.size() == 39) free = true;
    }
    ASSERT_EQ(elements.size(), 40u);
    EXPECT_EQ(elements.back(), 0);
    std::sort(elements.begin(), elements.end());
    EXPECT_EQ(elements, all_of(data::range(40)));
  }
  // A position passes over as many inputs.
  const auto dataset = data::range(40).map([](std::int64_t i) { return i; }, options);
  auto it = dataset.iterator();
  for (int n = 0; n < 10; ++n) it.next();
  auto rest = rest_of(dataset.iterator(it.state()));
  std::sort(rest.begin(), rest.end());
  EXPECT_EQ(rest, all_of(data::range(10, 40)));
}

// Stages that count on the order get it: elements that belong together, elements kept by their place.
TEST(DataInterleave, CachesAndZipsAreInOrder) {
  const auto uneven = [](std::int64_t i) {
    if (i % 4 == 0) std::this_thread::sleep_for(3ms);
    return i;
  };
  const auto walked = data::range(40).filter([](std::int64_t) { return true; });
  const auto mixed = walked.map(uneven, {.threads = 4, .deterministic = false});
  for (const auto& [a, b] : data::zip(mixed, walked)) EXPECT_EQ(a, b);
  EXPECT_EQ(all_of(mixed.cache()), all_of(walked));
  const auto turns =
      data::range(8).interleave(slow, {.cycle_length = 8, .parallel = true, .deterministic = false});
  EXPECT_EQ(all_of(turns.cache()), all_of(data::range(8).interleave(slow, {.cycle_length = 8})));
}

TEST(DataInterleave, AChildIsRefusedAndAnIteratorLeftEarlyEnds) {
  const auto parallel = data::range(16).interleave(slow, {.parallel = true, .ahead = 12});
  auto it = parallel.iterator();
  it.next();
#if !defined(__SANITIZE_THREAD__)  // TSan starts no threads in a forked child
  auto preparing = parallel.iterator(it.state());
#else
  auto preparing = parallel.iterator();
  preparing.next();
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    int refused = 0;
    for (auto* one : {&it, &preparing}) {
      try {
        for (int i = 0; i < 50; ++i) one->next();
      } catch (const Error&) {
        ++refused;
      }
    }
    ::_exit(refused);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2) << "wait status " << status;
  EXPECT_LT(seconds_of([&] { auto gone = std::move(it); }), 0.3);
}

// The decision, from given measurements.
TEST(DataInterleave, AutoTuneTakesMoreThreadsThanCoresForWhatWaits) {
  using data::detail::threads_for;
  EXPECT_EQ(threads_for(0, 0, 2, 64), 2);     // nothing was measured yet
  EXPECT_EQ(threads_for(1, 1, 2, 64), 2);     // computes all the time
  EXPECT_EQ(threads_for(1, 0.51, 2, 64), 2);  // and half of it
  EXPECT_EQ(threads_for(1, 0.5, 2, 64), 4);
  EXPECT_EQ(threads_for(1, 0.125, 2, 64), 16);
  EXPECT_EQ(threads_for(1, 0, 2, 64), 64);
  EXPECT_EQ(threads_for(1, 1, 8, 3), 3);
}

// The measurement. A thread of a loaded machine may wait for a processor, which counts as computing; so each
// answer is polled until it comes. Without the tuner it would never come.
TEST(DataInterleave, AutoTuneTellsWaitingFromComputing) {
  std::atomic<int> now{0}, most{0};
  const auto counted = [&](std::int64_t i, bool waits) {
    const int here = ++now;
    for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
    }
    if (waits) {
      std::this_thread::sleep_for(20ms);
    } else {
      const auto computed = [] {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return 1s * time.tv_sec + 1ns * time.tv_nsec;
      };
      for (const auto end = computed() + 2ms; computed() < end;) {
      }
    }
    --now;
    return i;
  };
  const int before = num_threads();
  set_num_threads(2);
  const auto tuned = [&](bool waits) {
    most = 0;
    const auto work = [&, waits](std::int64_t i) { return counted(i, waits); };
    EXPECT_EQ(all_of(data::range(60).map(work, {.threads = data::auto_tune})).size(), 60u);
    return most.load();
  };
  const auto comes = [&](const auto& is_right) {
    const auto end = std::chrono::steady_clock::now() + 30s;
    while (!is_right())
      if (std::chrono::steady_clock::now() > end) return false;
    return true;
  };
  EXPECT_TRUE(comes([&] { return tuned(false) <= 2; }));
  EXPECT_TRUE(comes([&] { return tuned(true) >= 8; }));
  set_num_threads(before);
}

// Memory stays constant after the first elements. (Checked by hand for 10^7 elements.)
TEST(DataInterleave, MemoryStaysFlat) {
  const auto pages = [] {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident;
  };
  const auto shard = [](std::int64_t i) { return data::range(1000 * i, 1000 * i + 1000); };
  const auto dataset =
      data::range(100)
          .interleave(shard, {.block_length = 250, .parallel = true, .ahead = 1, .deterministic = false})
          .map([](std::int64_t i) { return i + 1; }, {.threads = 2, .deterministic = false});
  std::int64_t n = 0, sum = 0, early = 0;
  for (const std::int64_t i : dataset.prefetch(64)) {
    sum += i;
    if (++n == 10'000) early = pages();
  }
  EXPECT_EQ(sum, std::int64_t{100'000} * 100'001 / 2);
  EXPECT_LT((pages() - early) * 4096, 16 << 20);
}

}  // namespace interleave_test
