#include "elementwise/support.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/bitwise.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/floating.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/rational.hpp"

// Integers, truth values, bits and conversions.
using namespace elementwise;

namespace integers_test {
using Int = Array<std::int32_t>;
using Bool = Array<bool>;
using Ints = std::vector<int>;
using Bools = std::vector<bool>;

TEST(Integers, Values) {
#define INTS(name, function)                                             \
  expect_golden(name, NAX_ROW2(std::int32_t, std::int32_t, function)),   \
      expect_golden(name, NAX_ROW2(std::int8_t, std::int8_t, function)), \
      expect_golden(name, NAX_ROW2(std::uint8_t, std::uint8_t, function))
  INTS("add", nax::add), INTS("subtract", nax::subtract), INTS("multiply", nax::multiply);
  INTS("floor_divide", nax::floor_divide), INTS("mod", nax::mod), INTS("maximum", nax::maximum);
  INTS("minimum", nax::minimum), INTS("bitwise_and", nax::bitwise_and), INTS("bitwise_or", nax::bitwise_or);
  INTS("bitwise_xor", nax::bitwise_xor), INTS("left_shift", nax::left_shift),
      INTS("right_shift", nax::right_shift);
  expect_golden("divide", NAX_ROW2(std::int32_t, float, nax::divide));
  expect_golden("less", NAX_ROW2(std::int64_t, bool, nax::less));
  expect_golden("right_shift.negative", NAX_ROW2(std::int32_t, std::int32_t, nax::right_shift));
  expect_golden("bitwise_invert", NAX_ROW(std::int32_t, std::int32_t, nax::invert));
  expect_golden("bitwise_invert", NAX_ROW(bool, bool, nax::invert));
  expect_golden("bitwise_xor", NAX_ROW2(bool, bool, nax::bitwise_xor));
  expect_golden("add", NAX_ROW2(bool, bool, nax::add));
  expect_golden("maximum", NAX_ROW2(bool, bool, nax::maximum));
  expect_golden("abs", NAX_ROW(std::int32_t, std::int32_t, nax::abs));
  expect_golden("abs", NAX_ROW(std::uint8_t, std::uint8_t, nax::abs));
  expect_golden("sign", NAX_ROW(std::int32_t, std::int32_t, nax::sign));
}

TEST(Integers, DivisionByZeroGivesZero) {
  EXPECT_EQ(Int(nax::floor_divide(Int{7, -7, 0}, 0)).to_vector(), (Ints{0, 0, 0}));
  EXPECT_EQ(Int(Int{7, -7, 0} % 0).to_vector(), (Ints{0, 0, 0}));
  EXPECT_EQ(Int(nax::fmod(Int{7, -7, 0}, 0)).to_vector(), (Ints{0, 0, 0}));
  const int least = std::numeric_limits<int>::min();
  EXPECT_EQ(Int(nax::floor_divide(Int{least}, -1)).item(), least);
  EXPECT_EQ(Int(Int{least} % -1).item(), 0);
  EXPECT_EQ(Int(nax::fmod(Int{-7, 7}, Int{3, -3})).to_vector(), (Ints{-1, 1}));
}

TEST(Integers, ShiftsBeyondTheWidth) {
  EXPECT_EQ(Int(Int{1, 5} << 32).to_vector(), (Ints{0, 0}));
  EXPECT_EQ(Int(Int{-1, 5} >> 40).to_vector(), (Ints{-1, 0}));
  EXPECT_EQ(Int(Int{-8, 5} >> 1).to_vector(), (Ints{-4, 2}));
}

TEST(Integers, DivisorsAndMultiples) {
  EXPECT_EQ(Int(nax::gcd(Int{12, -18, 0, 7}, Int{18, 12, 5, 0})).to_vector(), (Ints{6, 6, 5, 7}));
  EXPECT_EQ(Int(nax::lcm(Int{12, -4, 0}, Int{18, 6, 5})).to_vector(), (Ints{36, 12, 0}));
}

TEST(Integers, Operators) {
  const Int x{6, -5};
  EXPECT_EQ(Int(~x).to_vector(), (Ints{-7, 4}));
  EXPECT_EQ(Int((x & 3) | 8).to_vector(), (Ints{10, 11}));
  EXPECT_EQ(Int(x ^ x).to_vector(), (Ints{0, 0}));
  EXPECT_EQ(Bool(!(x > 0)).to_vector(), (Bools{false, true}));
  EXPECT_EQ(Bool((x > 0) | (x < -4)).to_vector(), (Bools{true, true}));
}

TEST(TruthValues,
     MeetNumbersInOneKernel) {  // masks of packets, where a rule knows them, and numbers where not
  const Array<float> x{1, -2, 3}, y{1, 2, -3};
  EXPECT_EQ(Bool((x > 0) == (y > 0)).to_vector(), (Bools{true, false, false}));
  EXPECT_EQ(Bool((x > 0) & (y > 0)).to_vector(), (Bools{true, false, false}));
  EXPECT_EQ(Bool(nax::logical_xor(x > 0, y > 0)).to_vector(), (Bools{false, true, true}));
  EXPECT_EQ(Array<float>((x > 0) * y).to_vector(), (std::vector<float>{1, 0, -3}));
  EXPECT_EQ(Bool(nax::maximum(x > 0, y > 0)).to_vector(), (Bools{true, true, true}));
  EXPECT_TRUE(bool(nax::isneginf(Array<float>(-std::numeric_limits<float>::infinity()))));
  EXPECT_EQ(Bool(nax::signbit(x)).to_vector(), (Bools{false, true, false}));
  expect_golden("logical_not", NAX_ROW(float, bool, nax::logical_not));
  expect_golden("isnan", NAX_ROW(float, bool, nax::isnan));
  expect_golden("isinf", NAX_ROW(double, bool, nax::isinf));
  expect_golden("isfinite", NAX_ROW(float, bool, nax::isfinite));
  expect_golden("equal", NAX_ROW2(float, bool, nax::equal));
  expect_golden("greater_equal", NAX_ROW2(double, bool, nax::greater_equal));
  expect_golden("logical_and", NAX_ROW2(float, bool, nax::logical_and));
  expect_golden("logical_xor", NAX_ROW2(double, bool, nax::logical_xor));
}

TEST(Cast, Converts) {
  const Array<float> x{-1.75f, 0, 2.5f};
  EXPECT_EQ(x.astype<std::int32_t>().to_vector(), (Ints{-1, 0, 2}));
  EXPECT_EQ(x.astype<bool>().to_vector(), (Bools{true, false, true}));
  EXPECT_EQ((x > 0).astype<float>().to_vector(), (std::vector<float>{0, 0, 1}));
  EXPECT_EQ(x.astype<nax::half>().astype<double>().to_vector(), (std::vector<double>{-1.75, 0, 2.5}));
  EXPECT_EQ((Array<std::complex<float>>{std::complex<float>(1, 2)}.astype<double>().item()), 1);
  EXPECT_EQ(x.astype<std::complex<double>>().to_vector()[2], std::complex<double>(2.5, 0));
  EXPECT_EQ((Int{1, 0, 3}.astype<bool>().to_vector()), (Bools{true, false, true}));
  EXPECT_EQ(Int(nax::astype<std::int32_t>(x * 2)).to_vector(), (Ints{-3, 0, 5}));
}

}  // namespace integers_test

#undef INTS
