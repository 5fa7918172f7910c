#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nax/nax.hpp>
#include <string>
#include <vector>

namespace debug_gradients_test {
namespace debug_gradients_test {
using namespace nax;

struct Layer {
  Array<float> w, b;
  Array<int> steps = 0;
};

template <class F>
std::string warnings_of(const F& f) {
  testing::internal::CaptureStderr();
  f();
  return testing::internal::GetCapturedStderr();
}

class DebugGradients : public testing::Test {
 protected:
  DebugGradients() { debug_gradients(true); }
  ~DebugGradients() override { debug_gradients(false); }
};

TEST_F(DebugGradients, NamesInputsThatNoPathLeadsTo) {
  const std::vector<Layer> layers{{{1, 2}, 3}, {{4, 5}, 6}};
  const std::map<std::string, Array<float>> scales{{"in", 1}, {"out", 2}};
  const auto loss = [](const std::vector<Layer>& p, const std::map<std::string, Array<float>>& scales) {
    return sum(p[0].w * p[1].b * scales.at("in")) * scales.at("out").item();  // the number is a constant
  };
  EXPECT_EQ(warnings_of([&] { grad<0, 1>(loss)(layers, scales); }),
            "grad: no path leads from argument 0[0].b, argument 0[1].w, argument 1['out'] to the result; the "
            "gradient is zero there\n");
  EXPECT_EQ(
      warnings_of([&] { value_and_grad<1>(loss)(layers, scales); }),
      "value_and_grad: no path leads from argument 1['out'] to the result; the gradient is zero there\n");
}

TEST_F(DebugGradients, NamesAWholeArgumentOfVjp) {
  const Array<float> x = {1, 2}, y = {3, 4};
  const auto f = [](const Array<float>& x, const Array<float>& y) { return x * y.to_vector()[0]; };
  const auto pullback = vjp(f, x, y).second;
  EXPECT_EQ(warnings_of([&] { pullback(x); }),
            "vjp: no path leads from argument 1 to the result; the gradient is zero there\n");
}

TEST_F(DebugGradients, ArePresentOnceUnderVmapAndKeepTheGradient) {
  const Array<float> xs = {{1, 2}, {3, 4}}, w = {5, 6};
  const auto loss = [](const Array<float>& w, const Array<float>& x) {
    return sum(x + 0 * stop_gradient(w));
  };
  Array<float> gradients;
  EXPECT_EQ(warnings_of([&] {
              gradients = vmap(grad(loss), {.in_axes = {none, 0}})(w, xs);
            }),
            "grad: no path leads from argument 0 to the result; the gradient is zero there\n");
  EXPECT_TRUE(array_equal(gradients, zeros<float>({2, 2})));
}

TEST_F(DebugGradients, AreSilentWhereEveryInputCounts) {
  const Layer layer{{1, 2}, 3};
  EXPECT_EQ(warnings_of([&] { grad([](const Layer& p) { return sum(0 * p.w + p.b); })(layer); }), "");
}

void leave_input_unused() {
  grad([](const Array<float>& x) { return sum(stop_gradient(x)); })(Array<float>{1, 2});
}

TEST(DebugGradientsSwitch, TurnsWarningsOff) {
  debug_gradients(false);
  EXPECT_EQ(warnings_of(leave_input_unused), "");
}

TEST(DebugGradientsSwitch, FollowsTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, which reads the variable anew
  setenv("NAX_DEBUG_GRADIENTS", "1", 1);
  EXPECT_EXIT(
      {
        leave_input_unused();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "grad: no path leads from argument 0 to the result");
  unsetenv("NAX_DEBUG_GRADIENTS");
}

}  // namespace debug_gradients_test
}  // namespace debug_gradients_test
