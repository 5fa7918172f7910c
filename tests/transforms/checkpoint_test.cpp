#include "nax/transform/checkpoint.hpp"

#include "nax/core/allocator.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/transform/jvp.hpp"
#include "transforms/arrays.hpp"

namespace transforms::checkpoint_test {

TEST(Checkpoint, RecomputesInTheSweep) {
  int calls = 0;
  auto f = checkpoint([&](const A& x) {
    ++calls;
    return sin(x) * x;
  });
  const A x = {1, 2}, slope = cos(x) * x + sin(x);
  f(x);
  EXPECT_EQ(calls, 1);
  calls = 0;
  EXPECT_TRUE(matches(grad([&](const A& x) { return sum(f(x)); })(x), slope));
  EXPECT_EQ(calls, 2);
  calls = 0;
  const auto both = vjp(f, x);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(matches(std::get<0>(both.second(A{1, 0})), slope * A{1, 0}));
  EXPECT_TRUE(matches(std::get<0>(both.second(A{0, 1})), slope * A{0, 1}));
  EXPECT_EQ(calls, 3);
  calls = 0;
  EXPECT_TRUE(matches(jvp(f, std::tuple(x), std::tuple(A{1, 10})).second, slope * A{1, 10}));
  EXPECT_EQ(calls, 2);
}

TEST(Checkpoint, CapturedArraysGetGradients) {
  auto loss = [](const A& x, const A& w) {
    auto inner = checkpoint([&](const A& x) { return sin(w * x); });
    return sum(inner(x) * w);
  };
  auto plain = [](const A& x, const A& w) { return sum(sin(w * x) * w); };
  const A x = {1, 2}, w = {3, 4};
  const auto got = grad<0, 1>(loss)(x, w), want = grad<0, 1>(plain)(x, w);
  EXPECT_TRUE(matches(std::get<0>(got), std::get<0>(want)));
  EXPECT_TRUE(matches(std::get<1>(got), std::get<1>(want)));
}

TEST(Checkpoint, OfNothingButCaptures) {
  const A g = grad([](const A& w) {
    return sum(checkpoint([&](const A& x) { return x * w * w; })(A{1, 2}));
  })(A{3, 4});
  EXPECT_TRUE(matches(g, A{6, 16}));
}

TEST(Checkpoint, TreesAndIntegers) {
  struct State {
    A x;
    Array<int> n;
  };
  auto step = checkpoint([](const State& s) { return State{s.x * s.x * s.n, s.n + 1}; });
  auto loss = [&](const A& x) {
    const State end = step(step(State{x, Array<int>{1, 1}}));
    return sum(end.x * end.n);
  };
  EXPECT_TRUE(matches(grad(loss)(A{1, 2}), A{24, 192}));  // 6 x^4
}

TEST(Checkpoint, ConstantsAreNotRecorded) {
  int calls = 0;
  auto f = checkpoint([&](const A& x) {
    ++calls;
    return x * x;
  });
  EXPECT_TRUE(matches(grad([&](const A& x) { return sum(x * f(A{3, 4})); })(A{1, 2}), A{9, 16}));
  EXPECT_EQ(calls, 1);
}

// 64 steps of 100000 numbers: 51 MB kept by the plain gradient, 8 + 8 steps by the one in blocks.
TEST(Checkpoint, NeedsLessMemory) {
  auto steps = [](A x) {
    for (int i = 0; i < 8; ++i) x = tanh(x * 1.01);
    return x;
  };
  auto peak_of = [&](auto block) {
    const A x = ones<double>({100000});
    reset_peak_memory();
    const std::size_t before = memory_stats().in_use;
    const A g = grad([&](A x) {
      for (int i = 0; i < 8; ++i) x = block(x);
      return sum(x);
    })(x);
    return std::pair(memory_stats().peak - before, g);
  };
  const auto plain = peak_of(steps), blocks = peak_of(checkpoint(steps));
  EXPECT_TRUE(matches(blocks.second, plain.second));
  EXPECT_GT(plain.first, 64 * 800000u * 9 / 10);
  EXPECT_LT(blocks.first, plain.first * 2 / 5);
}

TEST(StopGradient, IsAConstant) {
  EXPECT_TRUE(matches(grad([](const A& x) { return sum(stop_gradient(x * x) * x); })(A{1, 2}), A{1, 4}));
  const auto [a, b] = stop_gradient(std::pair(A{1, 2}, Array<int>{3}));
  EXPECT_TRUE(matches(a, A{1, 2}));
  EXPECT_EQ(b.to_vector(), std::vector<int>{3});
  auto nested =
      grad([](const A& x) { return grad([&](const A& y) { return stop_gradient(x) * y * y * x; })(x); });
  EXPECT_TRUE(matches(nested(A(3.0)), A(36.0)));  // of 2 c x^2, where c = x = 3 is a constant
}

}  // namespace transforms::checkpoint_test
