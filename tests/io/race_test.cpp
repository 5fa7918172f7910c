#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "files.hpp"
#include "nax/io/save.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"

// Several threads and processes save to one path while others load it: every reader sees one whole file.
namespace race_test {
using namespace nax;

constexpr int processes = 3, writers = 4, readers = 3, saves = 25;

// Contents and lengths differ by writer, so a mixture of two files is detected.
struct State {
  Array<float> a, b;
  int who = 0, step = 0;
};
State state_of(int who, int step) {
  const int value = who * 1000 + step;
  return {full<float>({100 + 2000 * who}, value), full<float>({5000 - 100 * who}, value), who, step};
}

void expect_whole(const std::string& path) {
  State s;
  io::load(path, s);
  const State right = state_of(s.who, s.step);
  ASSERT_EQ(s.a.to_vector(), right.a.to_vector());
  ASSERT_EQ(s.b.to_vector(), right.b.to_vector());
}

void save_often(const std::string& path, int who) {
  for (int step = 0; step < saves; ++step) io::save(path, state_of(who, step));
}

TEST(Race, EveryReadSeesOneWholeFile) {
  const std::string path = files::path_of("race.npz");
  io::save(path, state_of(0, 0));
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int failed = 0;
      try {
        save_often(path, i);
      } catch (...) {
        failed = 1;
      }
      ::_exit(failed);
    }
    children.push_back(child);
  }
  std::atomic<int> writing{writers};
  std::vector<std::thread> threads;
  for (int i = 0; i < writers; ++i)
    threads.emplace_back([&, i] {
      EXPECT_NO_THROW(save_often(path, processes + i));
      --writing;
    });
  std::atomic<int> reads{0};
  for (int i = 0; i < readers; ++i)
    threads.emplace_back([&] {
      do {
        EXPECT_NO_THROW(expect_whole(path));
        ++reads;
      } while (writing > 0);
    });
  for (std::thread& thread : threads) thread.join();
  for (pid_t child : children) {
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  expect_whole(path);
  EXPECT_GE(reads, readers);
  std::remove(path.c_str());
}

}  // namespace race_test
