#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "nax/io/checkpoints.hpp"
#include "nax/numpy.hpp"
#include "nax/random.hpp"
#include "support/text_of.hpp"

// Checkpoints written by several processes, here threads with an object each.
namespace sharded_checkpoints_test {
using namespace nax;

struct State {
  Array<float> w;
  Array<double> scalar;
  std::map<std::string, Array<std::int8_t>> small;
  std::vector<Array<half>> list;
  Array<float> nothing;
  std::int64_t seen = 0;
  random::Key key = random::key(0);
};
State state(std::int64_t step) {
  const auto key = random::key(static_cast<int>(step));
  return {random::normal(key, {5, 7, 3}),
          Array<double>(static_cast<double>(step) / 3),
          {{"a", Array<std::int8_t>{1, 2}}, {"b", Array<std::int8_t>{static_cast<std::int8_t>(step)}}},
          {random::normal(key, {2, 2}).astype<half>()},
          zeros<float>({0, 3}),
          step * 10,
          key};
}
void expect_same(const State& got, const State& want) {
  tree::for_each(
      [](const auto& a, const auto& b) {
        if constexpr (is_array_v<decltype(a)>) {
          EXPECT_EQ(a.shape(), b.shape());
          EXPECT_EQ(a.template astype<double>().to_vector(), b.template astype<double>().to_vector());
        } else {
          EXPECT_EQ(a, b);
        }
      },
      std::tie(got.w, got.scalar, got.small, got.list, got.nothing, got.seen),
      std::tie(want.w, want.scalar, want.small, want.list, want.nothing, want.seen));
  EXPECT_EQ(got.key.words().item(), want.key.words().item());
}

struct Folder {
  Folder() {
    std::filesystem::remove_all(path);
    EXPECT_TRUE(std::filesystem::create_directory(path));
  }
  ~Folder() { std::filesystem::remove_all(path); }
  // Without the hidden one that is locked on Windows.
  std::int64_t files() const {
    return std::count_if(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator(),
                         [](const auto& entry) { return entry.path().filename() != ".lock"; });
  }
  static inline int made = 0;
  std::string path = testing::TempDir() + "nax_shards_" + std::to_string(nax::detail::os::process_id()) +
                     "_" + std::to_string(made++);
};

// f(process, its object), one thread each.
template <class F>
void together(const std::string& folder, int processes, io::CheckpointsOptions options, const F& f) {
  options.processes = processes;
  std::vector<std::unique_ptr<io::Checkpoints>> all;
  for (options.process = 0; options.process < processes; ++options.process)
    all.push_back(std::make_unique<io::Checkpoints>(folder, options));
  std::vector<std::thread> threads;
  for (int i = 0; i < processes; ++i)
    threads.emplace_back([&, i] { f(i, *all[static_cast<std::size_t>(i)]); });
  for (std::thread& thread : threads) thread.join();
}

TEST(ShardedCheckpoints, AreRestoredByAnyNumberOfProcesses) {
  for (const int writers : {2, 3, 7}) {
    const Folder folder;
    together(folder.path, writers, {}, [](int, io::Checkpoints& saved) {
      EXPECT_TRUE(saved.save(1, state(1)));
      EXPECT_TRUE(saved.save(4, state(4)));
    });
    EXPECT_EQ(folder.files(), 2 * (writers + 1));
    State one = state(0);
    EXPECT_EQ(io::Checkpoints(folder.path).restore(one), 4);
    expect_same(one, state(4));
    together(folder.path, 4, {}, [](int, io::Checkpoints& saved) {
      State mine = state(0);
      EXPECT_EQ(saved.restore(mine), 4);
      expect_same(mine, state(4));
      EXPECT_EQ(saved.restore(mine, 1), 1);
      expect_same(mine, state(1));
      saved.save(5, state(5));
    });
    io::Checkpoints single(folder.path);
    EXPECT_EQ(single.restore(one), 5);
    single.save(6, state(6));  // in one file again
    EXPECT_EQ(single.steps(), (std::vector<std::int64_t>{1, 4, 5, 6}));
    together(folder.path, 2, {}, [](int, io::Checkpoints& saved) {
      State mine = state(0);
      EXPECT_EQ(saved.restore(mine), 6);
      expect_same(mine, state(6));
    });
  }
}

TEST(ShardedCheckpoints, GoWithTheirShards) {
  const Folder folder;
  together(folder.path, 2, {.keep = 1, .async = true, .best = io::Best::lowest},
           [](int process, io::Checkpoints& saved) {
             for (int step = 1; step <= 5; ++step)
               saved.save(step, state(step), {.metric = step == 2 ? 0.0 : 1.0});
             saved.wait();
             if (process > 0) return;  // the first one may still be removing older ones
             EXPECT_EQ(saved.steps(), (std::vector<std::int64_t>{2, 5}));
             State best = state(0);
             EXPECT_EQ(saved.restore_best(best), 2);
           });
  EXPECT_EQ(folder.files(), 6);
  // Left by a crash: shards without their manifest, and a part of one.
  for (const char* name :
       {"/step_6.shard_0_of_2.npz", "/step_6.shard_1_of_2.npz.partX", "/step_7.shards.npz"})
    std::ofstream(folder.path + name) << "x";
  const io::Checkpoints other(folder.path, {.processes = 2, .process = 1});
  EXPECT_EQ(folder.files(), 9);  // the first process removes them
  const io::Checkpoints first(folder.path, {.processes = 2, .process = 0});
  EXPECT_EQ(folder.files(), 7);
}

TEST(ShardedCheckpoints, ErrorsNameTheCause) {
  const Folder folder;
  const auto text = [&](const auto& f) { return text_of<IoError>(f); };
  {
    io::Checkpoints first(folder.path, {.processes = 2, .process = 0, .timeout = 0.01});
    EXPECT_NE(text([&] { first.save(1, state(1)); }).find("process 1 has not written"), std::string::npos);
    io::Checkpoints second(folder.path, {.async = true, .processes = 2, .process = 1, .timeout = 0.01});
    second.save(2, state(1));
    EXPECT_NE(text([&] { second.wait(); }).find("process 0 has not completed"), std::string::npos);
    EXPECT_EQ(first.steps().size(), 0u);
  }
  together(folder.path, 2, {}, [](int, io::Checkpoints& saved) { saved.save(3, state(3)); });
  State mine = state(0);
  io::Checkpoints saved(folder.path);
  EXPECT_NE(text_of<ValueError>([&] {
              io::Checkpoints(folder.path, {.processes = 2, .process = 1}).save(3, state(3));
            }).find("has step 3 already"),
            std::string::npos);
  EXPECT_NE(text_of<ValueError>([&] {
              io::Checkpoints(folder.path, {.processes = 2, .process = 2});
            }).find("no process 2 of 2"),
            std::string::npos);
  const std::string shard = folder.path + "/step_3.shard_1_of_2.npz";
  std::filesystem::resize_file(shard, std::filesystem::file_size(shard) / 2);
  EXPECT_NE(text([&] { saved.restore(mine); }).find(shard), std::string::npos);
  std::filesystem::remove(shard);
  EXPECT_NE(text([&] { saved.restore(mine); }).find(shard), std::string::npos);
  expect_same(mine, state(0));
}

// Parameters, an optimiser's state in parts, a position, a key that differ: no checkpoint is made of a
// mixture.
TEST(ShardedCheckpoints, StatesThatDifferAreRefused) {
  for (const int different : {0, 1, 2}) {
    const Folder folder;
    together(folder.path, 3, {}, [&](int process, io::Checkpoints& saved) {
      State mine = state(1);
      EXPECT_TRUE(saved.save(1, mine, {.metric = static_cast<double>(process)}));  // a metric may differ
      if (process == different) mine.seen = 7;
      const std::string text = text_of<IoError>([&] { saved.save(2, mine); });
      EXPECT_EQ(
          text.find("Checkpoints: '" + folder.path + "/step_2.npz' is not written: state.seen of process "),
          0u)
          << text;
      const int other = process == different ? (different == 0 ? 1 : 0) : different;
      EXPECT_NE(text.find("of process " + std::to_string(other) + " is not equal to that of process " +
                          std::to_string(process)),
                std::string::npos)
          << text;
    });
    State back = state(0);
    EXPECT_EQ(io::Checkpoints(folder.path).restore(back), 1);
    expect_same(back, state(1));
  }
  // Elements that this process does not write, dtypes, shapes and names count, too.
  const auto refused = [](const auto& first, const auto& second) {
    const Folder folder;
    std::string text;
    together(folder.path, 2, {}, [&](int process, io::Checkpoints& saved) {
      const std::string one = process == 0 ? text_of<IoError>([&] { saved.save(1, first); })
                                           : text_of<IoError>([&] { saved.save(1, second); });
      if (process == 1) text = one;
    });
    const std::size_t begin = text.find("is not written: "), end = text.find(" of process");
    return begin == std::string::npos ? text : text.substr(begin + 16, end - begin - 16);
  };
  using A = Array<float>;
  using Map = std::map<std::string, A>;
  EXPECT_EQ(refused(A{1, 2, 3}, A{1, 2, 4}), "state");
  EXPECT_EQ(refused(A{1, 2, 3}, A{4, 2, 3}), "state");
  EXPECT_EQ(refused(A{1, 2}, A{{1, 2}}), "state");
  EXPECT_EQ(refused(A{0}, Array<int>{0}), "state");
  EXPECT_EQ(refused(Map{{"a", {1}}, {"b", {2}}}, Map{{"a", {1}}, {"c", {2}}}), "state['c']");
  EXPECT_EQ(refused(Map{{"a", {1}}}, Map{{"a", {1}}, {"c", {2}}}), "state['c']");
  EXPECT_EQ(refused(Map{{"a", {1}}, {"c", {2}}}, Map{{"a", {1}}}), "the number of leaves");
}

TEST(ShardedCheckpoints, StatesOfTheirOwnComeBackToTheirProcesses) {
  const Folder folder;
  together(folder.path, 3, {.keep = 1, .own = true}, [](int process, io::Checkpoints& saved) {
    for (int step = 1; step <= 2; ++step) saved.save(step, state(step + 10 * process));
  });
  EXPECT_EQ(folder.files(), 4);
  together(folder.path, 3, {.own = true}, [](int process, io::Checkpoints& saved) {
    State mine = state(0);
    EXPECT_EQ(saved.restore(mine), 2);
    expect_same(mine, state(2 + 10 * process));
  });
  State mine = state(0);
  for (const int processes : {1, 2})
    EXPECT_NE(text_of<IoError>([&] {
                io::Checkpoints(folder.path, {.processes = processes}).restore(mine);
              }).find("is of 3 processes with states of their own, not of " + std::to_string(processes)),
              std::string::npos);
  expect_same(mine, state(0));
  // One damaged part keeps all from restoring it.
  together(folder.path, 3, {.own = true},
           [](int process, io::Checkpoints& saved) { saved.save(5, state(5 + 10 * process)); });
  std::filesystem::resize_file(folder.path + "/step_5.shard_1_of_3.npz", 100);
  testing::internal::CaptureStderr();
  together(folder.path, 3, {.own = true}, [](int process, io::Checkpoints& saved) {
    State one = state(0);
    EXPECT_EQ(saved.restore(one), 2);
    expect_same(one, state(2 + 10 * process));
    if (process == 0) saved.wait();
  });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("step_5.shard_1_of_3.npz"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder.path + "/step_5.npz.damaged"));
  together(folder.path, 3, {.own = true}, [](int process, io::Checkpoints& saved) {
    saved.save(5, state(5 + 10 * process));
    State one = state(0);
    EXPECT_EQ(saved.restore(one), 5);
    expect_same(one, state(5 + 10 * process));
  });
}

}  // namespace sharded_checkpoints_test
