#include <cmath>

#include "nax/nax.hpp"
#include "support/compare.hpp"

// Sums of expressions, whose derivatives are computed along with the value, against sums of arrays.
namespace fused_sum_test {

using namespace nax;

template <class T>
Array<T> draw(std::uint64_t seed, const Shape& shape) {
  return random::uniform<T>(random::key(seed), shape, {.minval = -1, .maxval = 1});
}

// `fused` and `plain` are one function: value, gradients in all arguments, tangents and cotangents.
template <int... i, class Fused, class Plain, class... X>
void expect_same_of(std::integer_sequence<int, i...>, const Fused& fused, const Plain& plain,
                    double tolerance, const X&... x) {
  const auto close = [&](const auto& a, const auto& b) {
    return compare::close(eval(a), eval(b), tolerance);
  };
  const auto [value, pullback] = vjp(fused, x...);
  const auto [want, want_pullback] = vjp(plain, x...);
  EXPECT_TRUE(close(value, want));
  EXPECT_TRUE(close(fused(x...), want));
  using T = typename std::remove_cvref_t<decltype(want)>::value_type;
  for (const T by : {T(1), T(-.5), T(1)}) {  // repeatedly
    const auto g = by == T(1) ? ones_like(want) : eval(by * (T(1) + cos(want)));
    const auto got = pullback(g), all = want_pullback(g);
    const bool same[] = {close(std::get<i>(got), std::get<i>(all))...};
    for (const bool one : same) EXPECT_TRUE(one) << "cotangent " << by;
  }
  const auto tangents = std::tuple{eval(x * x + T(.25))...};
  EXPECT_TRUE(
      close(jvp(fused, std::tuple{x...}, tangents).second, jvp(plain, std::tuple{x...}, tangents).second));
  const auto push = linearize(fused, x...).second;
  EXPECT_TRUE(close(std::apply(push, tangents), jvp(plain, std::tuple{x...}, tangents).second));
  const auto scalar = [](const auto& f) { return [f](const X&... y) { return T(-3) * sum(eval(f(y...))); }; };
  const auto gradients = [&](const auto& f) {
    auto all = grad<i...>(scalar(f))(x...);
    if constexpr (sizeof...(X) == 1)
      return std::tuple{std::move(all)};
    else
      return all;
  };
  const auto got = gradients(fused), all = gradients(plain);
  const bool same[] = {close(std::get<i>(got), std::get<i>(all))...};
  for (const bool one : same) EXPECT_TRUE(one) << "gradient";
}

// Every way to sum up what `terms` gives.
template <class T, class Terms, class... X>
void expect_sums(const Terms& terms, const std::vector<Axis>& axes, double tolerance, const X&... x) {
  const auto indices = std::make_integer_sequence<int, sizeof...(X)>{};
  for (const Axis& axis : axes)
    for (const bool keep : {false, true}) {
      const auto fused = [&](const X&... y) { return sum(terms(y...), {.axis = axis, .keepdims = keep}); };
      const auto plain = [&](const X&... y) {
        return sum(eval(terms(y...)), {.axis = axis, .keepdims = keep});
      };
      expect_same_of(indices, fused, plain, tolerance, x...);
    }
  const auto fused = [&](const X&... y) { return mean(terms(y...)); };
  const auto plain = [&](const X&... y) { return mean(eval(terms(y...))); };
  if (terms(x...).size() > 0) expect_same_of(indices, fused, plain, tolerance, x...);
}

constexpr auto of_one = [](const auto& x) { return exp(-x * x) * (x + x * x * 0.5); };
constexpr auto of_two = [](const auto& x, const auto& y) { return tanh(x * y + 1) * y; };
constexpr auto arithmetic = [](const auto& x, const auto& y) { return (x - y) * (x - y); };

template <class T>
void expect_shapes(double tolerance) {
  const std::vector<Axis> whole = {Axis()}, matrix = {Axis(), Axis(0), Axis(1)};
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{17}, Shape{3000}, Shape{9001}})
    expect_sums<T>(of_one, whole, tolerance, draw<T>(1, shape));
  for (const Shape& shape : {Shape{5, 7}, Shape{1, 9}, Shape{0, 3}, Shape{70, 900}}) {
    const Array<T> x = draw<T>(1, shape), y = draw<T>(2, shape);
    expect_sums<T>(of_one, matrix, tolerance, x);
    expect_sums<T>(of_two, matrix, tolerance, x, y);
    expect_sums<T>(arithmetic, matrix, tolerance, x, y);
  }
}

