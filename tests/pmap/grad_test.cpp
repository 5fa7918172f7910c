#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/transform/custom.hpp"
#include "nax/transform/jacobian.hpp"
#include "pmap/devices.hpp"

// Derivatives through pmap, and a training step.
namespace on_devices::grad_test {

TEST(GradOfPmap, MappedAndShared) {
  auto loss = [](const A& w, const A& x) {
    return sum(
        pmap([](const A& w, const A& row) { return sum(sin(w * row)); }, {.in_axes = {none, 0}})(w, x));
  };
  auto plain = [](const A& w, const A& x) { return sum(sin(w * x)); };
  const A w = {1, 2}, x = {{1, 2}, {3, 4}, {5, 6}};
  const auto got = grad<0, 1>(loss)(w, x), want = grad<0, 1>(plain)(w, x);
  EXPECT_TRUE(matches(std::get<0>(got), std::get<0>(want)));
  EXPECT_TRUE(matches(std::get<1>(got), std::get<1>(want)));
}

TEST(GradOfPmap, SumsWithDerivativesWithin) {
  auto loss = [](const A& w, const A& row) { return -2.0 * sum(sin(w * row) * w); };
  const A w = {1, 2}, x = {{1, 2}, {3, 4}, {5, 6}};
  const auto [values, got] = pmap(value_and_grad(loss), {.in_axes = {none, 0}})(w, x);
  const auto of_all = grad([&](const A& w, const A& x) {
    return sum(pmap(loss, {.in_axes = {none, 0}})(w, x));
  })(w, x);
  A total = zeros<double>({2});
  for (int i = 0; i < 3; ++i) {
    const auto [value, want] = value_and_grad(loss)(w, A(x(i)));
    EXPECT_TRUE(matches(A(values(i)), value));
    EXPECT_TRUE(matches(A(got(i)), want));
    total = total + want;
  }
  EXPECT_TRUE(matches(of_all, total));
}

TEST(GradOfPmap, SecondAndThirdOrder) {
  auto on_four = [](const A& x) { return sum(pmap([](const A& a) { return sin(a) * a; })(x)); };
  auto plain = [](const A& x) { return sum(sin(x) * x); };
  auto directional = [](auto f) { return [f](const A& x) { return sum(grad(f)(x) * x); }; };
  const A x = {1, 2, 3, 4};
  EXPECT_TRUE(matches(hessian(on_four)(x), hessian(plain)(x)));
  EXPECT_TRUE(matches(grad(directional(on_four))(x), grad(directional(plain))(x)));
  EXPECT_TRUE(matches(grad(directional(directional(on_four)))(x), grad(directional(directional(plain)))(x)));
}

TEST(GradOfPmap, TreesWithIntegers) {
  struct Batch {
    A x;
    Array<int> n;
  };
  auto f = [](const Batch& b) { return std::pair(b.x * b.n, b.n + 1); };
  const auto g = grad([&](const Batch& b) {
    const auto [y, n] = pmap(f)(b);
    return sum(y * y * n);
  })(Batch{A{1, 2}, Array<int>{3, 4}});
  EXPECT_TRUE(matches(g.x, A{72, 320}));
  EXPECT_EQ(g.n.to_vector(), (std::vector<int>{0, 0}));
}

TEST(GradOfPmap, CapturedArraysAreRefused) {
  const A x = {1, 2};
  auto loss = [&](const A& w) { return sum(pmap([&](const A& row) { return row * w; })(x)); };
  const std::string text = text_of<DeviceError>([&] { grad(loss)(A(3.0)); });
  EXPECT_NE(
      text.find(
          "pmap: the function uses an array from outside that is being differentiated there; pass it as an "
          "argument with in_axes none"),
      std::string::npos)
      << text;
  if (platform::is_cuda()) {  // each GPU has memory of its own
    const std::string other = text_of<DeviceError>([&] { (void)A(loss(A(3.0))); });
    EXPECT_NE(other.find("multiply: the operands are on different devices"), std::string::npos) << other;
    return;
  }
  EXPECT_TRUE(matches(A(loss(A(3.0))), A(9.0)));  // allowed if not differentiated
  auto constant = [&](const A& w) { return sum(pmap([&](const A& row) { return row * x; })(x) * w); };
  EXPECT_TRUE(matches(grad(constant)(A(3.0)), A(9.0)));
}

TEST(GradOfPmap, PullbackAgainAndAgain) {
  const auto both =
      vjp([](const A& x) { return pmap([](const A& a) { return a * psum(a, "i"); }, {.axis_name = "i"})(x); },
          A{1, 2});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(matches(std::get<0>(both.second(A{1, 10})), A{3 + 21., 30 + 21.}));
}

// A custom rule is for the innermost transform here too.
TEST(GradOfPmap, SecondOrderOfCustomRules) {
  const auto tripled =
      custom_vjp([](const A& x) { return sin(x); }, [](const A& x) { return std::pair(sin(x), x); },
                 [](const A& x, const A& g) { return std::tuple(3 * g * cos(x)); });
  auto one = [&](const A& x) { return tripled(x) * x; };
  auto plain = [&](const A& x) { return sum(one(x)); };
  auto mapped = [&](const A& x) { return sum(pmap(one)(x)); };
  auto twice = [](auto f) { return grad([f](const A& x) { return sum(grad(f)(x) * x) + f(x); }); };
  const A x = {0.5, 1, 1.5, 2};
  EXPECT_TRUE(matches(hessian(mapped)(x), hessian(plain)(x)));
  EXPECT_TRUE(matches(twice(mapped)(x), twice(plain)(x)));
  EXPECT_TRUE(matches(pmap(grad(grad(one)))(x), vmap(grad(grad(one)))(x)));
}

struct Layer {
  A w, b;
};
using Params = std::vector<Layer>;

A loss(const Params& p, const A& x, const A& y) {
  A h = x;
  for (const Layer& layer : p) h = tanh(matmul(h, layer.w) + layer.b);
  return mean(square(h - y));
}

std::pair<Params, A> step(Params p, const A& x, const A& y, bool together) {
  auto [value, g] = value_and_grad(loss)(p, x, y);
  if (together) {
    g = pmean(g, "devices");
    value = pmean(value, "devices");
  }
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = {p[i].w - 0.1 * g[i].w, p[i].b - 0.1 * g[i].b};
  return {std::move(p), std::move(value)};
}

TEST(Training, FourDevicesEqualOne) {
  const A x = sin(arange<double>(8 * 3)).reshape({8, 3}), y = cos(arange<double>(8 * 2)).reshape({8, 2});
  const Params start = {{sin(arange<double>(12) * 3).reshape({3, 4}), zeros<double>({4})},
                        {cos(arange<double>(8) * 5).reshape({4, 2}), zeros<double>({2})}};
  const A xs = x.reshape({4, 2, 3}), ys = y.reshape({4, 2, 2});
  const auto update = [](Params p, const A& x, const A& y) { return step(std::move(p), x, y, true); };
  const auto first = pmap(update, {.in_axes = {none, 0, 0}, .axis_name = "devices"});
  const auto next = pmap(update, {.axis_name = "devices"});
  auto [one, value] = step(start, x, y, false);
  auto [four, values] = first(start, xs, ys);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(matches(values, full<double>({4}, value.item())));
    std::tie(one, value) = step(one, x, y, false);
    std::tie(four, values) = next(std::move(four), xs, ys);
  }
  for (std::size_t i = 0; i < one.size(); ++i)
    for (int d = 0; d < 4; ++d) EXPECT_TRUE(compare::close(A(four[i].w(d)), one[i].w, 1e-12));
}

}  // namespace on_devices::grad_test
