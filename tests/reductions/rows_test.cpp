// Kernels of whole rows at lengths around a packet's: scans, argmax and argmin, softmax of expressions.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "nax/nn/softmax.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/reductions/logsumexp.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "nax/transform/grad.hpp"
#include "support/compare.hpp"

namespace rows_test {
using nax::Array;

constexpr std::int64_t lengths[] = {1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1000, 5001};

template <class T>
Array<T> waves(std::int64_t rows, std::int64_t n) {
  return nax::sin(nax::arange<T>(static_cast<T>(rows * n)) * T(1.7)).reshape({rows, n});
}

template <class T>
auto same(const Array<T>& a, const Array<T>& b) {
  return compare::close(a, b, 0);
}
template <class A, class B>
auto near(const A& a, const B& b) {
  using T = typename A::value_type;
  return compare::close(Array<T>(a), Array<T>(b), 1e2 * std::numeric_limits<T>::epsilon());
}

template <class T>
class Rows : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Rows, Types);

TYPED_TEST(Rows, RunningSumsAndProducts) {
  using T = TypeParam;
  const double close = 1e3 * std::numeric_limits<T>::epsilon();
  for (const std::int64_t n : lengths) {
    const Array<T> x = waves<T>(3, n), factors = x * T(0.01) + T(1);
    const Array<T> sums = nax::cumsum(x, {.axis = 1}), products = nax::cumprod(factors, {.axis = 1});
    // The gradient of sum(w * cumsum(x)) is w's running sum from the other end.
    const Array<T> back =
        nax::grad([&](const Array<T>& a) { return nax::sum(x * nax::cumsum(a, {.axis = 1})); })(x);
    for (std::int64_t r = 0; r < 3; ++r) {
      double sum = 0, product = 1, tail = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        sum += x.data()[r * n + i];
        product *= factors.data()[r * n + i];
        ASSERT_NEAR(sums.data()[r * n + i], sum, close) << n << ' ' << i;
        ASSERT_NEAR(products.data()[r * n + i], product, close * product) << n << ' ' << i;
      }
      for (std::int64_t i = n; i-- > 0;) {
        tail += x.data()[r * n + i];
        ASSERT_NEAR(back.data()[r * n + i], tail, close) << n << ' ' << i;
      }
    }
  }
  const Array<T> zeros = nax::cumsum(nax::full<T>({20}, T(-0.0)), {.axis = 0});
  for (std::int64_t i = 0; i < 20; ++i) EXPECT_TRUE(std::signbit(zeros.data()[i])) << i;
}

TYPED_TEST(Rows, PlacesOfExtrema) {
  using T = TypeParam;
  for (const std::int64_t n : lengths) {
    const Array<T> x = waves<T>(2, n);
    for (const std::int64_t place : {std::int64_t{0}, n / 3, n / 2, n - 1}) {
      const auto with = [&](T value) { return x.at(1, place).set(value); };
      EXPECT_EQ(nax::argmax(with(2), {.axis = 1}).data()[1], place) << n;
      EXPECT_EQ(nax::argmin(with(-2), {.axis = 1}).data()[1], place) << n;
      const T nan = std::numeric_limits<T>::quiet_NaN();
      EXPECT_EQ(nax::argmax(with(nan), {.axis = 1}).data()[1], place) << n;
      EXPECT_EQ(nax::argmin(with(nan), {.axis = 1}).data()[1], place) << n;
    }
    EXPECT_EQ(nax::argmax(nax::zeros<T>({n}), {.axis = 0}).item(), 0);
  }
}

TYPED_TEST(Rows, ExpressionsEqualTheirArrays) {
  using T = TypeParam;
  using namespace nax;
  for (const std::int64_t n : lengths) {
    const Array<T> x = waves<T>(5, n), b = waves<T>(1, n), column = waves<T>(5, 1);
    const Array<T> y = x * b + column;
    EXPECT_TRUE(same(nn::softmax(x * b + column), nn::softmax(y))) << n;
    EXPECT_TRUE(same(nn::log_softmax(x * b + column), nn::log_softmax(y))) << n;
    EXPECT_TRUE(same(logsumexp(x * b + column, {.axis = -1}), logsumexp(y, {.axis = -1}))) << n;
    EXPECT_NEAR(sum(nn::softmax(y)).item(), 5, 1e-5);
    EXPECT_NEAR(sum(exp(nn::log_softmax(y))).item(), 5, 1e-4);
    const auto fused = [&](const Array<T>& a) { return sum(nn::log_softmax(a * b + column) * x); };
    const auto stored = [&](const Array<T>& a) { return sum(nn::log_softmax(Array<T>(a * b + column)) * x); };
    EXPECT_TRUE(near(grad(fused)(x), grad(stored)(x))) << n;
  }
}

TYPED_TEST(Rows, GradientsOfSoftmaxMatchItsFormula) {
  using T = TypeParam;
  using namespace nax;
  for (const std::int64_t n : lengths) {
    const Array<T> x = waves<T>(3, n), w = waves<T>(3, n) * T(0.5) + T(0.25);
    const auto formula = [](const auto& a) {
      const Array<T> e = exp(a);
      return Array<T>(e / sum(e, {.axis = -1, .keepdims = true}));
    };
    const Array<T> ours = grad([&](const Array<T>& a) { return sum(nn::softmax(a) * w); })(x);
    const Array<T> theirs = grad([&](const Array<T>& a) { return sum(formula(a) * w); })(x);
    EXPECT_TRUE(near(ours, theirs)) << n;
    const Array<T> of_log = grad([&](const Array<T>& a) { return sum(nn::log_softmax(a) * w); })(x);
    EXPECT_TRUE(near(of_log, grad([&](const Array<T>& a) { return sum(log(formula(a)) * w); })(x))) << n;
  }
}

TYPED_TEST(Rows, Variances) {
  using T = TypeParam;
  using namespace nax;
  for (const std::int64_t n : lengths) {
    const Array<T> x = waves<T>(3, n) + T(3);
    const Array<T> by_columns = var(copy(transpose(x)), {.axis = 0});
    EXPECT_TRUE(near(var(x, {.axis = 1}), by_columns)) << n;
    EXPECT_EQ(var(x, {.axis = 1, .keepdims = true}).shape(), Shape({3, 1}));
    if (n > 1) {
      EXPECT_TRUE(near(var(x, {.axis = 1, .ddof = 1}) * T(n - 1), by_columns * T(n)));
    }
  }
}

}  // namespace rows_test
