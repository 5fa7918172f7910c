// Time is bounded: stalls, drips, and loops that are left.
#include <gtest/gtest.h>

#include "nax/data.hpp"
#include "nax/profiler.hpp"
#include "storage/fixture.hpp"

namespace storage_limits {
using namespace nax;
using storage_tests::as_string;
using Fault = Loopback::Fault;
using Clock = std::chrono::steady_clock;

double seconds_of(const auto& f) {
  const auto begin = Clock::now();
  f();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class StorageLimits : public storage_tests::Fixture {};

TEST_F(StorageLimits, AStalledBodyCostsOneTimeout) {
  auto options = quick();
  options.timeout = 0.4;
  storage::configure(options);
  int requests = 0;
  server.fault = [&](int) { return requests++ == 0 ? Fault::stall_body : Fault::none; };
  server.objects["/bucket/a/one"] = std::string(900, 'x');
  const double seconds = seconds_of([&] { EXPECT_EQ(storage::read("s3://bucket/a/one").size(), 900u); });
  EXPECT_GT(seconds, 0.35);
  EXPECT_LT(seconds, 10);
  server.fault = [](int) { return Fault::stall_body; };
  options.retries = 1;
  storage::configure(options);
  EXPECT_EQ(error_of("s3://bucket/a/one"),
            "storage::read: 's3://bucket/a/one': the answer stalled (tried 2 times)");
}

TEST_F(StorageLimits, ADripEndsAtTheDeadline) {
  auto options = quick();
  options.deadline = 0.5;
  options.part_bytes = 1 << 20;
  storage::configure(options);
  server.fault = [](int) { return Fault::drip; };  // 50 bytes a second: never a timeout
  std::string error;
  const double seconds = seconds_of([&] { error = error_of("s3://bucket/a/large"); });
  EXPECT_EQ(error,
            "storage::read: 's3://bucket/a/large': no answer within the deadline (tried 1 times, until the "
            "deadline)");
  EXPECT_LT(seconds, 10);  // the whole takes 40 min
  // Retries are counted in.
  options.backoff = 0.2, options.retries = 1000;
  storage::configure(options);
  server.fault = [](int) { return Fault::answer_503; };
  EXPECT_LT(seconds_of([&] { error = error_of("s3://bucket/a/large"); }), 10);
  EXPECT_NE(error.find("answers 503 (tried "), std::string::npos) << error;
}

TEST_F(StorageLimits, LeavingALoopEndsItsRequestsAtOnce) {
  server.objects["/bucket/a/bad"] = large;
  auto options = quick();
  options.timeout = 60, options.backoff = 30;
  storage::configure(options);
  const auto size = [](const io::Bytes& bytes) { return bytes.size(); };
  for (const Fault fault : {Fault::answer_503, Fault::stall_body, Fault::drip}) {
    std::atomic<int> bad{0};
    server.fault = [&](int request) { return request % 2 == 0 ? Fault::none : (++bad, fault); };
    if (server.requests() % 2 == 1) storage::read("s3://bucket/a/one");
    auto it = data::from_files({"s3://bucket/a/one", "s3://bucket/a/bad"}, size).prefetch(1).iterator();
    while (server.requests() % 2 == 1) std::this_thread::yield();
    EXPECT_EQ(it.next(), 5u);
    while (bad == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double seconds = seconds_of([&] { auto gone = std::move(it); });
    EXPECT_LT(seconds, 10) << static_cast<int>(fault);
    server.fault = nullptr;
  }
}

TEST_F(StorageLimits, ASlowStoreIsTheSlowestStage) {
  server.latency_ms = 10;
  const auto size = [](const io::Bytes& bytes) { return bytes.size(); };
  std::vector<std::string> addresses(10, "s3://bucket/a/one");
  profiler::trace(::testing::TempDir() + "nax_store.json", [&] {
    for (const std::size_t n : data::from_files(addresses, size).prefetch(1)) EXPECT_EQ(n, 5u);
  });
  const auto totals = profiler::totals();
  ASSERT_FALSE(totals.stages.empty());
  EXPECT_EQ(totals.stages[0].name, "request to the store");
}

}  // namespace storage_limits
