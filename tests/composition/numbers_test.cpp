// Forward mode over nodes of scalars: several leaves, one leaf twice, float and double, sums, infinite
// tangents where a derivative is zero, and tangents with axes.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"

namespace numbers_test {

using nax::Array;

template <class T>
class Numbers : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Numbers, Types);

template <class T, class F>
T slope(const F& f, T x, T tx, T y, T ty) {
  return nax::jvp(f, std::tuple{Array<T>(x), Array<T>(y)}, std::tuple{Array<T>(tx), Array<T>(ty)})
      .second.item();
}

TYPED_TEST(Numbers, Tangents) {
  using T = TypeParam;
  const T x = T(0.7), y = T(-1.3), close = 16 * std::numeric_limits<T>::epsilon();
  const auto f = [](const auto& a, const auto& b) { return nax::sin(a) * nax::exp(b) + a * a; };
  EXPECT_NEAR(slope<T>(f, x, 1, y, 0), std::cos(x) * std::exp(y) + 2 * x, close);
  EXPECT_NEAR(slope<T>(f, x, 0, y, 1), std::sin(x) * std::exp(y), close);
  EXPECT_NEAR(slope<T>(f, x, 2, y, 3),
              2 * (std::cos(x) * std::exp(y) + 2 * x) + 3 * std::sin(x) * std::exp(y), 4 * close);
  const auto sum = [](const auto& a, const auto& b) { return Array<T>(a + b) + Array<T>(a + a); };
  EXPECT_EQ(slope<T>(sum, x, 2, y, 5), T(11));
  const auto one_of_two = [](const auto& a, const auto&) { return Array<T>(nax::exp(a)) * T(2); };
  EXPECT_NEAR(slope<T>(one_of_two, x, 1, y, 1), 2 * std::exp(x), close);
}

// maximum passes the larger number's tangent alone, even if the other one is infinite.
TYPED_TEST(Numbers, InfiniteTangents) {
  using T = TypeParam;
  const auto f = [](const auto& a, const auto& b) { return nax::maximum(a, b) * T(3); };
  EXPECT_EQ(slope<T>(f, 1, std::numeric_limits<T>::infinity(), 2, 1), T(3));
}

TYPED_TEST(Numbers, OtherTransforms) {
  using T = TypeParam;
  const Array<T> x(T(0.7)), one(T(1));
  const auto f = [](const auto& a) { return nax::sin(a) * nax::exp(a) + a * a; };
  const T e = std::exp(T(0.7)), second = 2 * std::cos(T(0.7)) * e + 2;
  const auto tangent = [&](const auto& a) { return nax::jvp(f, std::tuple{a}, std::tuple{one}).second; };
  const double close = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
  EXPECT_NEAR(nax::jvp(tangent, std::tuple{x}, std::tuple{one}).second.item(), second, close);
  EXPECT_NEAR(nax::grad(tangent)(x).item(), second, close);
  EXPECT_NEAR(nax::jvp(nax::grad(f), std::tuple{x}, std::tuple{one}).second.item(), second, close);
  // One number, a batch of tangents.
  const Array<T> batch = nax::vmap([&](const Array<T>& t) {
    return nax::jvp(f, std::tuple{x}, std::tuple{t}).second;
  })(nax::arange<T>(T(3)));
  const T first = nax::grad(f)(x).item();
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(batch.data()[i], static_cast<T>(i) * first, close);
}

}  // namespace numbers_test
