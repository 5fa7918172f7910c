// A child of fork() finds nax's locks free, and what they guard whole, whatever other threads were doing.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <nax/nax.hpp>
#include <thread>
#include <vector>

namespace fork_test {

using namespace nax;
using A = Array<double>;

// Whether a child in which f runs ends by itself, with true. One that hangs is killed by its alarm.
template <class F>
bool runs_in_child(const F& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    bool right = false;
    try {
      right = f();
    } catch (...) {
    }
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Fork, WaitsForHoldersOfLocks) {
  struct Guarded {
    detail::ForkMutex mutex;
    int a = 0, b = 0;
  };
  std::vector<std::unique_ptr<Guarded>> all;
  for (int i = 0; i < 5; ++i) all.push_back(std::make_unique<Guarded>());
  all.erase(all.begin() + 2);  // (one that is gone is not asked)
  std::atomic<int> held{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int turn : {0, 1})
    threads.emplace_back([&, turn] {
      while (!over) {
        // Two locks at a time, in either order: a fork that waits for one must not keep the other from its
        // holder.
        Guarded &first = *all[turn == 0 ? 0 : 3], &second = *all[turn == 0 ? 3 : 0];
        const std::lock_guard mine(first.mutex);
        ++first.a;
        if (const std::unique_lock other(second.mutex, std::try_to_lock); other) {
          ++second.a;
          ++held;
          std::this_thread::yield();
          ++second.b;
        }
        ++first.b;
      }
    });
  while (held == 0) std::this_thread::yield();
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(runs_in_child([&] {
      bool whole = true;
      for (const auto& one : all) {
        const std::lock_guard lock(one->mutex);
        whole = whole && one->a == one->b;
      }
      return whole;
    })) << i;
  over = true;
  for (std::thread& thread : threads) thread.join();
  detail::ForkMutex later;
  EXPECT_TRUE(runs_in_child([&] { return later.try_lock(); }));
}

TEST(Fork, ChildrenRunJittedFunctionsThatOtherThreadsReplay) {
  const auto f = jit([](const A& x) { return A(sum(sin(x) * x)); });
  const auto slope = jit(grad([](const A& x) { return A(sum(exp(x) * x)); }));
  const A x = linspace<double>(0, 1, 50);
  const auto beside = [](const A& at) {
    jit([](const A& y) { return A(y * y); })(at);  // recorded, and a cache that comes and goes
    fft::fft(at);
  };
  beside(x);
  const double value = f(x).item(), first = A(slope(x))(0).item();
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!over) {
        f(x), slope(x);
        beside(x);
      }
    });
  for (int i = 0; i < 60; ++i)
    EXPECT_TRUE(runs_in_child([&] {
      const A other = linspace<double>(0, 1, 51);
      f(other), slope(other);  // recorded anew
      beside(other);
      return f(x).item() == value && A(slope(x))(0).item() == first;
    })) << i;
  over = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace fork_test