TEST(FusedSum, ShapesOfFloat) { expect_shapes<float>(2e-5); }
TEST(FusedSum, ShapesOfDouble) { expect_shapes<double>(1e-12); }

TEST(FusedSum, LeavesOfManyLayouts) {
  using A = Array<double>;
  const std::vector<Axis> axes = {Axis(), Axis(0), Axis(1)};
  const A x = draw<double>(1, {6, 8}), row = draw<double>(2, {8}), column = draw<double>(3, {6, 1}),
          number = draw<double>(4, {});
  expect_sums<double>(of_two, axes, 1e-12, x, row);
  expect_sums<double>(of_two, axes, 1e-12, column, x);
  expect_sums<double>(of_two, axes, 1e-12, column, row);
  expect_sums<double>(of_two, axes, 1e-12, x, number);
  expect_sums<double>(of_two, axes, 1e-12, eval(draw<double>(5, {8, 6}).T()), x);
  expect_sums<double>(of_two, axes, 1e-12, eval(draw<double>(6, {12, 24})(slice(_, _, 2), slice(_, _, 3))),
                      row);
  const A large = draw<double>(7, {300, 400}), wide = draw<double>(8, {400});
  expect_sums<double>(of_two, axes, 1e-10, large, wide);
  expect_sums<double>(of_two, axes, 1e-10, eval(draw<double>(9, {400, 300}).T()), wide);
}

TEST(FusedSum, ConstantsAndMasks) {
  using A = Array<float>;
  const A x = draw<float>(1, {50}), c = draw<float>(2, {50});
  const std::vector<Axis> whole = {Axis()};
  expect_sums<float>([&](const A& v) { return exp(v * c) * c; }, whole, 1e-5, x);
  expect_sums<float>([&](const A& v) { return where(v > 0.f, v * exp(v), c); }, whole, 1e-5, x);
  // One array, whose first use carries no gradient; the last, none but that.
  expect_sums<float>([&](const A& v) { return where(v > 0.f, v * exp(v), 0.f); }, whole, 1e-5, x);
  expect_sums<float>([&](const A& v) { return where(v > 0.f, exp(v), v); }, whole, 1e-5, x);
  expect_sums<float>([&](const A& v) { return where(v > 0.f, floor(v), floor(v * v)); }, whole, 1e-5, x);
  const Array<int> n = arange(50);
  expect_sums<float>([&](const A& v) { return sin(v) * n; }, whole, 1e-5, x);
  const Array<bool> chosen = c > 0.f;
  const auto some = [&](const A& v) { return sum(exp(v), {.initial = 2.f, .where = chosen}); };
  const auto all = [&](const A& v) { return sum(eval(where(chosen, exp(v), 0.f))) + 2.f; };
  EXPECT_TRUE(compare::close(grad(some)(x), grad(all)(x), 1e-6));
}

