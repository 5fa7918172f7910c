#include <thread>

#include "nax/core/allocator.hpp"
#include "nax/nn/activations.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/transform/checkpoint.hpp"
#include "nax/transform/custom.hpp"
#include "nax/transform/jacobian.hpp"
#include "transforms/arrays.hpp"

// Arrays that outlive a transform, the state after an exception, and threads.
namespace transforms::lifetime_test {

TEST(Escape, FromGradIsAConstant) {
  A kept;
  EXPECT_TRUE(matches(grad([&](const A& x) {
                        kept = x * x;
                        return sum(kept);
                      })(A{1, 2}),
                      A{2, 4}));
  EXPECT_TRUE(matches(kept, A{1, 4}));
  EXPECT_TRUE(matches(grad([&](const A& x) { return sum(kept * x + kept); })(A{5, 6}), A{1, 4}));
}

TEST(Escape, FromAnInnerGradStaysWithTheOuter) {
  A kept;
  auto outer = [&](const A& x) {
    grad([&](const A& y) {
      kept = x * y;
      return kept * y;
    })(x);
    return kept;  // x^2
  };
  EXPECT_TRUE(matches(grad(outer)(A(3.0)), A(6.0)));
}

TEST(Escape, FromOneGradIntoTheNext) {
  A kept;
  auto outer = [&](const A& x) {
    const A first = grad([&](const A& y) { return (kept = y * y) * x; })(x);  // 2 x^2
    return first + grad([&](const A& y) { return kept * y; })(x);  // kept is x^2 and no function of y
  };
  EXPECT_TRUE(matches(grad(outer)(A(3.0)), A(18.0)));
}

TEST(Escape, FromVmapIsAnError) {
  A kept;
  vmap([&](const A& x) {
    kept = x * 2;
    return x;
  })(A{{1, 2}, {3, 4}});
  EXPECT_EQ(text_of<ValueError>([&] { sum(kept); }),
            "sum: the array belongs to a vmap that has ended; return it from the mapped function instead");
  EXPECT_EQ(text_of<ValueError>([&] { const A y = kept + 1; }),
            "add: the array belongs to a vmap that has ended; return it from the mapped function instead");
  vmap([&](const A& x) {
    EXPECT_THROW(sum(kept + x), ValueError);
    return x;
  })(A{1, 2});
  EXPECT_THROW(kept.item(), ValueError);
}

struct Stop : std::runtime_error {
  Stop() : std::runtime_error("stop") {}
};

// f is given a function that throws Stop after it has recorded and computed something.
template <class F>
void leaves_no_trace(F f) {
  auto stop = [](const A& x) {
    const A y = sin(x) * x;
    if (y.size() > 0) throw Stop();
    return sum(y);
  };
  const A x = {1, 2};
  EXPECT_THROW(f(stop, x), Stop);
  const std::size_t before = memory_stats().in_use;
  for (int i = 0; i < 3; ++i) EXPECT_THROW(f(stop, x), Stop);
  EXPECT_EQ(memory_stats().in_use, before);
  EXPECT_FALSE(detail::recording.tape);
  EXPECT_TRUE(detail::vmap_stack().frames.empty());
  EXPECT_EQ(detail::vmap_stack().sweeping, 0);
  EXPECT_TRUE(matches(vmap(grad([](const A& x) { return x * x; }))(x), A{2, 4}));
}

TEST(Exceptions, LeaveNoTrace) {
  leaves_no_trace([](auto f, const A& x) { grad(f)(x); });
  leaves_no_trace([](auto f, const A&) { grad(grad([&](const A& x) { return f(x * x); }))(A(2.0)); });
  leaves_no_trace([](auto f, const A& x) { vjp(f, x); });
  leaves_no_trace([](auto f, const A& x) { jvp(f, std::tuple(x), std::tuple(x)); });
  leaves_no_trace([](auto f, const A& x) { linearize(f, x); });
  leaves_no_trace([](auto f, const A& x) { jacfwd(f)(x); });
  leaves_no_trace([](auto f, const A& x) { hessian(f)(x); });
  leaves_no_trace([](auto f, const A& x) { vmap(f)(x); });
  leaves_no_trace([](auto f, const A&) { vmap(vmap(grad(f)))(A{{1, 2}}); });
  leaves_no_trace([](auto f, const A& x) { grad([&](const A& x) { return sum(vmap(f)(x)); })(x); });
  leaves_no_trace([](auto f, const A& x) { grad(checkpoint(f))(x); });
}

TEST(Exceptions, InASweepLeaveNoTrace) {
  auto bad = [](auto f) {
    return custom_vjp([](const A& x) { return sum(x); }, [](const A& x) { return std::pair(sum(x), x); },
                      [f](const A& x, const A& g) { return std::tuple(f(x) * g * x); });
  };
  leaves_no_trace([&](auto f, const A& x) { grad([&](const A& x) { return bad(f)(sin(x)); })(x); });
  leaves_no_trace([&](auto f, const A& x) { vmap(grad([&](const A& x) { return bad(f)(sin(x)); }))(x); });
  leaves_no_trace([&](auto f, const A& x) { hessian([&](const A& x) { return bad(f)(sin(x)); })(x); });
  leaves_no_trace(
      [&](auto f, const A& x) { vjp([&](const A& x) { return bad(f)(sin(x)); }, x).second(1.0); });
  leaves_no_trace([](auto f, const A& x) {  // the second run throws
    int runs = 0;
    grad(checkpoint([&](const A& x) { return runs++ ? f(x) : sum(x * x); }))(x);
  });
}

TEST(Threads, DifferentiateAtOnce) {
  auto f = [](const A& x) {
    A y = x;
    for (int i = 0; i < 20; ++i) y = sin(y) * x + y * 0.5;
    return sum(y);
  };
  const A a = {0.1, 0.2, 0.3}, b = {0.4, 0.5, 0.6};
  const A ga = grad(f)(a), ha = hessian(f)(a), gb = grad(f)(b), hb = hessian(f)(b);
  bool right[2] = {true, true};
  auto work = [&](int i) {
    const A& x = i ? b : a;
    for (int n = 0; n < 30; ++n)
      if (!matches(grad(f)(x), i ? gb : ga) || !matches(hessian(f)(x), i ? hb : ha)) right[i] = false;
  };
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
  EXPECT_TRUE(right[0]);
  EXPECT_TRUE(right[1]);
}

TEST(Threads, PullbackTravels) {
  const auto both = vjp([](const A& x) { return x * x; }, A{1, 2});
  A g;
  std::thread([&] { g = std::get<0>(both.second(A{1, 10})); }).join();
  EXPECT_TRUE(matches(g, A{2, 40}));
  EXPECT_TRUE(matches(std::get<0>(both.second(A{1, 1})), A{2, 4}));
}

// The derivative of relu at an array is that at its result, which the next function keeps anyway.
template <class F>
void expect_keeps_its_result(const F& f, const A& expected) {
  const auto loss = [&](const A& x) {
    const A before = x * 2;
    A after = f(before);
    EXPECT_EQ(detail::ArrayAccess::buffer(before).use_count(), 1u);
    EXPECT_EQ(detail::ArrayAccess::buffer(after).use_count(), 2u);
    const A once = after;
    after *= 5;  // does not write over what the node keeps
    return A(sum(once * A{1, 2, 3, 4}));
  };
  EXPECT_TRUE(matches(grad(loss)(A{-2, 0, 3, 7}), expected));
}
TEST(Node, OfReluKeepsItsResult) {
  expect_keeps_its_result([](const A& x) { return A(nn::relu(x)); }, A{0, 0, 6, 8});
  expect_keeps_its_result([](const A& x) { return A(nn::relu6(x)); }, A{0, 0, 0, 0});
  // Of views, in a batch, of two in a row, and more than once.
  const A x = {{-1, 2, 3}, {4, -5, 6}}, expected = 2 * maximum(x, 0);
  const auto f = [](const A& a) { return A(sum(square(A(nn::relu(A(nn::relu(a.T()))))))); };
  EXPECT_TRUE(matches(grad(f)(x), expected));
  EXPECT_TRUE(matches(vmap(grad(f))(x.reshape({2, 3, 1})).reshape({2, 3}), expected));
  EXPECT_TRUE(matches(hessian(f)(A(x(0))), A{{0, 0, 0}, {0, 2, 0}, {0, 0, 2}}));
  EXPECT_TRUE(matches(jvp(grad(f), std::tuple{x}, std::tuple{x}).second, expected));
}

}  // namespace transforms::lifetime_test
