// Derivatives of gradients of large elementwise functions, against the function applied to small pieces.
#include <gtest/gtest.h>

#include "nax/nax.hpp"

namespace large_gradients_test {
using namespace nax;

template <class T>
Array<T> waves(std::int64_t n, double phase) {
  return sin(arange<T>(static_cast<T>(n)) * T(0.37) + T(phase)) * T(1.5);
}
// f of slices of 1000 elements, joined.
template <class T, class F, class... X>
Array<T> by_pieces(const F& f, const X&... x) {
  std::vector<Array<T>> parts;
  const std::int64_t n = std::get<0>(std::tie(x...)).size();
  for (std::int64_t at = 0; at < n; at += 1000) {
    const auto piece = slice(at, std::min(n, at + 1000));
    parts.push_back(f(Array<T>(x(piece))...));
  }
  return concatenate(parts);
}
template <class T>
void expect_same(const Array<T>& got, const Array<T>& want) {
  ASSERT_EQ(got.shape(), want.shape());
  const double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-12;
  EXPECT_LT(max(abs(got - want) / (1 + abs(want))).item(), tolerance);
}

// Products of the Hessian of sum(f) with v, by all ways to have them.
template <class T, class F>
void check_products(const F& f, const Array<T>& x, const Array<T>& v) {
  using A = Array<T>;
  const auto slope = [=](const A& x) { return grad([=](const A& x) { return sum(f(x)); })(x); };
  const auto forward = [=](const A& x, const A& v) {
    return jvp(slope, std::tuple{x}, std::tuple{v}).second;
  };
  const auto backward = [=](const A& x, const A& v) {
    return grad([=](const A& x) { return sum(slope(x) * v); })(x);
  };
  const auto third = [=](const A& x, const A& v) {
    return jvp([=](const A& x) { return forward(x, v); }, std::tuple{x}, std::tuple{v}).second;
  };
  const auto mixed = [=](const A& x, const A& v) {
    return grad([=](const A& x) { return sum(forward(x, v)); })(x);
  };
  expect_same(slope(x), by_pieces<T>(slope, x));
  const A want = by_pieces<T>(forward, x, v);
  expect_same(forward(x, v), want);
  expect_same(backward(x, v), want);
  expect_same(third(x, v), by_pieces<T>(third, x, v));
  expect_same(mixed(x, v), by_pieces<T>(mixed, x, v));
}

TEST(LargeGradients, ProductsWithHessians) {
  for (std::int64_t n : {16384, 16385, 40001}) {
    check_products<float>([](const auto& x) { return tanh(x * 1.5f) * x; }, waves<float>(n, 0),
                          waves<float>(n, 1));
    check_products<double>([](const auto& x) { return exp(-x * x) * x + sin(x); }, waves<double>(n, 0),
                           waves<double>(n, 1));
  }
}

TEST(LargeGradients, Conditions) {
  check_products<double>([](const auto& x) { return where(x > 0.3, x * x * x, exp(x) + abs(x)); },
                         waves<double>(20000, 0), waves<double>(20000, 1));
}

// The cotangent of the expression depends on x as well, and so do other leaves.
TEST(LargeGradients, SeveralExpressions) {
  using A = Array<double>;
  const A w = waves<double>(20000, 2);
  const auto chain = [](const A& x) {
    const A y = tanh(x) * x, z = y * y + x;
    return A(log(z * z + 1.0) * y);
  };
  check_products<double>(chain, waves<double>(20000, 0), waves<double>(20000, 1));
  const auto of_two = [](const A& x, const A& w) { return sum(exp(x * w) + w); };
  const A x = waves<double>(20000, 0), v = waves<double>(20000, 1);
  const auto slopes = [=](const A& x, const A& w) {
    return jvp(grad<0, 1>(of_two), std::tuple{x, w}, std::tuple{v, x}).second;
  };
  const auto [dx, dw] = slopes(x, w);
  const auto second = [&](const A& x, const A& w, const A& v) {
    return jvp(grad<0, 1>(of_two), std::tuple{x, w}, std::tuple{v, x}).second;
  };
  expect_same(A(dx), by_pieces<double>(
                         [&](const A& x, const A& w, const A& v) { return A(std::get<0>(second(x, w, v))); },
                         x, w, v));
  expect_same(A(dw), by_pieces<double>(
                         [&](const A& x, const A& w, const A& v) { return A(std::get<1>(second(x, w, v))); },
                         x, w, v));
}

// Differentiated numbers, broadcast, permuted and batched arrays; and constant numbers.
TEST(LargeGradients, Shapes) {
  using A = Array<double>;
  const A x = waves<double>(20000, 0).reshape({100, 200}), v = waves<double>(20000, 1).reshape({100, 200});
  const A row = waves<double>(200, 3), number(0.7);
  const auto f = [](const A& x, const A& a) { return sum(tanh(x * a) * x); };
  const auto check = [&](const A& a, const A& t) {
    const auto slope = [=](const A& x, const A& a) { return grad<0, 1>(f)(x, a); };
    const auto [dx, da] = jvp(slope, std::tuple{x, a}, std::tuple{v, t}).second;
    // Differences of the slopes.
    const double h = 1e-5;
    const auto [xp, ap] = slope(x + h * v, a + h * t);
    const auto [xm, am] = slope(x - h * v, a - h * t);
    EXPECT_LT(max(abs(A(dx) - (A(xp) - A(xm)) / (2 * h))).item(), 1e-6);
    EXPECT_LT(max(abs(A(da) - (A(ap) - A(am)) / (2 * h)) / (1 + abs(A(da)))).item(), 1e-6);
    // With regard to x alone the other is what it is.
    const auto own = [&](const A& x, const A& a) { return grad([=](const A& x) { return f(x, a); })(x); };
    const A moved = jvp(own, std::tuple{x, a}, std::tuple{v, t}).second;
    EXPECT_LT(max(abs(moved - (own(x + h * v, a + h * t) - own(x - h * v, a - h * t)) / (2 * h))).item(),
              1e-6);
  };
  check(number, A(0.3));
  check(row, waves<double>(200, 4));
  const auto g = [](const A& x) { return grad([](const A& x) { return sum(tanh(x * 1.5) * x); })(x); };
  const A want = jvp(g, std::tuple{x}, std::tuple{v}).second;
  expect_same(A(jvp(g, std::tuple{A(x.T())}, std::tuple{A(v.T())}).second.T()), want);
  expect_same(
      A(vmap([&](const A& x, const A& v) { return jvp(g, std::tuple{x}, std::tuple{v}).second; })(x, v)),
      want);
  expect_same(A(jvp(vmap(g), std::tuple{x}, std::tuple{v}).second), want);
  const A seven = broadcast_to(A(0.7), {100, 200});
  expect_same(A(jvp(g, std::tuple{seven}, std::tuple{v}).second),
              A(jvp(g, std::tuple{A(seven + 0.0)}, std::tuple{v}).second));
}

// More directions than one, in hidden axes.
TEST(LargeGradients, ManyDirections) {
  using A = Array<double>;
  const A x = waves<double>(16384, 0), vs = A(stack({waves<double>(16384, 1), waves<double>(16384, 2)}));
  const auto g = [](const A& x) { return grad([](const A& x) { return sum(sin(x) * x); })(x); };
  const auto push = linearize(g, x).second;
  const A both = vmap([&](const A& v) { return push(v); })(vs);
  expect_same(A(both(0)), push(A(vs(0))));
  expect_same(A(both(1)), push(A(vs(1))));
  expect_same(
      push(A(vs(1))),
      by_pieces<double>([&](const A& x, const A& v) { return jvp(g, std::tuple{x}, std::tuple{v}).second; },
                        x, A(vs(1))));
}

}  // namespace large_gradients_test
