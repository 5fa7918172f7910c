#include "nax/transform/jvp.hpp"
#include "nax/transform/vjp.hpp"
#include "transforms/arrays.hpp"

// Pullbacks and pushforwards own their data; nested derivatives do not mix.
namespace transforms::vjp_jvp_test {

TEST(Vjp, AnyNumberOfCalls) {
  const auto [y, pullback] = vjp([](const A& x, const A& w) { return x * x * w; }, A{1, 2}, A{3, 4});
  EXPECT_TRUE(matches(y, A{3, 16}));
  for (int i = 0; i < 3; ++i) {
    const auto [gx, gw] = pullback(A{1, 10});
    EXPECT_TRUE(matches(gx, A{6, 160}));
    EXPECT_TRUE(matches(gw, A{1, 40}));
  }
  EXPECT_TRUE(matches(std::get<0>(pullback(A{1, 0})), A{6, 0}));
}

TEST(Vjp, TreesOfResults) {
  const auto both = vjp([](const A& x) { return std::pair(x * x, std::tuple(sum(x), x + 1)); }, A{1, 2});
  const auto [gx] = both.second(std::pair(A{1, 1}, std::tuple(A(10.0), A{0, 100})));
  EXPECT_TRUE(matches(gx, A{12, 114}));
}

TEST(Vjp, OutlivesTheOuterTransform) {
  std::optional<decltype(vjp(std::declval<A (*)(const A&)>(), A()))> kept;
  A (*square_of)(const A&) = [](const A& x) -> A { return x * x; };
  const A g = grad([&](const A& x) {
    kept.emplace(vjp(square_of, x));
    return sum(kept->first * 3);
  })(A{1, 2});
  EXPECT_TRUE(matches(g, A{6, 12}));
  EXPECT_TRUE(matches(std::get<0>(kept->second(A{1, 1})), A{2, 4}));
  EXPECT_TRUE(matches(std::get<0>(kept->second(A{0, 5})), A{0, 20}));
}

TEST(Vjp, TwoAlive) {
  auto a = vjp([](const A& x) { return x * x; }, A{1, 2});
  auto b = vjp([](const A& x) { return x * x * x; }, A{1, 2});
  EXPECT_TRUE(matches(std::get<0>(a.second(A{1, 1})), A{2, 4}));
  EXPECT_TRUE(matches(std::get<0>(b.second(A{1, 1})), A{3, 12}));
  EXPECT_TRUE(matches(std::get<0>(a.second(A{1, 1})), A{2, 4}));
  {
    const auto gone = std::move(a);
    EXPECT_TRUE(matches(std::get<0>(gone.second(A{0, 1})), A{0, 4}));
  }
  EXPECT_TRUE(matches(grad([](const A& x) { return sum(x * x); })(A{1, 2}), A{2, 4}));
  EXPECT_TRUE(matches(std::get<0>(b.second(A{1, 0})), A{3, 0}));
}

// The pullback is differentiable in its cotangent and in its primals.
TEST(Vjp, PullbackIsDifferentiable) {
  auto f = [](const A& x) { return x * x * x; };
  const auto fixed = vjp(f, A{1, 2});
  EXPECT_TRUE(
      matches(grad([&](const A& g) { return sum(std::get<0>(fixed.second(g * g))); })(A{1, 10}), A{6, 240}));
  auto through = [&](const A& x) { return sum(std::get<0>(vjp(f, x).second(x))); };  // 3 x^3
  EXPECT_TRUE(matches(grad(through)(A{1, 2}), A{9, 36}));
}

TEST(Vjp, RefusesOtherShapes) {
  const auto both = vjp([](const A& x) { return x * x; }, A{1, 2});
  EXPECT_EQ(text_of<ShapeError>([&] {
              both.second(A{1, 2, 3});
            }),
            "vjp: the cotangent has shape (3,), the result (2,)");
  EXPECT_TRUE(matches(std::get<0>(both.second(A{1, 1})), A{2, 4}));
}

TEST(Jvp, ValueAndTangent) {
  const auto [y, dy] = jvp([](const A& x, const A& w) { return x * x * w; }, std::tuple(A{1, 2}, A{3, 4}),
                           std::tuple(A{1, 0}, A{0, 1}));
  EXPECT_TRUE(matches(y, A{3, 16}));
  EXPECT_TRUE(matches(dy, A{6, 4}));
}

TEST(Jvp, TreesAndNumbers) {
  struct In {
    A x;
    Array<int> n;
  };
  auto f = [](const In& in, const Array<float>& s) { return std::pair(in.x * in.x * in.n, s * 2); };
  const In primal = {A{1, 2}, Array<int>{3, 4}}, tangent = {A{1, 1}, Array<int>{0, 0}};
  const auto [y, dy] = jvp(f, std::tuple(primal, 5.f), std::tuple(tangent, 1.f));
  EXPECT_TRUE(matches(y.first, A{3, 16}));
  EXPECT_TRUE(matches(dy.first, A{6, 16}));
  EXPECT_EQ(dy.second.item(), 2.f);
}

TEST(Jvp, UnreachedResultHasZeros) {
  const auto [y, dy] = jvp([](const A&) { return A{5, 6}; }, std::tuple(A{1, 2}), std::tuple(A{1, 1}));
  EXPECT_TRUE(matches(dy, A{0, 0}));
}

TEST(Linearize, PushforwardIsAFunction) {
  const auto [y, push] = linearize([](const A& x) { return sin(x) * x; }, A{1, 2});
  const A slope = cos(A{1, 2}) * A{1, 2} + sin(A{1, 2});
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(matches(push(A{1, 3}), slope * A{1, 3}));
  const auto rows = vmap([push = push](const A& t) { return push(t); })(A{{1, 0}, {0, 1}, {1, 3}});
  EXPECT_TRUE(matches(rows, A{{1, 0}, {0, 1}, {1, 3}} * slope));
  EXPECT_TRUE(
      matches(grad([push = push](const A& t) { return sum(push(t * t)); })(A{1, 3}), slope * A{2, 6}));
}

A d(const std::function<A(const A&)>& f, const A& x) {
  return jvp(f, std::tuple(x), std::tuple(A(1.0))).second;
}
A g(const std::function<A(const A&)>& f, const A& x) { return grad(f)(x); }

// d/dx (x * d/dy (x + y)): 1 where the perturbations are kept apart, 2 where they are confused.
TEST(Perturbations, StayApart) {
  const A one(1.0);
  for (const auto outer : {d, g})
    for (const auto inner : {d, g})
      EXPECT_TRUE(matches(
          outer([&](const A& x) { return x * inner([&](const A& y) -> A { return x + y; }, one); }, one),
          one));
}

// d/dx (x * d/dy (x y^2) at y = x) = d/dx 2 x^3.
TEST(Perturbations, InnerPointDependsOnOuter) {
  const A x(3.0);
  for (const auto outer : {d, g})
    for (const auto inner : {d, g})
      EXPECT_TRUE(matches(
          outer([&](const A& x) { return x * inner([&](const A& y) -> A { return x * y * y; }, x); }, x),
          A(54.0)));
}

TEST(Perturbations, ThreeDeep) {  // d/dx d/dy d/dz of x y z^2 + x^2 y^2 z, all at 2
  const A two(2.0);
  for (const auto a : {d, g})
    for (const auto b : {d, g})
      for (const auto c : {d, g}) {
        const A got = a(
            [&](const A& x) {
              return b(
                  [&](const A& y) {
                    return c([&](const A& z) -> A { return x * y * z * z + x * x * y * y * z; }, two);
                  },
                  two);
            },
            two);
        EXPECT_TRUE(matches(got, A(20.0)));
      }
}

}  // namespace transforms::vjp_jvp_test
