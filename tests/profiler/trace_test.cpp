// Contents of timelines, and that nothing is recorded outside of a trace.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "nax/nax.hpp"

namespace trace_test {
using namespace nax;
using nax::detail::profile::Kind;

std::string path(const char* name) { return ::testing::TempDir() + "nax_trace_" + name + ".json"; }
std::string text_of_file(const std::string& of) {
  std::ifstream in(of);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
// Returns whether the text is JSON: brackets match outside of strings, and nothing follows them.
bool is_balanced(const std::string& text) {
  std::string open;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside) {
      if (c == '\\') ++i;
      if (c == '"') inside = false;
      if (static_cast<unsigned char>(c) < 0x20) return false;
    } else if (c == '"') {
      inside = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
  }
  return open.empty() && !inside;
}
std::int64_t count_of(const profiler::Totals& totals, const std::string& name) {
  for (const auto& operation : totals.operations)
    if (operation.name == name) return operation.count;
  return 0;
}
const profiler::LaneTotals* lane_of(const profiler::Totals& totals, const std::string& name) {
  for (const auto& lane : totals.lanes)
    if (lane.name == name) return &lane;
  return nullptr;
}

TEST(Trace, OperationsScopesAndGradients) {
  const Array<float> x = ones<float>({64, 32}), w = ones<float>({32, 16});
  const auto loss = [&](const Array<float>& weights) {
    profiler::Scope part("the \"loss\"\n");
    return sum(tanh(matmul(x, weights)));
  };
  const Array<float> g = profiler::trace(path("step"), [&] { return grad(loss)(w); });
  EXPECT_EQ(g.shape(), (Shape{32, 16}));
  const std::string json = text_of_file(path("step"));
  EXPECT_TRUE(is_balanced(json)) << json;
  EXPECT_NE(json.find("\"name\":\"matmul\",\"cat\":\"operation\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"shape\":\"(64, 16)\",\"bytes\":14336,\"flops\":65536"), std::string::npos) << json;
  EXPECT_NE(json.find("the \\\"loss\\\"\\u000a"), std::string::npos) << json;
  const profiler::Totals totals = profiler::totals();
  EXPECT_EQ(count_of(totals, "matmul"), 2);  // and that of the gradient
  EXPECT_EQ(totals.dropped_events, 0u);
  ASSERT_EQ(totals.lanes.size(), 1u);
  const auto& main = totals.lanes[0];
  EXPECT_EQ(main.name, "main");
  EXPECT_GT(main.busy, 0);
  EXPECT_NEAR(main.busy + main.pipeline + main.waiting_for_data + main.waiting_for_others + main.host,
              totals.seconds, 1e-9);
  std::stringstream text;
  profiler::summary(text);
  EXPECT_NE(text.str().find("matmul"), std::string::npos);
  EXPECT_NE(text.str().find("main"), std::string::npos);
}

TEST(Trace, NothingIsRecordedOutsideOfATrace) {
  const Array<float> x = ones<float>({64, 64});
  profiler::trace(path("first"), [&] { static_cast<void>(matmul(x, x)); });
  const Array<float> y = matmul(x, x) + x;
  EXPECT_EQ(count_of(profiler::totals(), "matmul"), 1);
  // An event that began before the trace is not in it, nor is one of an earlier trace.
  profiler::trace(path("second"), [&] { static_cast<void>(eval(x + x)); });
  EXPECT_EQ(count_of(profiler::totals(), "matmul"), 0);
  EXPECT_EQ(count_of(profiler::totals(), "add"), 1);
}

TEST(Trace, TracesNestAndEndWithAnException) {
  const Array<float> x = ones<float>({64, 64});
  profiler::trace(path("outer"), [&] {
    static_cast<void>(matmul(x, x));
    EXPECT_THROW(profiler::trace(path("inner"), [&] { static_cast<void>(matmul(x, x)), throw 1; }), int);
    EXPECT_EQ(count_of(profiler::totals(), "matmul"), 2);
  });
  const auto count = [](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find("\"matmul\"", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count(text_of_file(path("outer"))), 2u);
  EXPECT_EQ(count(text_of_file(path("inner"))), 1u);
  EXPECT_FALSE(nax::detail::profile::on.load());
  EXPECT_THROW(profiler::trace("/no/such/folder/x.json", [] {}), IoError);
  EXPECT_FALSE(nax::detail::profile::on.load());
}

TEST(Trace, PipelinesShowTheirStagesAndWaits) {
  const auto slow = [](std::int64_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return i;
  };
  profiler::trace(path("data"), [&] {
    for (const auto& batch : data::range(20).map(slow, {.threads = 2, .name = "slow"}).batch(5).prefetch(1))
      static_cast<void>(batch);
  });
  const profiler::Totals totals = profiler::totals();
  EXPECT_EQ(count_of(totals, "map 'slow'"), 20);  // of work; waits have a name of their own
  EXPECT_GT(count_of(totals, "wait for map 'slow'"), 0);
  const auto *stage = lane_of(totals, "map 'slow'"), *prefetch = lane_of(totals, "prefetch"),
             *main = lane_of(totals, "main");
  ASSERT_TRUE(stage && prefetch && main);
  EXPECT_GT(stage->pipeline, 0.015);
  EXPECT_GT(prefetch->waiting_for_data, 0.01);
  EXPECT_GT(main->waiting_for_data, 0.01);
  EXPECT_LT(main->busy, 0.01);
}

TEST(Trace, CollectivesOnDevices) {
  const std::size_t n = devices("cpu").size();
  if (n < 2) GTEST_SKIP() << "one device";
  const auto xs = arange<float>(static_cast<float>(n));
  profiler::trace(path("pmap"), [&] {
    block_until_ready(pmap([](const Array<float>& x) { return psum(x, "i"); }, {.axis_name = "i"})(xs));
  });
  const profiler::Totals totals = profiler::totals();
  EXPECT_GE(count_of(totals, "psum"), static_cast<std::int64_t>(n));
  EXPECT_TRUE(lane_of(totals, "cpu:1"));
}

[[maybe_unused]] const bool two_devices = (set_cpu_device_count(2), true);

}  // namespace trace_test
