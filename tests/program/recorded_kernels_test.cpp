#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>

// Functions with a kernel of the host are one step of a program, by that kernel: the numbers are the same.
namespace recorded_kernels_test {
using namespace nax;
using D = Array<double>;

D draw(int seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape); }

template <class F, class X>
void expect_step(const std::string& step, const F& f, const X& x) {
  int calls = 0;
  const auto fast = jit([&](const X& v) { return ++calls, f(v); });
  for (int turn = 0; turn < 2; ++turn)
    EXPECT_TRUE(array_equal(fast(x), f(x), {.equal_nan = true}).item()) << step;
  EXPECT_EQ(calls, 1) << step;
  const std::string program = make_program(f)(x).text();
  EXPECT_NE(program.find(step), std::string::npos) << program;
}

TEST(RecordedKernels, Quantiles) {
  const D x = draw(0, {5, 40});
  const auto of = [](auto zero) {
    using T = decltype(zero);
    return [](const Array<T>& v) { return quantile(v, T(0.3f), {.axis = -1}); };
  };
  expect_step("quantile", of(0.), x);
  expect_step("quantile", of(0.), D(x.at(2, 3).set(std::numeric_limits<double>::quiet_NaN())));
  expect_step("quantile", of(0.f), x.astype<float>());
  expect_step("quantile", of(half()), x.astype<half>());
  expect_step(
      "quantile", [](const D& v) { return median(v, {.axis = 0}); }, x);
  expect_step("quantile", vmap([](const D& v) { return median(v); }), x);
  expect_step("quantile", grad([](const D& v) { return sum(square(median(v, {.axis = -1}))); }), x);
  EXPECT_EQ(make_program([](const D& v) { return median(v, {.axis = -1}); })(x).text().find("sort"),
            std::string::npos);
}

TEST(RecordedKernels, DerivativesOfExtrema) {
  const D x = round(D(draw(1, {20, 30}) * 2.));  // several elements reach an extremum
  const auto loss = [](const D& v) { return sum(max(v, {.axis = -1}) * arange<double>(20)); };
  expect_step("spread_extrema", grad(loss), x);
  expect_step("spread_extrema", grad([](const D& v) { return min(v); }), D(x(0)));
  const auto push = [x](const D& t) {
    return jvp([](const D& v) { return max(v, {.axis = -1}); }, std::tuple{x}, std::tuple{t}).second;
  };
  expect_step("mean_over_extrema", push, draw(2, {20, 30}));
}

TEST(RecordedKernels, FunctionsOfMatrices) {
  const D a = draw(3, {2, 4, 4}), b = draw(4, {3, 3}), q = draw(5, {4, 3});
  expect_step(
      "schur", [](const D& v) { return D(linalg::schur(v).T); }, a);
  expect_step(
      "schur", [](const D& v) { return D(linalg::schur(v).Z); }, D(swapaxes(a, -1, -2)));
  const auto root = [](const D& v) { return D(real(linalg::sqrtm(D(matmul(v, swapaxes(v, -1, -2)))))); };
  expect_step("sqrtm", root, a);
  expect_step("sqrtm", vmap(root), a);
  const auto solved = [=](const D& v) { return D(linalg::solve_sylvester(v, b, q)); };
  expect_step("solve_sylvester", solved, a);
  expect_step("solve_sylvester", vmap(solved), a);
  expect_step("solve_sylvester", grad([=](const D& v) { return sum(square(solved(v))); }), a);
}

}  // namespace recorded_kernels_test
