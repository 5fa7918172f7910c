#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "nax/numpy.hpp"

// Products, quotients and moduli of complex arrays against std::complex and at the ends of the range.
namespace complex_arithmetic_test {

using nax::Array;

template <class R>
class ComplexArithmetic : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexArithmetic, Types);

// Numbers of many magnitudes and signs.
template <class R>
Array<std::complex<R>> numbers(unsigned seed) {
  constexpr int reach = std::numeric_limits<R>::max_exponent / 4;
  std::vector<std::complex<R>> parts(1003);
  const auto draw = [&] {
    seed = seed * 1664525u + 1013904223u;
    const R part = static_cast<R>(seed >> 8) / R(1 << 24) - R(0.5);
    seed = seed * 1664525u + 1013904223u;
    return std::ldexp(part, static_cast<int>(seed >> 8) % (2 * reach) - reach);
  };
  for (int i = 0; i < 1003; ++i) {
    const R re = draw();
    parts[static_cast<std::size_t>(i)] = {re, draw()};
  }
  return nax::array(parts);
}

TYPED_TEST(ComplexArithmetic, AgreesWithStdComplex) {
  using C = std::complex<TypeParam>;
  constexpr TypeParam epsilon = std::numeric_limits<TypeParam>::epsilon();
  const Array<C> x = numbers<TypeParam>(1), y = numbers<TypeParam>(2), product = x * y, quotient = x / y;
  const Array<TypeParam> modulus = nax::abs(x);
  for (int i = 0; i < 1003; ++i) {
    const C a = x.data()[i], b = y.data()[i];
    EXPECT_LE(std::abs(product.data()[i] - a * b), 4 * epsilon * std::abs(a * b)) << i << a << b;
    EXPECT_LE(std::abs(quotient.data()[i] - a / b), 8 * epsilon * std::abs(a / b)) << i << a << b;
    EXPECT_LE(std::abs(modulus.data()[i] - std::abs(a)), epsilon * std::abs(a)) << i << a;
  }
}

TYPED_TEST(ComplexArithmetic, ModulusAtTheEndsOfTheRange) {
  using C = std::complex<TypeParam>;
  using Limits = std::numeric_limits<TypeParam>;
  constexpr TypeParam infinity = Limits::infinity(), nan = Limits::quiet_NaN(), most = Limits::max();
  const Array<TypeParam> moduli =
      nax::abs(Array<C>{C(0, 0), C(3, -4), C(-5, 12), C(infinity, nan), C(nan, -infinity), C(most, 0),
                        C(most / 2, most / 2), C(Limits::denorm_min(), 0), C(nan, 1)});
  const TypeParam want[] = {
      0, 5, 13, infinity, infinity, most, std::hypot(most / 2, most / 2), Limits::denorm_min()};
  for (int i = 0; i < 8; ++i) {
    const TypeParam got = moduli.data()[i];
    EXPECT_TRUE(got == want[i] || std::abs(got / want[i] - 1) <= 2 * Limits::epsilon()) << i << ": " << got;
  }
  EXPECT_TRUE(std::isnan(moduli.data()[8]));
}

// NumPy 2.4's numbers.
TYPED_TEST(ComplexArithmetic, InfinitiesAndZerosMatchNumPy) {
  using C = std::complex<TypeParam>;
  constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  const auto text = [](const Array<C>& x) {
    std::string all;
    for (int i = 0; i < x.size(); ++i)
      for (const TypeParam part : {x.data()[i].real(), x.data()[i].imag()})
        all += std::isnan(part)   ? "nan "
               : std::isinf(part) ? (part < 0 ? "-inf " : "inf ")
               : part == 0        ? "0 "
                                  : "1 ";
    return all;
  };
  const Array<C> x = {C(infinity, 0), C(1, 0), C(1, -1), C(0, 0), C(1, 1)};
  const Array<C> y = {C(1, 0), C(0, 0), C(0, 0), C(0, 0), C(infinity, 0)};
  EXPECT_EQ(text(x * y), "inf nan 0 0 0 0 0 0 inf inf ");
  EXPECT_EQ(text(x / y), "inf nan inf nan inf -inf nan nan 0 0 ");
}

}  // namespace complex_arithmetic_test
