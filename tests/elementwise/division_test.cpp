// floor_divide at infinities and zeros against NumPy; logarithms and exponentials of complex numbers of large
// modulus.

#include <gtest/gtest.h>

#include <nax/nax.hpp>

namespace division {

using namespace nax;
using D = Array<double>;
using Z = std::complex<double>;
using C = Array<Z>;
constexpr double infinity = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
bool is_same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}
template <class T>
void expect_same(const Array<T>& got, const std::vector<double>& want) {
  const std::vector<T> values = got.to_vector();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_TRUE(is_same(values[i], static_cast<T>(want[i]))) << i << ": " << values[i] << ", not " << want[i];
}

// Rows: the dividend; columns: the divisor.
const std::vector<double> numbers = {1, -1, 0., -0., infinity, -infinity, not_a_number, 3.5};

template <class T>
void check_table() {
  const double inf = infinity, nan = not_a_number;
  Array<T> all = array(numbers).template astype<T>();
  const Array<T> x = broadcast_to(reshape(all, {8, 1}), {8, 8}), y = broadcast_to(all, {8, 8});
  // Enough of them for packets.
  const Array<T> quotients = ravel(floor_divide(x, y)), rests = ravel(remainder(x, y));
  expect_same(quotients, {1,   -1,  inf, -inf, 0.,  -1,  nan, 0.,  -1,  1,   -inf, inf,  -1,  0.,  nan, -1,
                          0.,  -0., nan, nan,  0.,  -0., nan, 0.,  -0., 0.,  nan,  nan,  -0., 0.,  nan, -0.,
                          nan, nan, inf, -inf, nan, nan, nan, nan, nan, nan, -inf, inf,  nan, nan, nan, nan,
                          nan, nan, nan, nan,  nan, nan, nan, nan, 3,   -4,  inf,  -inf, 0.,  -1,  nan, 1});
  expect_same(rests, {0.,  -0., nan, nan, 1,   -inf, nan, 1,   0.,  -0., nan, nan, inf, -1,   nan, 2.5,
                      0.,  -0., nan, nan, 0.,  -0.,  nan, 0.,  0.,  -0., nan, nan, 0.,  -0.,  nan, 0.,
                      nan, nan, nan, nan, nan, nan,  nan, nan, nan, nan, nan, nan, nan, nan,  nan, nan,
                      nan, nan, nan, nan, nan, nan,  nan, nan, .5,  -.5, nan, nan, 3.5, -inf, nan, 0.});
  for (int i = 0; i < 8; ++i)  // and number by number
    for (int j = 0; j < 8; ++j) {
      const T one = floor_divide(Array<T>(all(i)), Array<T>(all(j))).item();
      EXPECT_TRUE(is_same(one, quotients(8 * i + j).item())) << numbers[i] << " // " << numbers[j];
    }
}
TEST(FloorDivide, MatchesNumPyAtCorners) {
  check_table<float>();
  check_table<double>();
}

TEST(FloorDivide, RoundsDownEverywhere) {
  const D x = linspace<double>(-40, 40, 333), y = full_like(x, .7);
  EXPECT_TRUE(all(floor_divide(x, y) == floor((x - remainder(x, y)) / y + .25)).item());
  EXPECT_TRUE(all(floor_divide(x, -y) == floor((x - remainder(x, -y)) / -y + .25)).item());
}

// JAX's: of finite numbers and infinities the quotient is 0, or -1 where the signs differ.
TEST(Remainder, DerivativesAtInfiniteDivisors) {
  const double inf = infinity;
  const D x = {1, -1, 1, -1, 0, 3.5}, y = {inf, inf, -inf, -inf, inf, 3};
  const auto of_y = grad<1>([](const D& x, const D& y) { return sum(remainder(x, y)); })(x, y);
  expect_same<double>(D(of_y + 0.), {0, 1, 1, 0, 0, -1});
  const auto of_fmod = grad<1>([](const D& x, const D& y) { return sum(fmod(x, y)); })(x, y);
  expect_same<double>(D(of_fmod + 0.), {0, 0, 0, 0, 0, -1});
  const auto twice = grad([&](const D& y) {
    return sum(grad<1>([](const D& x, const D& y) { return sum(remainder(x, y)); })(x, y));
  })(y);
  expect_same<double>(D(twice + 0.), {0, 0, 0, 0, 0, 0});
}

TEST(ComplexLog1p, OfLargeModulus) {
  const double inf = infinity, nan = not_a_number, quarter = std::atan(1.);
  const auto at = [](double a, double b) { return log1p(C(Z(a, b))).item(); };
  const auto check = [&](double a, double b, double real, double imag) {
    const Z y = at(a, b);
    EXPECT_TRUE(is_same(y.real(), real)) << a << ' ' << b << ": " << y;
    EXPECT_TRUE(is_same(y.imag(), imag)) << a << ' ' << b << ": " << y;
  };
  check(inf, inf, inf, quarter), check(-inf, inf, inf, 3 * quarter), check(0, -inf, inf, -2 * quarter);
  check(inf, nan, inf, nan), check(nan, inf, inf, nan), check(-inf, 0, inf, 4 * quarter);
  check(-1, 0, -inf, 0), check(nan, 0, nan, nan), check(inf, 1, inf, 0);
  EXPECT_NEAR(at(1e200, 1e200).real(), 200 * std::log(10.) + std::log(2.) / 2, 1e-10);  // no square overflows
  const std::complex<float> y = log1p(Array<std::complex<float>>(std::complex<float>(1e30f, 0))).item();
  EXPECT_NEAR(y.real(), 69.07755f, 1e-4f);
  EXPECT_NEAR(at(3.9, -3.9).real(), std::log(std::abs(Z(4.9, -3.9))), 1e-15);
  EXPECT_NEAR(at(4.1, -3.9).real(), std::log(std::abs(Z(5.1, -3.9))), 1e-15);
}

// Like std::exp: infinity on the real axis gives no NaN.
TEST(ComplexExpm1, OfLargeModulus) {
  const double inf = infinity, nan = not_a_number;
  const auto check = [&](double a, double b, double real, double imag) {
    const Z y = expm1(C(Z(a, b))).item();
    EXPECT_TRUE(is_same(y.real(), real)) << a << ' ' << b << ": " << y;
    EXPECT_TRUE(is_same(y.imag(), imag)) << a << ' ' << b << ": " << y;
  };
  check(inf, 0, inf, 0), check(800, -0., inf, -0.), check(inf, 1, inf, inf), check(inf, -3, -inf, -inf);
  check(-inf, 1, -1, 0), check(-inf, -1, -1, -0.), check(inf, inf, nan, nan), check(0, inf, nan, nan);
}

}  // namespace division
