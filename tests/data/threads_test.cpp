// Threads: errors reach the loop, no thread outlives it, memory is bounded.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>

#include "data/elements.hpp"
#include "nax/core/allocator.hpp"
#include "nax/nax.hpp"
#include "support/refusal.hpp"

namespace threads_test {
using namespace nax;
using nax::testing::all_of;

std::size_t threads_now() {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++n;
  return n;
}
// How many there are once no more than `expected` are left, or after 10 s: join() returns before the kernel
// takes the thread off its list.
std::size_t threads_left(std::size_t expected) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (threads_now() > expected && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return threads_now();
}

const auto exhaust = [](const auto& dataset) {
  for (const auto& element : dataset) static_cast<void>(element);
};
const auto fail_at_7 = [](std::int64_t i) {
  if (i == 7) throw ShapeError("f: no sevens");
  return i;
};

TEST(DataThreads, ErrorsNameTheStageAndTheElement) {
  for (const int threads : {0, 1, 4}) {
    const auto by_index = data::range(20).map(fail_at_7, {.threads = threads, .name = "sevens"});
    const auto walked =
        data::range(20).filter([](std::int64_t) { return true; }).map(fail_at_7, {.threads = threads});
    EXPECT_EQ(refusal<ShapeError>([&] { exhaust(by_index); }), "map 'sevens': element 7: f: no sevens");
    EXPECT_EQ(refusal<ShapeError>([&] { exhaust(by_index.batch(4).prefetch(2)); }),
              "map 'sevens': element 7: f: no sevens");
    EXPECT_EQ(refusal<ShapeError>([&] { exhaust(walked.prefetch(2)); }), "map: element 7: f: no sevens");
    // Elements before the error are delivered; after it there are none.
    auto it = by_index.prefetch(1).iterator();
    for (int i = 0; i < 7; ++i) EXPECT_EQ(it.next(), i);
    EXPECT_THROW(it.next(), ShapeError);
    EXPECT_FALSE(it.next());
    EXPECT_EQ(it.state().count(), 7);
  }
  const auto shuffled = data::range(20).shuffle({.key = random::key(0)}).map(fail_at_7);
  EXPECT_EQ(refusal<ShapeError>([&] { exhaust(shuffled); }), "map: element 7: f: no sevens");
  const auto throws_int = data::range(3).map([](std::int64_t i) -> std::int64_t { throw i; }, {.threads = 2});
  EXPECT_EQ(refusal<Error>([&] { exhaust(throws_int); }),
            "map: element 0: an exception that is no std::exception");
  const auto filtered =
      data::range(9).filter([](std::int64_t i) { return fail_at_7(i) >= 0; }, {.name = "good"});
  EXPECT_EQ(refusal<ShapeError>([&] { exhaust(filtered.prefetch(1)); }),
            "filter 'good': element 7: f: no sevens");
  try {
    exhaust(data::range(9).map([](std::int64_t) -> int { throw std::out_of_range("mine"); }, {.threads = 2}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THROW(std::rethrow_if_nested(error), std::out_of_range);
  }
}

TEST(DataThreads, DerivativesThroughThreadsAreRefused) {
  const auto loss_with = [](int threads, std::int64_t ahead) {
    return [=](const Array<float>& w) {
      const auto scaled = [&](std::int64_t i) -> Array<float> { return w * static_cast<float>(i); };
      const auto pipeline = data::range(4).map(scaled, {.threads = threads, .name = "scaled"});
      Array<float> sum(0.f);
      for (const Array<float>& x : pipeline.prefetch(ahead)) sum = sum + x;
      return sum;
    };
  };
  const Array<float> w(2.f);
  EXPECT_EQ(grad(loss_with(0, 0))(w).item(), 6.f);
  const std::string refused =
      "map 'scaled': element 0: the function works in a thread of its own and uses an array that is being "
      "differentiated, which only the loop's thread records; give the stages from here to the loop no "
      "threads and no prefetch";
  EXPECT_EQ(refusal<ValueError>([&] { grad(loss_with(2, 0))(w); }), refused);
  EXPECT_EQ(refusal<ValueError>([&] { grad(loss_with(0, 2))(w); }), refused);
  // The second derivative's outer array, too.
  const auto outer = [&](const Array<float>& v) {
    return grad([&](const Array<float>& u) { return u * u + loss_with(1, 0)(v); })(Array<float>(1.f));
  };
  EXPECT_EQ(refusal<ValueError>([&] { grad(outer)(w); }), refused);
  // Outside of a derivative, and with constants within one, threads do not change the result.
  EXPECT_EQ(loss_with(2, 2)(w).item(), 12.f);
  const auto constants = [](const Array<float>& v) {
    const auto twice = [](std::int64_t i) -> Array<float> {
      return grad([](const Array<float>& x) { return x * x; })(Array<float>(static_cast<float>(i)));
    };
    Array<float> sum(0.f);
    for (const Array<float>& x : data::range(4).map(twice, {.threads = 2})) sum = sum + x * v;
    return sum;
  };
  EXPECT_EQ(grad(constants)(w).item(), 12.f);
}

TEST(DataThreads, FilesAreNamedInErrors) {
  const std::vector<std::string> paths = {"/proc/self/status", "/no/such/file"};
  const auto sizes = data::from_files(paths, [](const io::Bytes& bytes) { return bytes.size(); });
  EXPECT_EQ(
      refusal<IoError>([&] { exhaust(sizes.prefetch(1)); }),
      "from_files: '/no/such/file': from_files: '/no/such/file' cannot be opened: No such file or directory");
  EXPECT_EQ(all_of(data::from_files(paths, [](const std::string& path) { return path; })), paths);
  const auto both = [](const std::string& path, const io::Bytes& bytes) {
    return path.size() + bytes.size() * 0;
  };
  EXPECT_EQ(all_of(data::from_files({"/proc/self/status"}, both)), std::vector<std::size_t>{17});
}

TEST(DataThreads, LeavingAtAnyPointStopsAllOfThem) {
  const auto pipeline = data::range(100000)
                            .shuffle({.key = random::key(1)})
                            .map([](std::int64_t i) { return i + 1; }, {.threads = 3})
                            .filter([](std::int64_t i) { return i % 3 != 0; })
                            .shuffle({.buffer = 50, .key = random::key(2)})
                            .map([](std::int64_t i) { return 2 * i; }, {.threads = 2})
                            .batch(4, {.threads = 2})
                            .prefetch(3)
                            .repeat();
  const std::size_t before = threads_now();
  for (int turn = 0; turn < 300; ++turn) {
    auto it = pipeline.iterator();
    for (int steps = turn * 7919 % 23; steps > 0; --steps) ASSERT_TRUE(it.next());
    if (turn % 3 == 0) it = pipeline.iterator();
  }
  EXPECT_EQ(threads_left(before), before);
}

TEST(DataThreads, LeavingWhileAFilterFindsNothing) {
  std::atomic<int> seen{0};
  const auto nothing = data::range(10).repeat().filter([&](std::int64_t i) {
    ++seen;
    return i < 0;
  });
  const std::size_t before = threads_now();
  {
    // The first element comes, the second never does: its thread must end all the same.
    auto it = data::range(1)
                  .concatenate(nothing)
                  .prefetch(1)
                  .map([](std::int64_t i) { return i; }, {.threads = 2})
                  .iterator();
    EXPECT_EQ(it.next(), 0);
    while (seen < 100) std::this_thread::yield();
  }
  EXPECT_EQ(threads_left(before), before);
}

TEST(DataThreads, NoMoreElementsThanTheStagesHold) {
  std::atomic<std::int64_t> made{0};
  const auto counted = [&](std::int64_t i) {
    ++made;
    return i;
  };
  auto it = data::range(1000).map(counted, {.threads = 3}).batch(10).prefetch(2).iterator();
  ASSERT_TRUE(it.next());
  while (made < 30) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // 10 taken; 2 batches wait and one is being gathered; 6 slots of the three threads.
  EXPECT_LE(made, 10 + 30 + 6);
}

TEST(DataThreads, AutoTuneAddsThreadsWhereTheLoopWaits) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  const auto slow = [&](std::int64_t i) {
    {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return i;
  };
  const int threads = num_threads();
  set_num_threads(4);
  EXPECT_EQ(all_of(data::range(100).map(slow, {.threads = data::auto_tune})).size(), 100u);
  EXPECT_GT(ids.size(), 1u);
  EXPECT_LE(ids.size(), 64u);  // they wait
  set_num_threads(threads);
}

TEST(DataThreads, SeveralLoopsOverOneDataset) {
  const auto dataset = data::range(2000)
                           .map([](std::int64_t i) { return i * i; }, {.threads = 2})
                           .cache()
                           .shuffle({.key = random::key(7)});
  const auto expected = all_of(dataset);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn) right += all_of(dataset) == expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 20);
}

}  // namespace threads_test
