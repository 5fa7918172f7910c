#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <string>

#include "fuses.hpp"

// Steps whose values no result depends on go, and what is computed of constants alone is computed once.
namespace constants_test {
using namespace nax;
using F = Array<float>;
using D = Array<double>;

// Values, and the number of steps where gradients have formulas.
template <class Function, class T>
void expect_steps(const char* name, const Function& f, const Array<T>& x, std::size_t count) {
  const auto program = make_program(f)(x);
  if (fuses()) {
    EXPECT_EQ(program.size(), count) << name << '\n' << program.text();
  }
  const auto a = jit(f)(x).to_vector(), b = f(x).to_vector();
  ASSERT_EQ(a.size(), b.size()) << name;
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-4 * (1 + std::abs(static_cast<double>(b[i])))) << name << ' ' << i;
}
template <class Loss, class T>
void expect_gradient(const char* name, const Loss& loss, const Array<T>& x, std::size_t count) {
  expect_steps(
      name, [=](const Array<T>& v) { return grad(loss)(v); }, x, count);
}

// The gradient of sum(f(x) w) does not depend on x where f is linear.
template <class T>
void linear_functions(int n) {
  using A = Array<T>;
  const A x = random::normal<T>(random::key(0), {n, n}), w = random::normal<T>(random::key(1), {n, n});
  const Array<int> half = floor_divide(arange<int>(n), 2);
  expect_gradient(
      "matmul", [=](const A& v) { return sum(matmul(v, w) * w); }, x, 0);
  expect_gradient(
      "row", [=](const A& v) { return sum(matmul(v, w) * w(0)); }, x, 0);
  expect_gradient(
      "divide", [=](const A& v) { return sum(matmul(v, w) / w); }, x, 0);
  expect_gradient(
      "take", [=](const A& v) { return sum(take(v, half, {.axis = 0}) * w); }, x, 0);
  expect_gradient(
      "flip", [=](const A& v) { return sum(flip(v) * w); }, x, 0);
  expect_gradient(
      "transpose", [=](const A& v) { return sum(v.T() * w); }, x, 0);
  expect_gradient(
      "cumsum", [=](const A& v) { return sum(cumsum(v, {.axis = 0}) * w); }, x, 0);
  expect_gradient(
      "einsum", [=](const A& v) { return sum(einsum("ij,kj->ik", v, w) * w); }, x, 0);
  expect_gradient(
      "slice", [=](const A& v) { return sum(v(slice(1, none)) * w(slice(1, none))); }, x, 0);
  expect_gradient(
      "concatenate",
      [=](const A& v) {
        return sum(concatenate({v, w}) * concatenate({w, w}));
      },
      x, 0);
  expect_gradient(
      "where", [=](const A& v) { return sum(where(w > T(0), matmul(v, w), T(0))); }, x, 0);
}
TEST(ProgramConstants, GradientsOfLinearFunctionsAreComputedOnce) {
  linear_functions<float>(6);
  linear_functions<double>(6);
  linear_functions<float>(200);  // more bytes than any array may have that is larger than what it is made of
}

// Gradients that depend on x keep the steps that they read, and no others.
TEST(ProgramConstants, GradientsReadOnlyWhatTheyDependOn) {
  const F x = random::normal<float>(random::key(2), {5, 5}),
          w = random::normal<float>(random::key(3), {5, 5});
  // 2 x w: neither sum nor loss.
  expect_gradient(
      "square", [=](const F& v) { return sum(square(v) * w); }, x, 1);
  // The cotangent of the product does not read the product.
  expect_gradient(
      "outer", [=](const F& v) { return sum(matmul(v, w) * exp(sum(v))); }, x, 6);
  // Tangents of linear functions.
  const auto along = [=](const F& v) {
    return std::get<1>(jvp([=](const F& u) { return F(matmul(u, w) * w); }, std::tuple{v}, std::tuple{w}));
  };
  expect_steps("tangent", along, x, 0);
}

// A step's infinite or missing values take no part where its value is not read.
TEST(ProgramConstants, UnreadValuesMayBeNan) {
  const F x = {-1, 0, 2}, w = {1, -2, std::numeric_limits<float>::infinity()};
  const auto slope = [=](const F& v) { return grad([=](const F& u) { return sum(flip(u) * w); })(v); };
  const F nan = full<float>({3}, std::numeric_limits<float>::quiet_NaN());
  const F got = jit(slope)(nan), want = slope(nan);
  EXPECT_EQ(got.to_vector(), want.to_vector());
}

TEST(ProgramConstants, ArraysThatSeveralStepsWrite) {
  const D c = {1, 2, 3};
  const auto f = [=](const D& x) {
    const D all = concatenate({D(x * 0.0), c}), twice = D(concatenate({c, D(c * 2.0)}) * 3.0);
    return D(all + twice);
  };
  const D x = {4, 5, 6};
  EXPECT_EQ(jit(f)(x).to_vector(), f(x).to_vector());
}

// Arrays that are larger than what they are computed of are not held, unless they are small.
TEST(ProgramConstants, LargeArraysOfFewNumbersAreComputedAnew) {
  for (const auto& [n, steps] : {std::pair{6, 0}, {200, 1}}) {
    const F x = random::normal<float>(random::key(4), {n, n}), row = x(0);
    expect_gradient(
        "row", [=](const F& v) { return sum(v * row); }, x, static_cast<std::size_t>(steps));
  }
}

TEST(Constants, OfACapturedViewOnlyItsElementsAreKept) {
  const D base = random::normal<double>(random::key(5), {500, 400}), x = arange<double>(500.);
  const D views[] = {base(_, 7), base(slice(0, _, 2), 3), D(broadcast_to(base(3, 2), {500})),
                     base(slice(499, _, -1), 9)};
  for (const D& view : views) {
    const auto f = [=](const D& v) {
      return grad([&](const D& c) { return D(sum(sin(c) * v(slice(0, c.shape(0))))); })(view);
    };
    EXPECT_LT(make_program(f)(x).temporary_bytes(), 5u * 500 * sizeof(double));
    EXPECT_TRUE(allclose(jit(f)(x), f(x), {.rtol = 1e-14}).item());
  }
}

}  // namespace constants_test
