// Caches in memory and in folders.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "data/elements.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/creation/creation.hpp"

namespace cache_test {
using namespace nax;
using nax::testing::all_of;

std::string fresh_folder(const char* name) {
  const std::string folder = ::testing::TempDir() + "nax_cache_" + name + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  return folder + "/a/b";
}

// The one pipeline's files below it.
std::string files_of(const std::string& folder) {
  const auto only = std::filesystem::directory_iterator(folder);
  return only->path().string();
}

struct Counted {
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  std::int64_t operator()(std::int64_t i) const {
    ++*calls;
    return i * i;
  }
};
const auto all_pass = [](std::int64_t) { return true; };

TEST(DataCache, InMemoryEachElementIsMadeOnce) {
  for (const bool walked : {false, true}) {
    const Counted square;
    auto input = data::range(40);
    if (walked) input = input.filter(all_pass);
    const auto cached = input.map(square, {.threads = 2}).cache();
    const auto first = all_of(cached);
    EXPECT_EQ(all_of(cached), first);
    EXPECT_EQ(all_of(cached.repeat(3)).size(), 120u);
    EXPECT_EQ(*square.calls, 40);
    // A walk that ends early keeps the elements it made.
    const Counted again;
    const auto left = input.map(again).cache();
    all_of(left.take(10));
    EXPECT_EQ(all_of(left), first);
    EXPECT_EQ(*again.calls, 40);  // skipped elements are not made twice
  }
  const Counted square;
  const auto shuffled = data::range(40).map(square).cache().shuffle({.key = random::key(0)});
  EXPECT_NE(all_of(shuffled), all_of(shuffled.epoch(1)));
  EXPECT_EQ(*square.calls, 40);
}

TEST(DataCache, AnElementThatFailsKeepsItsPlace) {
  const auto fails = [](std::int64_t i) { return i == 3 ? throw ValueError("f: no threes") : i; };
  const auto cached = data::range(8).filter(all_pass).map(fails).cache().ignore_errors();
  const std::vector<std::int64_t> expected{0, 1, 2, 4, 5, 6, 7};
  {
    auto it = cached.iterator();
    for (int n = 0; n < 5; ++n) EXPECT_EQ(it.next(), expected[static_cast<std::size_t>(n)]);
  }
  for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(all_of(cached), expected);
}

TEST(DataCache, AFolderOutlivesTheDataset) {
  for (const bool walked : {false, true}) {
    const std::string folder = fresh_folder(walked ? "walked" : "indexed");
    auto input = data::range(20);
    if (walked) input = input.filter(all_pass);
    const Counted first, second;
    const auto values = all_of(input.map(first).cache(folder));
    EXPECT_EQ(all_of(input.map(second).cache(folder)), values);
    EXPECT_EQ(*first.calls, 20);
    EXPECT_EQ(*second.calls, 0);
    // Another pipeline does not use it.
    const Counted third;
    EXPECT_EQ(all_of(input.skip(1).map(third).cache(folder))[0], 1);
    EXPECT_EQ(*third.calls, 19);
  }
}

TEST(DataCache, DamagedFilesAreMadeAgain) {
  for (const bool walked : {false, true}) {
    const std::string named = fresh_folder(walked ? "damaged_walked" : "damaged");
    auto input = data::range(12);
    if (walked) input = input.filter(all_pass);
    const auto values = all_of(input.map(Counted()).cache(named));
    const std::string folder = files_of(named);
    std::filesystem::resize_file(folder + "/0000000003.nax", 35);  // cut short
    std::filesystem::resize_file(folder + "/0000000004.nax", 0);   // empty
    std::filesystem::remove(folder + "/0000000005.nax");
    std::fstream(folder + "/0000000006.nax", std::ios::in | std::ios::out)
        .seekp(33)
        .put('x');                                                                    // another byte
    std::filesystem::rename(folder + "/0000000008.nax", folder + "/0000000007.nax");  // another's
    const Counted again;
    EXPECT_EQ(all_of(input.map(again).cache(named)), values);
    EXPECT_EQ(*again.calls, 6);
    const Counted none;
    EXPECT_EQ(all_of(input.map(none).cache(named)), values);
    EXPECT_EQ(*none.calls, 0);
  }
}

TEST(DataCache, TwoProcessesFillOneFolder) {
  const std::string folder = fresh_folder("two");
  const auto element = [](std::int64_t i) {
    return std::tuple{full<float>({20, 30}, static_cast<float>(i)), i};
  };
  const auto cached = data::range(100).map(element).cache(folder);
  const auto is_right = [&] {
    std::int64_t i = 0;
    for (const auto& [x, k] : cached) {
      if (k != i || x.shape() != Shape{20, 30} || x(19, 29).item() != static_cast<float>(i)) return false;
      ++i;
    }
    return i == 100;
  };
  const pid_t child = ::fork();
  if (child == 0) ::_exit(is_right() ? 0 : 1);
  EXPECT_TRUE(is_right());
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_right());
  for (const auto& entry : std::filesystem::directory_iterator(files_of(folder)))
    EXPECT_EQ(entry.path().extension(), ".nax") << entry.path();
}