TEST(FusedSum, HalfAndMixedTypes) {
  const Array<half> x = draw<float>(1, {40}).astype<half>();
  const auto fused = [](const Array<half>& v) { return sum(exp(v) * v); };
  const auto plain = [](const Array<half>& v) { return sum(eval(exp(v) * v)); };
  EXPECT_TRUE(compare::close(grad(fused)(x).astype<float>(), grad(plain)(x).astype<float>(), 1e-2));
  const Array<double> d = draw<double>(2, {40});
  const Array<float> f = draw<float>(3, {40});
  const auto mixed = [](const Array<double>& a, const Array<float>& b) { return sum(exp(a) * b); };
  const auto apart = [](const Array<double>& a, const Array<float>& b) { return sum(eval(exp(a) * b)); };
  EXPECT_TRUE(compare::close(grad<0>(mixed)(d, f), grad<0>(apart)(d, f), 1e-12));
  EXPECT_TRUE(compare::close(grad<1>(mixed)(d, f), grad<1>(apart)(d, f), 1e-6));
}

TEST(FusedSum, HigherOrders) {
  using A = Array<double>;
  const A x = draw<double>(1, {6});
  const auto fused = [](const A& v) { return sum(of_one(v)); };
  const auto plain = [](const A& v) { return sum(eval(of_one(v))); };
  EXPECT_TRUE(compare::close(hessian(fused)(x), hessian(plain)(x), 1e-12));
  EXPECT_TRUE(compare::close(jacfwd(grad(fused))(x), hessian(plain)(x), 1e-12));
  EXPECT_TRUE(compare::close(jacrev(jacfwd(fused))(x), hessian(plain)(x), 1e-12));
  const auto norm = [](const auto& f) { return [f](const A& v) { return sum(exp(grad(f)(v))); }; };
  EXPECT_TRUE(compare::close(grad(norm(fused))(x), grad(norm(plain))(x), 1e-12));
  EXPECT_TRUE(compare::close(grad(checkpoint(fused))(x), grad(plain)(x), 1e-12));
  EXPECT_TRUE(compare::close(hessian(checkpoint(fused))(x), hessian(plain)(x), 1e-12));
  const A differences = (fused(x + 1e-6 * eye<double>(6)(0)) - fused(x - 1e-6 * eye<double>(6)(0))) / 2e-6;
  EXPECT_NEAR(grad(fused)(x)(0).item(), differences.item(), 1e-7);
}

// A pullback and a pushforward are functions, too: linear ones.
TEST(FusedSum, DerivativesOfPullbacks) {
  using A = Array<double>;
  const A x = draw<double>(1, {4, 5});
  const auto rows = [](const A& v) { return sum(of_one(v), {.axis = 1}); };
  const auto pullback = vjp(rows, x).second;
  const A g = draw<double>(2, {4}), jacobian = jacrev(rows)(x);
  const auto of_cotangent = [&](const A& c) { return sum(std::get<0>(pullback(c)) * x); };
  const A want = sum(jacobian * x, {.axis = {1, 2}});
  EXPECT_TRUE(compare::close(grad(of_cotangent)(g), want, 1e-12));
  EXPECT_TRUE(compare::close(jacfwd(of_cotangent)(g), want, 1e-12));
  const auto push = linearize(rows, x).second;
  const auto of_tangent = [&](const A& t) { return sum(push(t) * g); };
  EXPECT_TRUE(compare::close(grad(of_tangent)(x), eval(std::get<0>(pullback(g))), 1e-12));
  const auto number = [](const A& v) { return sum(of_one(v)); };
  const auto pull_number = vjp(number, x).second;
  const auto many = vmap([&](const A& c) { return std::get<0>(pull_number(c)); })(g);
  EXPECT_TRUE(compare::close(eval(many(2)), eval(g(2) * grad(number)(x)), 1e-12));
}

