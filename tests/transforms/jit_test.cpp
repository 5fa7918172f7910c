#include "nax/transform/jit.hpp"

#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>

#include "support/refusal.hpp"

// jit on the CPU. (tests/program tests the recording, tests/cuda/operations/jit_test.cpp tests GPUs.)
namespace jit_test {
using namespace nax;
using F = Array<float>;

TEST(Jit, OnTheCpuGivesTheSame) {
  int calls = 0;
  const auto f = [&](const F& x, int n) {
    ++calls;
    return n > 1 ? F(sin(x) * static_cast<float>(n)) : x;
  };
  const auto fast = jit(f, {.static_argnums = {1}, .donate_argnums = {0}});
  const F x = {1, 2, 3};
  EXPECT_EQ(fast(x, 2).to_vector(), f(x, 2).to_vector());
  EXPECT_EQ(fast(x, 1).to_vector(), x.to_vector());
  EXPECT_EQ(fast(F(x * 1.f), -1).size(), 3);
  EXPECT_EQ(calls, 4);  // three kinds of calls were recorded, and f was called once directly
  // Numbers, expressions, values read on the way, results of several parts.
  const auto parts = jit([](const F& v, const F& by) {
    const F y = v * by;
    return std::pair{sum(y), y.item() > 0 ? 1.f : -1.f};
  });
  EXPECT_EQ(parts(2, 3.5).first.item(), 7);
  EXPECT_EQ(parts(F(2.f) * 1.f, -1).second.item(), -1);
  // Values that are no arrays pass through as static fields.
  const auto named = jit([](const F& v, const std::string& how) { return how == "twice" ? F(v * 2.f) : v; },
                         {.static_argnums = 1});
  EXPECT_EQ(named(x, std::string("twice"))(2).item(), 6);
}

TEST(Jit, OnTheCpuGivesMemoryAway) {
  const auto fast = jit([](F x) { return x += 1.f; }, {.donate_argnums = {0}});
  F x = zeros<float>({1000});
  const float* const before = x.data();
  x = fast(std::move(x));
  EXPECT_EQ(x.data(), before);
  EXPECT_EQ(x(0).item(), 1);
  const F kept = x;
  x = fast(kept);
  EXPECT_EQ(kept(0).item(), 1);
}

TEST(Jit, OnTheCpuGoesWithTransforms) {
  const auto f = [](const F& x) { return sum(exp(x) * x); };
  const auto fast = jit(f);
  const F x = {0.5f, -1, 2}, xs = {{0.5f, -1}, {2, 0}};
  EXPECT_EQ(grad(fast)(x).to_vector(), grad(f)(x).to_vector());
  EXPECT_EQ(jit(grad(fast))(x).to_vector(), grad(f)(x).to_vector());
  EXPECT_EQ(hessian(fast)(x).to_vector(), hessian(f)(x).to_vector());
  EXPECT_EQ(jit(vmap(fast))(xs).to_vector(), vmap(f)(xs).to_vector());
  EXPECT_EQ(vmap(jit(grad(fast)))(xs).to_vector(), vmap(grad(f))(xs).to_vector());
  EXPECT_EQ(pmap(fast)(F{{1, 2}}).to_vector(), pmap(f)(F{{1, 2}}).to_vector());
  EXPECT_EQ(jit(pmap(fast))(F{{1, 2}}).to_vector(), pmap(f)(F{{1, 2}}).to_vector());
  const auto [y, dy] = jvp(fast, std::tuple{x}, std::tuple{ones_like(x)});
  EXPECT_EQ(y.item(), f(x).item());
}

TEST(Jit, RefusesInvalidOptions) {
  const F x = {1, 2};
  const auto same = [](const F& v) { return v; };
  EXPECT_EQ(refusal([&] { jit(same, {.static_argnums = {2}})(x); }),
            "jit: static_argnums 2 is out of range for 1 arguments");
  EXPECT_EQ(refusal([&] { jit(same, {.donate_argnums = {-2}})(x); }),
            "jit: donate_argnums -2 is out of range for 1 arguments");
  EXPECT_EQ(refusal([&] { jit(same, {.static_argnums = {0}})(x); }),
            "jit: the static argument 0 holds an array, which is not compared by value");
  EXPECT_EQ(refusal([&] { jit(same, {.static_argnums = {0}, .donate_argnums = {-1}})(x); }),
            "jit: argument 0 is both static and donated");
  EXPECT_THROW(jit([](const F& v, const std::string&) { return v; })(x, std::string("a")), TypeError);
}

}  // namespace jit_test
