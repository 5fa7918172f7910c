#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <nax/nax.hpp>
#include <thread>

#include "faults/system_calls.hpp"

// Makes each system call of a training, one after another, fail or be the last one: every checkpoint whose
// save has returned loads.
namespace checkpoint_faults {
using namespace nax;
using faults::CallFault;

struct State {
  Array<float> w = zeros<float>({40});
  random::Key key = random::key(0);
  std::int64_t step = 0;
};
State after(std::int64_t step) {
  return {full({40}, static_cast<float>(step) / 3), random::key(static_cast<int>(step)), step};
}
void expect_right(const State& state, std::int64_t step) {
  const State want = after(step);
  EXPECT_EQ(state.step, step);
  EXPECT_EQ(state.w.to_vector(), want.w.to_vector());
  EXPECT_EQ(state.key.words().item(), want.key.words().item());
}

constexpr std::int64_t steps = 4;

// Trains and saves. Calls returned(step) when a step has been saved; gives up after an error.
template <class F>
void train(const std::string& folder, bool async, const F& returned) {
  io::Checkpoints saved(folder, {.keep = 2, .async = async, .best = io::Best::highest});
  State state;
  const std::int64_t begin = saved.restore(state).value_or(0);
  for (std::int64_t step = begin + 1; step <= begin + steps; ++step) {
    saved.save(step, after(step), {.metric = step == 1 ? 2.0 : 1.0});
    saved.wait();
    returned(step);
  }
}

struct Folder {
  Folder() { EXPECT_NE(::mkdtemp(path.data()), nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string runs() const { return path + "/runs/a"; }
  std::string path = testing::TempDir() + "nax_checkpoints_XXXXXX";
};

// After a fault: the last step that was saved is there, or the one behind it; training goes on from it.
void expect_all_is_there(const std::string& folder, std::int64_t returned) {
  faults::start_machine();
  faults::fault_call(1'000'000, CallFault::fail);  // none; it spares the disk
  State state;
  {
    io::Checkpoints saved(folder, {.keep = 2, .best = io::Best::highest});
    const std::int64_t step = saved.restore(state).value_or(0);
    ASSERT_GE(step, returned);
    ASSERT_LE(step, returned + 1);
    if (step > 0) expect_right(state, step);
    EXPECT_EQ(saved.restore_best(state).value_or(0), returned > 0 || step > 0 ? 1 : 0);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
  std::int64_t last = 0;
  train(folder, false, [&](std::int64_t step) { last = step; });
  io::Checkpoints saved(folder);
  EXPECT_EQ(saved.restore(state), last);
  expect_right(state, last);
  EXPECT_EQ(saved.steps().size(), 3u);
  EXPECT_FALSE(faults::stop_call_faults());
}

// Trains in a child process whose n-th call has the fault. Whether it came to it.
bool survives_crash(std::int64_t n, CallFault fault, bool async) {
  const Folder folder;
  void* const shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(shared, MAP_FAILED);
  auto* const returned = static_cast<std::atomic<std::int64_t>*>(shared);
  faults::start_machine();
  const pid_t child = ::fork();
  if (child == 0) {
    faults::fault_call(n, fault);
    train(folder.runs(), async, [&](std::int64_t step) { *returned = step; });
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  const bool crashed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  EXPECT_TRUE(crashed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << status;
  expect_all_is_there(folder.runs(), *returned);
  ::munmap(shared, 4096);
  return crashed;
}

void survive_every_crash(CallFault fault, bool async) {
  std::int64_t n = 0;
  while (survives_crash(n, fault, async)) {
    ASSERT_FALSE(testing::Test::HasFailure()) << "call " << n;
    ASSERT_LT(++n, 10000);
  }
  EXPECT_GT(n, 100);
}

TEST(CheckpointFaults, SurviveEveryCrashOfTheProcess) { survive_every_crash(CallFault::crash, false); }
TEST(CheckpointFaults, SurviveEveryLossOfWhatIsNotOnTheDisk) {
  survive_every_crash(CallFault::lose_data, false);
}
TEST(CheckpointFaults, SurviveEveryLossOfNames) { survive_every_crash(CallFault::lose_names, false); }
TEST(CheckpointFaults, SurviveEveryCrashInTheBackground) { survive_every_crash(CallFault::lose_names, true); }

// Two processes save together; the n-th call of one has the fault, and then the other dies as well. The
// checkpoints are for both, so each one that has returned in any of them is there.
bool two_survive_crash(std::int64_t n, CallFault fault, int faulted) {
  const Folder folder;
  void* const shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(shared, MAP_FAILED);
  auto* const returned = static_cast<std::atomic<std::int64_t>*>(shared);
  auto* const constructed = returned + 2;
  pid_t children[2];
  faults::start_machine();
  for (int process = 0; process < 2; ++process) {
    children[process] = ::fork();
    if (children[process] != 0) continue;
    faults::fault_call(process == faulted ? n : 1'000'000, fault);
    {
      io::Checkpoints saved(folder.runs(), {.keep = 1, .processes = 2, .process = process});
      ++*constructed;
      while (*constructed < 2) std::this_thread::yield();  // as a barrier does
      for (std::int64_t step = 1; step <= steps; ++step) {
        saved.save(step, after(step));
        returned[process] = step;
      }
    }
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(children[faulted], &status, 0), children[faulted]);
  const bool crashed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  EXPECT_TRUE(crashed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << status;
  if (crashed) ::kill(children[1 - faulted], SIGKILL);
  ::waitpid(children[1 - faulted], &status, 0);
  const std::int64_t last = std::max<std::int64_t>(returned[0], returned[1]);
  ::munmap(shared, 4096);
  io::Checkpoints saved(folder.runs());
  State state;
  const std::int64_t step = saved.restore(state).value_or(0);
  EXPECT_GE(step, last);
  EXPECT_LE(step, last + 1);
  if (step > 0) expect_right(state, step);
  // Nothing is left but whole checkpoints.
  std::size_t files = 0;
  std::string names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.runs()))
    if (entry.path().string().find(".before") == std::string::npos)  // the injector's
      ++files, names += entry.path().filename().string() + ' ';
  EXPECT_EQ(files, 3 * saved.steps().size()) << names;
  return crashed;
}
void two_survive_every_crash(CallFault fault, int faulted) {
  std::int64_t n = 0;
  while (two_survive_crash(n, fault, faulted)) {
    ASSERT_FALSE(testing::Test::HasFailure()) << "call " << n;
    ASSERT_LT(++n, 10000);
  }
  EXPECT_GT(n, 50);
}
TEST(CheckpointFaults, ShardsSurviveEveryCrashOfTheFirstProcess) {
  two_survive_every_crash(CallFault::crash, 0);
}
TEST(CheckpointFaults, ShardsSurviveEveryLossOfNames) { two_survive_every_crash(CallFault::lose_names, 0); }
TEST(CheckpointFaults, ShardsSurviveEveryCrashOfAnotherProcess) {
  two_survive_every_crash(CallFault::lose_data, 1);
}

TEST(CheckpointFaults, SurviveEveryCallThatFails) {
  for (const bool async : {false, true}) {
    bool came_to_it = true;
    int errors = 0;
    for (std::int64_t n = 0; came_to_it; ++n) {
      const Folder folder;
      std::int64_t returned = 0;
      faults::fault_call(n, CallFault::fail);
      try {
        train(folder.runs(), async, [&](std::int64_t step) { returned = step; });
        EXPECT_EQ(returned, steps);
      } catch (const IoError&) {
        ++errors;
      }
      came_to_it = faults::stop_call_faults();
      expect_all_is_there(folder.runs(), returned);
      ASSERT_FALSE(testing::Test::HasFailure()) << "call " << n;
    }
    EXPECT_GT(errors, 50);
  }
}

}  // namespace checkpoint_faults
