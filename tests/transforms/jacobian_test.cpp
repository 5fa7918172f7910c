#include "nax/transform/jacobian.hpp"

#include "nax/numpy/products/matmul.hpp"
#include "transforms/arrays.hpp"

namespace transforms::jacobian_test {

const A w = {{1, 2, 3}, {4, 5, 6}};

A affine(const A& x) { return matmul(w, x * x); }

TEST(Jacobian, BothModes) {
  const A x = {1, 2, 3}, want = {{2, 8, 18}, {8, 20, 36}};
  EXPECT_TRUE(matches(jacrev(affine)(x), want));
  EXPECT_TRUE(matches(jacfwd(affine)(x), want));
  EXPECT_TRUE(matches(jacobian(affine)(x), want));
}

TEST(Jacobian, ShapesAreResultThenArgument) {
  auto outer = [](const A& x) { return matmul(x, w) * 2; };  // (2, 2) to (2, 3)
  const A x = {{1, 2}, {3, 4}};
  const A r = jacrev(outer)(x), f = jacfwd(outer)(x);
  EXPECT_EQ(to_string(r.shape()), "(2, 3, 2, 2)");
  EXPECT_TRUE(matches(f, r));
  EXPECT_EQ(r(1, 2, 1, 0).item(), 6);
  EXPECT_EQ(r(1, 2, 0, 0).item(), 0);
}

TEST(Jacobian, Argnums) {
  auto f = [](const A& x, const A& y) { return x * y * y; };
  const A x = {1, 2}, y = {3, 4};
  EXPECT_TRUE(matches(jacfwd<1>(f)(x, y), A{{6, 0}, {0, 16}}));
  EXPECT_TRUE(matches(jacrev<-1>(f)(x, y), A{{6, 0}, {0, 16}}));
  EXPECT_TRUE(matches(jacrev<0>(f)(x, y), A{{9, 0}, {0, 16}}));
  EXPECT_TRUE(
      matches(hessian<1>([](const A& x, const A& y) { return sum(x * y * y); })(x, y), A{{2, 0}, {0, 4}}));
}

TEST(Jacobian, ZeroDimensions) {
  EXPECT_TRUE(matches(jacrev([](const A& x) { return x * A{1, 2}; })(A(3.0)), A{1, 2}));
  EXPECT_TRUE(matches(jacfwd([](const A& x) { return x * A{1, 2}; })(A(3.0)), A{1, 2}));
  EXPECT_TRUE(matches(hessian([](const A& x) { return x * x * x; })(A(3.0)), A(18.0)));
}

TEST(Jacobian, TreesOfArguments) {
  struct Params {
    A a, b;
  };
  auto f = [](const Params& p) { return p.a * sum(p.b * p.b); };
  const Params p = {A{1, 2}, A{3, 4, 5}};
  const Params r = jacrev(f)(p), j = jacfwd(f)(p);
  EXPECT_TRUE(matches(r.a, A{{50, 0}, {0, 50}}));
  EXPECT_TRUE(matches(r.b, A{{6, 8, 10}, {12, 16, 20}}));
  EXPECT_TRUE(matches(j.a, r.a));
  EXPECT_TRUE(matches(j.b, r.b));
}

TEST(Jacobian, TuplesOfResults) {
  auto f = [](const A& x) { return std::pair(sum(x * x), x * 3); };
  const auto r = jacrev(f)(A{1, 2});
  EXPECT_TRUE(matches(std::get<0>(r), A{2, 4}));
  EXPECT_TRUE(matches(std::get<1>(r), A{{3, 0}, {0, 3}}));
  const auto j = jacfwd(f)(A{1, 2});
  EXPECT_TRUE(matches(std::get<0>(j), A{2, 4}));
  EXPECT_TRUE(matches(std::get<1>(j), A{{3, 0}, {0, 3}}));
}

TEST(Hessian, OfAQuadraticForm) {
  const A q = {{1, 2}, {0, 3}};
  const A h = hessian([&](const A& x) { return sum(x * matmul(q, x)); })(A{5, 7});
  EXPECT_TRUE(matches(h, A{{2, 2}, {2, 6}}));
}

TEST(Jacobian, WithTheValueFromOneCall) {
  int calls = 0;
  const auto f = [&](const A& x) -> A { return ++calls, x * x * sum(x); };
  const A x = {1, 2}, jac = {{7, 1}, {4, 16}};
  const auto [forward_value, forward] = value_and_jacfwd(f)(x);
  const auto [reverse_value, reverse] = value_and_jacrev(f)(x);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(matches(forward_value, A{3, 12}));
  EXPECT_TRUE(matches(reverse_value, A{3, 12}));
  EXPECT_TRUE(matches(forward, jac));
  EXPECT_TRUE(matches(reverse, jac));
  // Both are differentiable, and go under vmap.
  const auto both = [&](const A& at) -> A {
    const auto [value, columns] = value_and_jacfwd(f)(at);
    return sum(value) + sum(columns);
  };
  const auto apart = [&](const A& at) -> A { return sum(f(at)) + sum(jacfwd(f)(at)); };
  EXPECT_TRUE(matches(grad(both)(x), grad(apart)(x)));
  EXPECT_TRUE(matches(vmap(both)(A{{1, 2}, {3, 4}}), A{43, 323}));
}

}  // namespace transforms::jacobian_test
