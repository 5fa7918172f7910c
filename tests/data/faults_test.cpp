// Failing elements are skipped on request; an iterator used in a forked child is an error.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "data/elements.hpp"
#include "nax/modules/data/crc32c.hpp"
#include "support/refusal.hpp"

namespace data_faults {
using namespace nax;
using nax::testing::all_of;
using nax::testing::rest_of;
using Numbers = std::vector<std::int64_t>;

const auto no_threes = [](std::int64_t i) {
  if (i % 3 == 0) throw ValueError("f: " + std::to_string(i));
  return 10 * i;
};
const auto all_pass = [](std::int64_t) { return true; };

TEST(DataFaults, IgnoredErrorsAreLogged) {
  const Numbers good = {10, 20, 40, 50, 70, 80};
  for (const int threads : {0, 3})
    for (const std::int64_t ahead : {0, 2})
      for (const bool walked : {false, true}) {
        SCOPED_TRACE(std::to_string(threads) + " " + std::to_string(ahead) + (walked ? " walked" : ""));
        auto input = data::range(9);
        if (walked) input = input.filter(all_pass);
        std::vector<std::string> log;
        const auto noted = [&](const std::string& text) { log.push_back(text); };
        const auto mapped = input.map(no_threes, {.threads = threads}).prefetch(ahead);
        EXPECT_EQ(all_of(mapped.ignore_errors({.log = noted})), good);
        EXPECT_EQ(log, (std::vector<std::string>{"map: element 0: f: 0", "map: element 3: f: 3",
                                                 "map: element 6: f: 6"}));
        EXPECT_EQ(all_of(mapped.ignore_errors().batch(4)).size(), 2u);
        // Positions count what was handed out.
        const auto passed = mapped.ignore_errors();
        auto it = passed.iterator();
        for (std::size_t k = 0; k < good.size(); ++k, it.next())
          EXPECT_EQ(rest_of(passed.iterator(it.state())),
                    Numbers(good.begin() + static_cast<std::ptrdiff_t>(k), good.end()));
      }
}

TEST(DataFaults, SlicesCountElementsThatFail) {
  const auto without = [](std::int64_t bad) {
    return [bad](std::int64_t i) { return i == bad ? throw ValueError("f: bad") : i; };
  };
  for (const bool walked : {false, true}) {
    SCOPED_TRACE(walked);
    auto input = data::range(12);
    if (walked) input = input.filter(all_pass);
    EXPECT_EQ(all_of(input.map(without(5)).skip(5).ignore_errors()), (Numbers{6, 7, 8, 9, 10, 11}));
    EXPECT_EQ(all_of(input.map(without(1)).take(3).ignore_errors()), (Numbers{0, 2}));
    EXPECT_EQ(all_of(input.map(without(0)).shard(0, 4).ignore_errors()), (Numbers{4, 8}));
    // Threads are at work when the shard passes over elements behind the one that failed.
    for (int turn = 0; turn < 50; ++turn)
      EXPECT_EQ(all_of(input.map(without(1)).prefetch(4).shard(1, 2).ignore_errors()),
                (Numbers{3, 5, 7, 9, 11}));
  }
}

TEST(DataFaults, ZippedPartsStayTogether) {
  const auto walked = data::range(7).filter(all_pass);
  for (const bool first : {true, false}) {
    const auto sum = [=](std::int64_t a, std::int64_t b) { return first ? a - 10 * b : b - 10 * a; };
    const auto bad = walked.map(no_threes);
    const auto pairs = first ? data::zip(bad, walked) : data::zip(walked, bad);
    EXPECT_EQ(all_of(pairs.ignore_errors().map(sum)), (Numbers{0, 0, 0, 0}));
  }
}

TEST(DataFaults, AnInputWithoutProgressEndsTheLoop) {
  int opened = 0;
  const auto never = [&](std::int64_t) {
    ++opened;
    if (opened > 0) throw ValueError("f: never");
    return data::range(1);
  };
  EXPECT_EQ(refusal<ValueError>([&] { all_of(data::range(5000).interleave(never).ignore_errors()); }),
            "interleave: element 999: f: never");
  EXPECT_EQ(opened, 1000);
}

TEST(DataFaults, DamagedShardsCostTheirRest) {
  const auto record = [](const std::string& text) {
    std::string head(8, '\0');
    head[0] = static_cast<char>(text.size());
    const auto sum = [](const std::string& of) {
      const std::uint32_t crc = data::detail::masked_crc32c(of.data(), of.size());
      return std::string(reinterpret_cast<const char*>(&crc), 4);
    };
    return head + sum(head) + text + sum(text);
  };
  const auto file = [](const std::string& name, const std::string& content) {
    const std::string path = ::testing::TempDir() + "nax_fault_" + std::to_string(::getpid()) + name;
    io::detail::NewFile out("test", path);
    out.write(content.data(), content.size());
    out.commit();
    return path;
  };
  std::string flipped = record("two");
  flipped[13] ^= 1;
  const std::vector<std::string> paths = {
      file("a", record("one") + flipped + record("three") + record("four").substr(0, 9)), "/no/such/shard",
      file("b", record("five"))};
  std::vector<std::string> log;
  std::string seen;
  const auto text = [](const io::Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); };
  for (const std::string& one : data::from_tfrecord(paths, {.index = false})
                                    .ignore_errors({.log = [&](const std::string& t) { log.push_back(t); }})
                                    .map(text))
    seen += one + " ";
  EXPECT_EQ(seen, "one three five ");
  ASSERT_EQ(log.size(), 3u);
  EXPECT_NE(log[0].find("a record has the wrong checksum, at offset"), std::string::npos) << log[0];
  EXPECT_NE(log[1].find("is truncated"), std::string::npos) << log[1];
  EXPECT_NE(log[2].find("'/no/such/shard' cannot be opened"), std::string::npos) << log[2];
}

TEST(DataFaults, AForkedChildsIteratorIsAnError) {
  const auto slow = [](std::int64_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return i;
  };
  const std::string advice =
      ": the process was forked while this iterator had threads at work, which stayed behind; make a new "
      "iterator in the child";
  for (const bool walked : {false, true}) {
    auto input = data::range(1000);
    if (walked) input = input.filter(all_pass);
    const auto dataset = input.map(slow, {.threads = 3, .name = "slow"});
    for (int turn = 0; turn < 10; ++turn) {
      auto it = dataset.prefetch(turn % 2).iterator();
      for (int i = 0; i <= turn; ++i) ASSERT_EQ(it.next(), i);
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(20);
        const std::string name = turn % 2 ? "prefetch" : "map 'slow'";
        const bool refused = refusal<Error>([&] { it.next(); }) == name + advice;
        const bool ended = !it.next();
#if defined(__SANITIZE_THREAD__)
        const bool works = true;  // TSan starts no threads in a forked child
#else
        auto fresh = dataset.iterator();
        const bool works = fresh.next() == 0 && fresh.next() == 1;
#endif
        ::_exit(refused && ended && works ? 0 : 1);
      }
      EXPECT_EQ(it.next(), turn + 1);
      int status = 1;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
  }
}

#if !defined(__SANITIZE_THREAD__)  // TSan starts no threads in a forked child
TEST(DataFaults, AForkedChildGoesOnWithAnIteratorThatHadNoThreads) {
  auto it = data::range(20).filter(all_pass).prefetch(2).iterator();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    Numbers got;
    try {
      while (const auto i = it.next()) got.push_back(*i);
      const auto gone = std::move(it);  // joins its threads
    } catch (const Error&) {
    }
    ::_exit(got.size() == 20 ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(it.next(), 0);
}
#endif

}  // namespace data_faults
