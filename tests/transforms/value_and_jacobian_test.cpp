#include <gtest/gtest.h>

#include <nax/nax.hpp>

// value_and_jacfwd and value_and_jacrev are the function's value and jacfwd's and jacrev's result.
namespace value_and_jacobian_test {
using namespace nax;
using A = Array<double>;

const A x = {.5, -1, 2};
const auto f = [](const A& v) {
  return stack(std::vector<A>{A(v(0) * v(1)), A(sin(v(2))), A(exp(v(0)) + v(2)), v(1)});
};

TEST(ValueAndJacobian, AreBoth) {
  int calls = 0;
  const auto counted = [&](const A& v) { return ++calls, f(v); };
  const auto [r, forward] = value_and_jacfwd(counted)(x);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(array_equal(r, f(x)).item());
  EXPECT_TRUE(array_equal(forward, jacfwd(f)(x)).item());
  const auto [s, reverse] = value_and_jacrev(counted)(x);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(array_equal(s, f(x)).item());
  EXPECT_TRUE(array_equal(reverse, jacrev(f)(x)).item());
  EXPECT_EQ(reverse.shape(), (Shape{4, 3}));
}

struct Point {
  A p, q;
};
TEST(ValueAndJacobian, OfTreesAndArguments) {
  const auto g = [](const A& v, const Point& w) { return Point{A(v * w.p), A(sum(v) + w.q)}; };
  const Point w{A{1, 2, 3}, A(4.)};
  const auto [value, blocks] = value_and_jacfwd<1>(g)(x, w);
  EXPECT_TRUE(array_equal(value.p, A(x * w.p)).item());
  const auto [of_p, of_q] = blocks;
  EXPECT_TRUE(array_equal(of_p.p, A(diag(x))).item());
  EXPECT_EQ(of_q.q.item(), 1);
}

TEST(ValueAndJacobian, Nest) {
  const auto h = [](const A& v) -> A {
    const auto [r, j] = value_and_jacrev(f)(v);
    return sum(r) + sum(square(j));
  };
  const A plain = grad([](const A& v) -> A { return sum(f(v)) + sum(square(jacfwd(f)(v))); })(x);
  EXPECT_LT(max(abs(grad(h)(x) - plain)).item(), 1e-12);
  const auto rows =
      vmap([](const A& v) { return value_and_jacfwd(f)(v); })(stack(std::vector<A>{x, A(2 * x)}));
  EXPECT_TRUE(array_equal(A(rows.first(1)), f(A(2 * x))).item());
  EXPECT_LT(max(abs(rows.second(1) - jacfwd(f)(A(2 * x)))).item(), 1e-12);
  const auto recorded = jit([](const A& v) { return value_and_jacfwd(f)(v); });
  EXPECT_LT(max(abs(recorded(x).second - jacfwd(f)(x))).item(), 1e-12);
  EXPECT_LT(max(abs(recorded(A(2 * x)).first - f(A(2 * x)))).item(), 1e-12);
}

}  // namespace value_and_jacobian_test
