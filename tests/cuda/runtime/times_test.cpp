// The card's times in profiles, by events on the stand-in's fake clock: a quarter of a millisecond for each
// piece of work.

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/runtime/on_stand_in.hpp"

namespace times_test {
using namespace on_stand_in;
namespace profile = nax::detail::profile;

struct Times : OnStandIn {
  static std::string path() { return testing::TempDir() + "times_test.json"; }
  static const nax::profiler::LaneTotals* lane(const nax::profiler::Totals& totals, const std::string& name) {
    for (const auto& one : totals.lanes)
      if (one.name == name) return &one;
    return nullptr;
  }
};

// Each operation stands once in the totals, with the card's time, and the card has a lane of its own.
TEST_F(Times, AreTheCards) {
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    stand_in::seed(seed);
    const Array<float> x = there(nax::ones<float>({1'000}));
    Array<float> y;
    nax::profiler::trace(path(), [&] {
      for (int i = 0; i < 6; ++i) y = nax::sin(x);
    });
    const nax::profiler::Totals totals = nax::profiler::totals();
    const auto found = std::find_if(totals.operations.begin(), totals.operations.end(),
                                    [](const auto& one) { return one.name == "sin"; });
    ASSERT_NE(found, totals.operations.end());
    EXPECT_EQ(found->count, 6);
    EXPECT_NEAR(found->seconds, 6 * 0.25e-3, 1e-6);  // a kernel each
    EXPECT_EQ(found->bytes, 6 * 2 * 4'000);
    const auto* const card = lane(totals, "cuda:0 for main");
    ASSERT_TRUE(card);
    EXPECT_NEAR(card->busy, 6 * 0.25e-3, 1e-6);
    EXPECT_EQ(card->host, 0);
    EXPECT_TRUE(lane(totals, "main"));
    EXPECT_EQ(y[3].item(), std::sin(1.f));
  }
}

// A dense layer of one launch has a name of its own, and so have the gradients of its parameters. (Their
// times go to the CPU's product, which the stand-in calls.)
TEST_F(Times, OfDenseLayers) {
  const Array<float> x = there(nax::ones<float>({4, 8})), w = there(nax::ones<float>({8, 16})),
                     b = there(nax::ones<float>({16}));
  const auto loss = [&x](const Array<float>& w, const Array<float>& b) {
    return nax::sum(nax::square(nax::nn::linear(x, w, b, nax::nn::Activation::relu)));
  };
  nax::profiler::trace(path(), [&] { nax::grad<0, 1>(loss)(w, b); });
  const nax::profiler::Totals totals = nax::profiler::totals();
  for (const char* name : {"linear", "product_and_sums"}) {
    SCOPED_TRACE(name);
    const auto found = std::find_if(totals.operations.begin(), totals.operations.end(),
                                    [&](const auto& one) { return one.name == name; });
    ASSERT_NE(found, totals.operations.end());
    EXPECT_EQ(found->count, 1);
  }
}

// While nothing is traced no event is made; those of a trace are used again.
TEST_F(Times, CostNothingWithoutATrace) {
  const Array<float> x = there(nax::ones<float>({100}));
  const auto work = [&] {
    Array<float> y = x;
    for (int i = 0; i < 20; ++i) y = nax::cos(y);
    return y[0].item();
  };
  nax::profiler::trace(path(), work);
  nax::profiler::trace(path(), work);
  const long events = stand_in::live().events;
  work();
  EXPECT_EQ(stand_in::live().events, events);
  for (int i = 0; i < 3; ++i) nax::profiler::trace(path(), work);
  EXPECT_LE(stand_in::live().events, events + 1);
}

// A graph is timed as it is replayed; its recording is not.
TEST_F(Times, OfGraphs) {
  const auto f = nax::jit([](const Array<float>& x) { return Array<float>(nax::sin(nax::cos(x) + 1.f)); });
  const Array<float> x = there(nax::ones<float>({100}));
  std::vector<float> values;
  nax::profiler::trace(path(), [&] {
    for (int i = 0; i < 4; ++i) values = f(x).to_vector();
  });
  EXPECT_FLOAT_EQ(values[99], std::sin(std::cos(1.f) + 1.f));
  const nax::profiler::Totals totals = nax::profiler::totals();
  EXPECT_TRUE(std::any_of(totals.operations.begin(), totals.operations.end(),
                          [](const auto& one) { return one.name == "jit" && one.seconds > 0; }));
}

// A call that fails leaves a trace without some times, and the program as it is.
TEST_F(Times, FailuresOfTheDriver) {
  const Array<float> x = there(nax::ones<float>({100}));
  const float want = nax::sum(nax::sin(x)).item();
  for (long call = 0; call < 60; ++call) {
    float got = want;
    try {
      nax::profiler::trace(path(), [&] {
        stand_in::fail_at(call, cudaErrorUnknown);
        got = nax::sum(nax::sin(x)).item();
      });
    } catch (const nax::DeviceError&) {
    }
    stand_in::fail_at(-1, cudaSuccess);
    EXPECT_EQ(got, want) << call;
  }
}

// Ranges begin and end in pairs for a tool that asked for them, whether there is a trace or not.
std::vector<std::string> names;
int open_ranges = 0;
TEST_F(Times, NamesOfRanges) {
  const Array<float> x = there(nax::ones<float>({10}));
  const auto before = profile::name_ranges;
  profile::name_ranges = {[](const char* name) noexcept { names.emplace_back(name), ++open_ranges; },
                          []() noexcept { --open_ranges; }};
  names.clear();
  nax::eval(nax::sin(x));
  EXPECT_TRUE(names.empty());
  profile::on.fetch_or(profile::naming_ranges);
  nax::eval(nax::sin(x));
  nax::profiler::trace(path(), [&] { nax::eval(nax::cos(x)); });
  profile::on.fetch_and(~profile::naming_ranges);
  profile::name_ranges = before;
  EXPECT_EQ(names, (std::vector<std::string>{"sin", "cos"}));
  EXPECT_EQ(open_ranges, 0);
}

}  // namespace times_test
