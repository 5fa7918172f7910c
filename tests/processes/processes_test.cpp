#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nax/nax.hpp>
#include <thread>

#include "support/four_devices.hpp"

// nax in processes that fork, start threads anywhere, and call nax during their exit.

// Objects of the parent's threads are not leaks of a child, which does not see their thread-local objects.
extern "C" int __lsan_is_turned_off();

namespace processes_test {

using namespace nax;
using F = Array<float>;

const F x = {1, 2, 3, 4};

bool same(const F& a, const F& b) { return a.shape() == b.shape() && bool(all(a == b)); }

F sums(const F& x) {
  return pmap([](const F& x) { return psum(x, "i"); }, {.axis_name = "i"})(x);
}
// Each transform once, and an operation that several threads share.
bool all_right() {
  const F g = grad([](const F& x) { return F(sum(x * x)); })(x);
  const F v = vmap([](const F& x) { return x * 2.f + psum(x, "i"); }, {.axis_name = "i"})(x);
  const F d = grad([](const F& x) {
    return F(sum(pmap([](const F& x) { return x * psum(x, "i"); }, {.axis_name = "i"})(x)));
  })(x);
  const F large = ones<float>({1 << 20});
  // Of so many operands that a thread's own tiles are used.
  const F many = exp(x) + sin(x) * x + cos(x) - x / (x + 1.f) - exp(x) - sin(x) * x - cos(x);
  return same(g, F{2, 4, 6, 8}) && same(v, F{12, 14, 16, 18}) && same(sums(x), F{10, 10, 10, 10}) &&
         same(d, F{20, 20, 20, 20}) && sum(exp(large * 0.f)).item() == 1 << 20 && many.size() == 4;
}

// ---- children of fork()

#if defined(__SANITIZE_THREAD__)
constexpr bool can_fork = false;  // its children may not start threads
#else
constexpr bool can_fork = true;
#endif

bool is_child = false;

// Runs f in a child of this process; whether it ended in time, with what f returned.
template <class F>
testing::AssertionResult in_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    is_child = true;
    alarm(120);  // ends a child that hangs
    std::exit(f() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return testing::AssertionFailure() << "no child";
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << (WIFSIGNALED(status) ? "signal " : "exit code ")
                                     << (WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

class Fork : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_fork) GTEST_SKIP();
    set_num_threads(3);
    ASSERT_TRUE(all_right());
  }
};

TEST_F(Fork, ChildrenExit) {
  EXPECT_TRUE(in_child([] { return true; }));
}
TEST_F(Fork, ChildrenCallEverything) {
  EXPECT_TRUE(in_child(all_right));
  EXPECT_TRUE(all_right());
}
TEST_F(Fork, ChildrenOfChildren) {
  EXPECT_TRUE(in_child([] { return all_right() && in_child(all_right) && all_right(); }));
}
TEST_F(Fork, ArraysOfTheParent) {
  const F shards = pmap([](const F& x) { return x * 2.f; })(x);
  EXPECT_TRUE(in_child([&] { return same(sums(shards), F{20, 20, 20, 20}); }));
}
TEST_F(Fork, WhileOtherThreadsAreAtWork) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      sums(x);
      const F large = ones<float>({1 << 17});
      const F more = large + 1.f;
    }
  });
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(in_child(all_right));
  stop = true;
  other.join();
}
TEST_F(Fork, WithinADevicesFunction) {
  auto f = [](const F& x) {
    if (axis_index("i").item() == 1) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(120);
        try {
          psum(x, "i");
        } catch (const DeviceError& error) {
          _exit(std::string(error.what()) ==
                        "psum: the process was forked within pmap's function, without the other devices"
                    ? 0
                    : 1);
        }
        _exit(2);
      }
      int status = 0;
      waitpid(child, &status, 0);
      return F(psum(x * 0.f + static_cast<float>(status), "i"));
    }
    return F(psum(x * 0.f, "i"));
  };
  EXPECT_TRUE(same(pmap(f, {.axis_name = "i"})(x), F{0, 0, 0, 0}));
}

