// summary() names the stage that the loop waits for; traces are written despite uncaught exceptions.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "nax/nax.hpp"

namespace profiler_culprit {
using namespace nax;

std::string path(const std::string& name) {
  return ::testing::TempDir() + "nax_culprit_" + std::to_string(::getpid()) + name;
}
std::string text_of_file(const std::string& of) {
  std::ifstream in(of);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
void rest(bool slow) {
  if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(4));
}

// The stage `slow` of five is; threads and a thread ahead, or none.
void run(int slow, bool threads) {
  const auto read = [=](const std::string& file) { return rest(slow == 0), static_cast<int>(file.size()); };
  const auto fast = [=](int i) { return rest(slow == 1), i; };
  const auto keep = [=](int) { return rest(slow == 2), true; };
  const auto late = [=](int i) { return rest(slow == 3), Array<float>(static_cast<float>(i)); };
  std::vector<std::string> files(30, "/some/file");
  const auto pipeline = data::from_files(files, read)
                            .map(fast, {.threads = threads ? 2 : 0, .name = "early"})
                            .filter(keep, {.name = "kept"})
                            .map(late, {.threads = threads ? 2 : 0, .name = "late"})
                            .batch(2)
                            .prefetch(threads ? 1 : 0);
  for (const auto& batch : pipeline) {
    rest(slow == 4);
    static_cast<void>(batch);
  }
}

TEST(Culprit, EachStageInTurn) {
  const char* const names[] = {"from_files", "map 'early'", "filter 'kept'", "map 'late'"};
  for (const bool threads : {false, true})
    for (int slow = 0; slow < 5; ++slow) {
      SCOPED_TRACE(std::to_string(slow) + (threads ? " by threads" : " in the loop"));
      profiler::trace(path("stages.json"), [&] { run(slow, threads); });
      const profiler::Totals totals = profiler::totals();
      const auto main = std::find_if(totals.lanes.begin(), totals.lanes.end(),
                                     [](const auto& lane) { return lane.name == "main"; });
      ASSERT_NE(main, totals.lanes.end());
      if (slow == 4) {  // the loop itself: it does not wait
        EXPECT_GT(main->host, 0.7 * totals.seconds);
        EXPECT_LT(main->waiting_for_data, 0.3 * totals.seconds);
        continue;
      }
      ASSERT_FALSE(totals.stages.empty());
      EXPECT_EQ(totals.stages[0].name, names[slow]);
      EXPECT_GT(totals.stages[0].share, 0.6);
      EXPECT_GT(main->waiting_for_data, 0.7 * totals.seconds);
      std::stringstream text;
      profiler::summary(text);
      EXPECT_NE(text.str().find(std::string("slowest stage: ") + names[slow] + ", at work "),
                std::string::npos)
          << text.str();
    }
}

TEST(Culprit, ThreadsWithoutRoomAreIdle) {
  profiler::trace(path("idle.json"), [] { run(4, true); });
  for (const auto& lane : profiler::totals().lanes) {
    if (lane.name == "main") continue;
    EXPECT_GT(lane.idle, 0.4 * profiler::totals().seconds) << lane.name;
    EXPECT_LT(lane.host, 0.3 * profiler::totals().seconds) << lane.name;
  }
  EXPECT_NE(text_of_file(path("idle.json")).find("\"cat\":\"idle\""), std::string::npos);
}

TEST(Culprit, CachesAndOptimiserStepsHaveNames) {
  std::filesystem::remove_all(path("cache"));
  const auto cached = data::range(3).cache(path("cache"));
  Array<float> params = ones<float>({20'000}), grads = ones<float>({20'000});
  profiler::trace(path("names.json"), [&] {
    for (int turn = 0; turn < 2; ++turn)
      for (const std::int64_t i : cached) static_cast<void>(i);
    const auto opt = optim::adam(0.1f);
    auto state = opt.init(params);
    std::tie(params, state) = optim::step(opt, grads, std::move(state), std::move(params));
  });
  std::map<std::string, std::int64_t> counts;
  for (const auto& operation : profiler::totals().operations) counts[operation.name] = operation.count;
  EXPECT_EQ(counts["cache: read"], 6);
  EXPECT_EQ(counts["cache: write"], 3);
  EXPECT_EQ(counts["optim::step"], 1);
}

TEST(Culprit, NamesThatAreNoUtf8AreStillJson) {
  const std::string latin = "caf\xe9", cut = std::string(38, 'x') + "\xc3\xa9\xc3\xa9";
  profiler::trace(path("names.json"), [&] {
    for (const std::string& name :
         {latin, cut, std::string("\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0\x80\xc0\x80")})
      profiler::Scope part(name);
  });
  const std::string json = text_of_file(path("names.json"));
  EXPECT_NE(json.find("\"caf\xef\xbf\xbd\""), std::string::npos) << json;
  EXPECT_NE(json.find("xx\xef\xbf\xbd\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd"), std::string::npos) << json;
}

TEST(Culprit, TracesSurviveUncaughtExceptions) {
  const std::string outer = path("outer.json"), inner = path("inner.json");
  for (const std::string& of : {outer, inner}) std::filesystem::remove(of);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::close(2);
    const std::function<void()> fails = [] { throw std::runtime_error("this is not caught"); };
    const auto dies = [&]() noexcept { fails(); };
    profiler::trace(outer, [&] {
      profiler::trace(inner, [&] {
        { profiler::Scope part("before the end"); }
        dies();
      });
    });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  for (const std::string& of : {outer, inner})
    EXPECT_NE(text_of_file(of).find("before the end"), std::string::npos) << of;
}

}  // namespace profiler_culprit