TEST(DataCache, AForkedChildFindsMemoryUnlocked) {
  // Copies of these take most of the time, under the store's lock.
  const auto large = [](std::int64_t i) { return std::vector<std::int64_t>(100'000, i); };
  const auto cached = data::range(4).map(large).cache();
  const auto is_right = [&] {
    std::int64_t i = 0;
    for (const std::vector<std::int64_t>& x : cached) {
      if (x.size() != 100'000 || x.back() != i++) return false;
    }
    return i == 4;
  };
  std::atomic<bool> ended{false};
  std::thread other([&] {
    while (!ended) EXPECT_TRUE(is_right());
  });
  for (int turn = 0; turn < 20; ++turn) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      ::_exit(is_right() ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  ended = true;
  other.join();
}

TEST(DataCache, FilesOfKilledProcessesAreSwept) {
  const std::string named = fresh_folder("swept");
  const auto cached = [&] { return data::range(3).cache(named); };
  all_of(cached());
  const std::string folder = files_of(named);
  const pid_t child = ::fork();
  if (child == 0) {  // killed between writing and renaming
    std::ofstream(io::detail::part_name(folder + "/0000000001.nax")) << "half";
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  const std::string own = io::detail::part_name(folder + "/0000000002.nax");
  std::ofstream(own) << "in the making";
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  EXPECT_EQ(count(), 5);
  EXPECT_EQ(all_of(cached()).size(), 3u);
  EXPECT_EQ(count(), 4);
  EXPECT_TRUE(std::filesystem::exists(own));
}

TEST(DataCache, AFullDiskIsReportedOnceAndBypassed) {
  const std::string folder = fresh_folder("full");
  const auto large = [](std::int64_t i) {
    return std::tuple{full<float>({100, 100}, static_cast<float>(i)), i};
  };
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10'000, before.rlim_max};
  ::testing::internal::CaptureStderr();
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::int64_t sum = 0;
  for (const auto& [x, i] : data::range(5).map(large, {.threads = 2}).cache(folder))
    sum += static_cast<std::int64_t>(x(99, 99).item()) + i;
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(sum, 20);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "cache: '" + folder + "' cannot be written to: File too large; the loop goes on without it\n");
  EXPECT_TRUE(std::filesystem::is_empty(files_of(folder)));
}

struct Everything {
  std::vector<Array<float>> arrays;
  std::map<std::string, Array<std::uint8_t>> named;
  std::optional<Array<bool>> maybe;
  std::pair<int, double> numbers;
};

TEST(DataCache, FoldersKeepTreesOfAllKinds) {
  const auto make = [](std::int64_t i) {
    Everything e{
        {arange<float>(3), Array<float>()}, {{"a b", {1, 2}}}, std::nullopt, {static_cast<int>(i), 0.1}};
    if (i % 2) e.maybe = Array<bool>{true, false};
    return e;
  };
  const auto cached = data::range(2).map(make).cache(fresh_folder("trees"));
  for (int turn = 0; turn < 2; ++turn) {
    int i = 0;
    for (const Everything& e : cached) {
      ASSERT_EQ(e.arrays.size(), 2u);
      EXPECT_EQ(e.arrays[0].to_vector(), (std::vector<float>{0, 1, 2}));
      EXPECT_EQ(e.arrays[1].shape(), Shape{0});
      EXPECT_EQ(e.named.at("a b").to_vector(), (std::vector<std::uint8_t>{1, 2}));
      EXPECT_EQ(e.maybe.has_value(), i == 1);
      EXPECT_EQ(e.numbers, (std::pair{i++, 0.1}));
    }
  }
  try {
    data::range(2).cache("/proc/nowhere");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("'/proc/nowhere' cannot be made"), std::string::npos);
  }
}

}  // namespace cache_test