// ---- destructors

bool ended_well = false;
struct AtEnd {
  bool& right;
  bool needed = true;
  ~AtEnd() { right = all_right(); }
};

TEST(Destructors, OfThreadLocalObjects) {
  for (const bool used_before : {false, true}) {
    ended_well = false;
    std::thread([&] {
      if (used_before) all_right();
      static thread_local AtEnd before{ended_well};
      EXPECT_TRUE(before.needed);
      if (!used_before) all_right();
    }).join();
    EXPECT_TRUE(ended_well);
  }
}

struct ExitAtEnd {
  bool needed = true;
  ~ExitAtEnd() { _exit(all_right() ? 0 : 1); }
};
TEST_F(Fork, StaticDestructors) {
  EXPECT_TRUE(in_child([] {
    static ExitAtEnd before;
    return before.needed && all_right() && (std::exit(3), true);
  }));
}
TEST_F(Fork, StaticDestructorsThatAreFirstToCall) {
  EXPECT_TRUE(in_child([] {
    static ExitAtEnd before;
    return before.needed && (std::exit(3), true);
  }));
}
TEST_F(Fork, ThreadLocalDestructorsOfTheMainThread) {
  EXPECT_TRUE(in_child([] {
    static thread_local ExitAtEnd before;
    return before.needed && all_right() && (std::exit(3), true);
  }));
}

// ---- threads

TEST(Threads, ThatADevicesFunctionStartsMayCallPmap) {
  auto f = [](const F& x) {
    F inside;
    std::thread([&] { inside = sums(F{1, 2, 3, 4}); }).join();
    return F(psum(x, "i") + inside);
  };
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(same(pmap(f, {.axis_name = "i"})(x),
                     F{{20, 20, 20, 20}, {20, 20, 20, 20}, {20, 20, 20, 20}, {20, 20, 20, 20}}));
}
TEST(Threads, ManyCallers) {
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 4; ++i) right += all_right();
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 16);
}

int __lsan_is_turned_off() { return is_child; }

// ---- launchers whose processes this program cannot join

TEST(Launchers, SeveralProcessesAreRefusedWithoutMpi) {
  using Variables = std::vector<std::pair<const char*, const char*>>;
  const auto result = [](const Variables& variables) -> std::string {
    for (const auto& [name, value] : variables) ::setenv(name, value, 1);
    std::string text;
    try {
      distributed::initialize();
    } catch (const DeviceError& error) {
      text = error.what();
    }
    for (const auto& variable : variables) ::unsetenv(variable.first);
    return text;
  };
  const auto refused = [](const char* variable) {
    return std::string("distributed::initialize: the launcher started 4 processes (") + variable +
           "), but this is one alone: link nax::mpi";
  };
  EXPECT_EQ(result({{"WORLD_SIZE", "4"}, {"RANK", "0"}}), refused("WORLD_SIZE"));  // torchrun
  EXPECT_EQ(result({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "1"}}), refused("SLURM_PROCID"));
  EXPECT_EQ(result({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}}),
            refused("SLURM_NTASKS"));
  EXPECT_EQ(result({{"SLURM_STEP_NUM_TASKS", "4"}}), refused("SLURM_STEP_NUM_TASKS"));
  EXPECT_EQ(result({{"OMPI_COMM_WORLD_SIZE", "4"}}), refused("OMPI_COMM_WORLD_SIZE"));
  EXPECT_EQ(result({{"PMI_SIZE", "4"}}), refused("PMI_SIZE"));
  // A batch script of Slurm before it starts tasks; one process; other programs' WORLD_SIZE.
  EXPECT_EQ(result({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}), "");
  EXPECT_EQ(result({{"WORLD_SIZE", "1"}, {"RANK", "0"}}), "");
  EXPECT_EQ(result({{"WORLD_SIZE", "4"}}), "");
  EXPECT_EQ(result({{"PMI_SIZE", "many"}}), "");
}

}  // namespace processes_test