TEST(FusedSum, Mapped) {
  using A = Array<float>;
  const A x = draw<float>(1, {9, 30}), w = draw<float>(2, {30});
  const auto f = [](const A& a, const A& b) { return sum(of_two(a, b)); };
  const auto [values, gradients] = vmap(value_and_grad<0, 1>(f), {.in_axes = {0, none}})(x, w);
  const A losses = vmap(f, {.in_axes = {0, none}})(x, w);
  const A of_shared = grad<1>([&](const A& a, const A& b) {
    return sum(vmap(f, {.in_axes = {0, none}})(a, b));
  })(x, w);
  A total = zeros_like(w);
  for (int i = 0; i < 9; ++i) {
    const A row = x(i);
    const auto [value, each] = value_and_grad<0, 1>(f)(row, w);
    EXPECT_TRUE(compare::close(eval(values(i)), value, 1e-5));
    EXPECT_TRUE(compare::close(eval(losses(i)), value, 1e-5));
    EXPECT_TRUE(compare::close(eval(std::get<0>(gradients)(i)), std::get<0>(each), 1e-5));
    EXPECT_TRUE(compare::close(eval(std::get<1>(gradients)(i)), std::get<1>(each), 1e-5));
    total = total + std::get<1>(each);
  }
  EXPECT_TRUE(compare::close(of_shared, total, 1e-5));
}

// Zero times a derivative that is infinite is zero; shares of other nodes add up.
TEST(FusedSum, ZerosAndSums) {
  const Array<float> x = {0, 1, 4};
  const auto none_of_it = [](const Array<float>& v) { return 0.f * sum(sqrt(v)) + sum(v); };
  EXPECT_EQ(sum(abs(grad(none_of_it)(x) - 1.f)).item(), 0);
  const auto twice = [](const Array<float>& v) { return sum(exp(v)) + 2.f * sum(exp(v) * v) + sum(v * v); };
  EXPECT_TRUE(compare::close(grad(twice)(x), eval(exp(x) * (3.f + 2.f * x) + 2.f * x), 1e-6));
  const auto [kept, gradient] = value_and_grad([](const Array<float>& v) {
    const Array<float> s = sum(exp(v));
    return std::pair{s * s, s};
  })(x);
  EXPECT_TRUE(compare::close(gradient, eval(2.f * kept.second * exp(x)), 1e-5));
}

// The tape keeps a limited number of derivatives; beyond it the array's elements serve all sums.
TEST(FusedSum, ManySumsOfOneArray) {
  const Array<float> x = draw<float>(1, {1 << 20});
  const auto f = [](const Array<float>& v) {
    Array<float> total = 0;
    for (int i = 1; i <= 40; ++i) total = total + sum(exp(v * (.05f * static_cast<float>(i))));
    return total;
  };
  Array<float> want = zeros_like(x);
  for (int i = 1; i <= 40; ++i)
    want = want + .05f * static_cast<float>(i) * exp(x * (.05f * static_cast<float>(i)));
  reset_peak_memory();
  const std::size_t before = memory_stats().in_use;
  const Array<float> gradient = grad(f)(x);
  EXPECT_LT(memory_stats().peak - before, std::size_t{80} << 20);  // 40 derivatives have 160
  EXPECT_TRUE(compare::close(gradient, want, 1e-4));
}

TEST(FusedSum, OnAnyNumberOfThreads) {
  const Array<float> x = draw<float>(1, {300000}), y = draw<float>(2, {300, 1000}),
                     w = draw<float>(3, {1000});
  const auto f = [](const Array<float>& v) { return sum(of_one(v)); };
  const auto g = [&](const Array<float>& v) { return sum(of_two(v, w)); };
  const auto h = [&](const Array<float>& v) { return sum(of_two(y, v)); };
  const auto same = [](const auto& a, const auto& b) {
    return a.first.item() == b.first.item() && sum(abs(a.second - b.second)).item() == 0;
  };
  const auto a = value_and_grad(f)(x);
  const auto b = value_and_grad(g)(y);
  const auto c = value_and_grad(h)(w);
  const ThreadLimit one(1);
  EXPECT_TRUE(same(a, value_and_grad(f)(x)));
  EXPECT_TRUE(same(b, value_and_grad(g)(y)));
  EXPECT_TRUE(same(c, value_and_grad(h)(w)));
  EXPECT_EQ(a.first.item(), sum(eval(of_one(x))).item());
}

}  // namespace fused_sum_test
