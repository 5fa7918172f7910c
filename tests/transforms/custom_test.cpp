#include "nax/transform/custom.hpp"

#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/parallel/collectives.hpp"
#include "nax/transform/checkpoint.hpp"
#include "nax/transform/jacobian.hpp"
#include "nax/transform/jit.hpp"
#include "transforms/arrays.hpp"

// Custom rules. Those here are wrong on purpose, to tell them from the natural derivative.
namespace transforms::custom_test {

const auto tripled =
    custom_vjp([](const A& x) { return sin(x); }, [](const A& x) { return std::pair(sin(x), x); },
               [](const A& x, const A& g) { return std::tuple(3 * g * cos(x)); });

TEST(CustomVjp, RuleAndValue) {
  const A x = {1, 2};
  EXPECT_TRUE(matches(tripled(x), sin(x)));
  EXPECT_TRUE(matches(grad([](const A& x) { return sum(tripled(x)); })(x), 3 * cos(x)));
  EXPECT_TRUE(matches(vmap(grad([](const A& x) { return tripled(x); }))(x), 3 * cos(x)));
}

TEST(CustomVjp, UndifferentiatedRunsTheFunctionItself) {
  int f = 0, fwd = 0;
  auto counted = custom_vjp([&](const A& x) { return ++f, x * x; },
                            [&](const A& x) { return ++fwd, std::pair(x * x, x); },
                            [](const A& x, const A& g) { return std::tuple(g * x); });
  counted(A{1, 2});
  EXPECT_EQ(std::pair(f, fwd), std::pair(1, 0));
  grad([&](const A& x) { return sum(counted(x)); })(A{1, 2});
  EXPECT_EQ(std::pair(f, fwd), std::pair(1, 1));
  grad([&](const A& x) { return sum(x * counted(A{1, 2})); })(A{1, 2});
  EXPECT_EQ(std::pair(f, fwd), std::pair(2, 1));
}

TEST(CustomVjp, Trees) {
  struct Pair {
    A a, b;
  };
  auto f = custom_vjp(
      [](const Pair& p, const A& x) { return std::pair(p.a * x, p.b + x); },
      [](const Pair& p, const A& x) { return std::pair(std::pair(p.a * x, p.b + x), std::tuple(p, x)); },
      [](const std::tuple<Pair, A>& r, const std::pair<A, A>& g) {
        const auto& [p, x] = r;
        return std::tuple(Pair{g.first * x * 10, g.second * 100}, g.first * p.a);
      });
  const auto [gp, gx] = grad<0, 1>([&](const Pair& p, const A& x) {
    const auto [u, v] = f(p, x);
    return sum(u) + sum(v);
  })(Pair{A{1, 2}, A{3, 4}}, A{5, 6});
  EXPECT_TRUE(matches(gp.a, A{50, 60}));
  EXPECT_TRUE(matches(gp.b, A{100, 100}));
  EXPECT_TRUE(matches(gx, A{1, 2}));
}

TEST(CustomVjp, ForwardModeIsRefused) {
  const std::string text = text_of<TypeError>([] { jvp(tripled, std::tuple(A{1, 2}), std::tuple(A{1, 1})); });
  EXPECT_EQ(text, "custom_vjp: the function has no forward-mode derivative; define custom_jvp instead");
  EXPECT_TRUE(matches(jvp(
                          [](const A& x) {
                            return x * tripled(A{1, 2});
                          },
                          std::tuple(A{1, 2}), std::tuple(A{1, 1}))
                          .second,
                      sin(A{1, 2})));
}

TEST(CustomVjp, RefusesCotangentsOfOtherShapes) {
  auto f = custom_vjp([](const A& x) { return x * 1; }, [](const A& x) { return std::pair(x * 1, x); },
                      [](const A&, const A& g) { return std::tuple(sum(g)); });
  EXPECT_EQ(text_of<ShapeError>([&] {
              grad([&](const A& x) { return sum(f(x)); })(A{1, 2});
            }),
            "custom_vjp: bwd returned a cotangent of shape () for an argument of shape (2,)");
}

// As in JAX a rule serves the innermost transform; the outer ones differentiate the code of fwd and bwd.
TEST(CustomVjp, SecondOrder) {
  const A x(0.75);
  EXPECT_TRUE(matches(grad(grad([](const A& x) { return tripled(x); }))(x), -3 * sin(x)));
  // of 3 cos(x) x + sin(x), the sin(x) that fwd computed
  EXPECT_TRUE(
      matches(grad(grad([](const A& x) { return tripled(x) * x; }))(x), -3 * sin(x) * x + 4 * cos(x)));
  EXPECT_TRUE(matches(hessian([](const A& x) { return tripled(x) * x; })(x), -3 * sin(x) * x + 4 * cos(x)));
  EXPECT_TRUE(matches(grad(grad(checkpoint([](const A& x) { return tripled(x) * x; })))(x),
                      -3 * sin(x) * x + 4 * cos(x)));
}

// Inside the inner gradient, but of the outer variable only: the rule is the outer transform's.
TEST(CustomVjp, ServesTheTransformOfItsArgument) {
  const A w(0.75);
  auto outer = [](const A& w) {
    return grad([&](const A& x) { return x * x * tripled(w); })(A(2.0));
  };  // 4 tripled(w)
  EXPECT_TRUE(matches(grad(outer)(w), 12 * cos(w)));
  auto between = [](const A& w) {  // what an inner gradient returned belongs to the outer transform
    const A g = grad([&](const A& x) { return x * x * w; })(A(0.5));  // w
    return grad([&](const A& x) { return x * tripled(g); })(A(2.0));
  };
  EXPECT_TRUE(matches(grad(between)(w), 3 * cos(w)));
}

TEST(CustomVjp, PullbackThroughCheckpointAfterwards) {
  const auto both = vjp(checkpoint([](const A& x) { return tripled(x) * 2; }), A{1, 2});
  EXPECT_TRUE(matches(std::get<0>(both.second(A{1, 10})), 6 * cos(A{1, 2}) * A{1, 10}));
}

A own_square(const A& x) {  // its rules call the function itself, as JAX's documentation likes to
  static const auto f =
      custom_vjp([](const A& x) { return x * x; }, [](const A& x) { return std::pair(own_square(x), x); },
                 [](const A& x, const A& g) { return std::tuple(g * x * 10); });
  return f(x);
}

A own_cube(const A& x) {
  static const auto f = custom_jvp([](const A& x) { return x * x * x; },
                                   [](const auto& primals, const auto& tangents) {
                                     const A& x = std::get<0>(primals);
                                     return std::pair(own_cube(x), 10 * x * std::get<0>(tangents));
                                   });
  return f(x);
}

TEST(CustomRules, MayCallTheFunctionItself) {
  const A x(3.0);
  EXPECT_TRUE(matches(grad(own_square)(x), A(30.0)));
  EXPECT_TRUE(matches(grad(grad(own_square))(x), A(10.0)));
  // the outer transform meets the rule again in what fwd computed: (x^2 * x)' = 10 x * x + x^2, and once more
  EXPECT_TRUE(matches(grad(grad([](const A& x) { return own_square(x) * x; }))(x), A(20 * 3. + 10 * 3)));
  EXPECT_TRUE(matches(grad(own_cube)(x), A(30.0)));
  EXPECT_TRUE(matches(grad(grad([](const A& x) { return own_cube(x) * x; }))(x), A(20 * 3. + 10 * 3)));
  EXPECT_TRUE(matches(grad(grad(grad(own_cube)))(x), A(0.0)));
}

const auto doubled =
    custom_jvp([](const A& x, const A& y) { return x * y; },
               [](const std::tuple<A, A>& p, const std::tuple<A, A>& t) {
                 return std::pair(std::get<0>(p) * std::get<1>(p),
                                  2 * std::get<0>(t) * std::get<1>(p) + 5 * std::get<0>(p) * std::get<1>(t));
               });

TEST(CustomJvp, BothModes) {
  const A x = {1, 2}, y = {3, 4};
  const auto [value, tangent] = jvp(doubled, std::tuple(x, y), std::tuple(A{1, 0}, A{0, 1}));
  EXPECT_TRUE(matches(value, x * y));
  EXPECT_TRUE(matches(tangent, A{6, 10}));
  const auto [gx, gy] = grad<0, 1>([](const A& x, const A& y) { return sum(doubled(x, y)); })(x, y);
  EXPECT_TRUE(matches(gx, 2 * y));
  EXPECT_TRUE(matches(gy, 5 * x));
  EXPECT_TRUE(matches(grad<1>([](const A& x, const A& y) { return sum(doubled(x, y)); })(x, y), 5 * x));
}

TEST(CustomVjp, RuleMayReduceOverTheAxisOfVmap) {
  auto f = custom_vjp([](const A& x) { return x; }, [](const A& x) { return std::pair(x, x); },
                      [](const A& x, const A& g) { return std::tuple(A(g * psum(x, "i"))); });
  const A x = {1, 2, 4};
  auto loss = [&](const A& v) { return sum(vmap([&](const A& e) { return f(e); }, {.axis_name = "i"})(v)); };
  EXPECT_TRUE(matches(grad(loss)(x), A{7, 7, 7}));
  EXPECT_TRUE(matches(jit(grad(loss))(x), A{7, 7, 7}));
}

TEST(CustomJvp, OneOperandBatched) {
  const A x = {{1, 2}, {3, 4}, {5, 6}}, y = {7, 8};
  auto loss = [](const A& x, const A& y) { return sum(doubled(x, y)); };
  EXPECT_TRUE(matches(vmap(grad<0>(loss), {.in_axes = {0, none}})(x, y), A{{14, 16}, {14, 16}, {14, 16}}));
  EXPECT_TRUE(matches(vmap(grad<1>(loss), {.in_axes = {0, none}})(x, y), 5 * x));
  const A shared = grad<1>([&](const A& x, const A& y) {
    return sum(vmap(loss, {.in_axes = {0, none}})(x, y));
  })(x, y);
  EXPECT_TRUE(matches(shared, A{45, 60}));
}

TEST(CustomJvp, NestedInCustomVjp) {
  auto inner = custom_jvp([](const A& x) { return exp(x); },
                          [](const std::tuple<A>& p, const std::tuple<A>& t) {
                            const A y = exp(std::get<0>(p));
                            return std::pair(y, 7 * y * std::get<0>(t));
                          });
  auto outer =
      custom_vjp([&](const A& x) { return inner(x); }, [&](const A& x) { return std::pair(inner(x), x); },
                 [&](const A& x, const A& g) { return std::tuple(g * inner(x)); });
  const A x(0.5);
  EXPECT_TRUE(matches(grad([&](const A& x) { return outer(x); })(x), exp(x)));
  EXPECT_TRUE(matches(grad(grad([&](const A& x) { return outer(x); }))(x), 7 * exp(x)));
}

}  // namespace transforms::custom_test
