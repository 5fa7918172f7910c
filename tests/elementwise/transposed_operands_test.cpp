#include <gtest/gtest.h>

#include <nax/nax.hpp>

// Large operands that are contiguous along another axis than the last one have the values of their copies.
namespace transposed_operands_test {
using namespace nax;

template <class T>
Array<T> numbers(const Shape& shape, int seed) {
  return astype<T>(random::randint<int>(random::key(seed), shape, -100, 100));
}
template <class T>
class TransposedOperands : public testing::Test {};
using Types = testing::Types<bool, std::int8_t, half, float, double, std::int64_t, std::complex<double>>;
TYPED_TEST_SUITE(TransposedOperands, Types);

TYPED_TEST(TransposedOperands, OfMatrices) {
  using T = TypeParam;
  for (const auto& [rows, columns] : {std::pair{128, 128}, {513, 65}, {64, 512}, {2000, 17}, {17, 1100}}) {
    const auto x = numbers<T>({rows, columns}, 1), y = numbers<T>({columns, rows}, 2);
    EXPECT_TRUE(array_equal(Array<T>(x * transpose(y)), Array<T>(x * copy(transpose(y)))).item());
    EXPECT_TRUE(array_equal(Array<T>(transpose(y) * x), Array<T>(copy(transpose(y)) * x)).item());
  }
}

TYPED_TEST(TransposedOperands, OfImages) {
  using T = TypeParam;
  const auto x = numbers<T>({3, 20, 16, 33}, 3), y = numbers<T>({3, 16, 33, 20}, 4);
  const auto channels = numbers<T>({20, 1, 1}, 5);
  const auto moved = transpose(y, {0, 3, 1, 2});
  EXPECT_TRUE(array_equal(Array<T>(x * moved + channels), Array<T>(x * copy(moved) + copy(channels))).item());
}

TEST(TransposedOperands, WithThemselves) {
  const auto x = random::normal<float>(random::key(6), {300, 300});
  Array<float> y = copy(x);
  y += transpose(y);
  EXPECT_TRUE(array_equal(y, Array<float>(x + copy(transpose(x)))).item());
  EXPECT_TRUE(array_equal(y, transpose(y)).item());
}

TEST(TransposedOperands, OfViewsAndRepeatedRows) {
  const auto x = random::normal<double>(random::key(7), {400, 260});
  const auto y = random::normal<double>(random::key(8), {300, 500});
  const auto part = transpose(y(slice(10, 270), slice(50, 450)));
  const auto row = random::normal<double>(random::key(9), {260});
  const Array<double> sum = x + part * row, plain = x + copy(part) * row;
  EXPECT_TRUE(array_equal(sum, plain).item());
  const Array<double> strided =
      x(slice(0, 400, 2)) - transpose(y(slice(0, 260), slice(0, 500)))(slice(0, 200));
  EXPECT_TRUE(array_equal(strided, Array<double>(copy(x(slice(0, 400, 2))) -
                                                 copy(transpose(y(slice(0, 260)))(slice(0, 200)))))
                  .item());
}

TEST(TransposedOperands, InReductions) {
  const auto x = random::randint<int>(random::key(12), {300, 200}, -9, 9),
             y = random::randint<int>(random::key(13), {200, 300}, -9, 9);
  const auto row = random::randint<int>(random::key(14), {200}, -9, 9);
  const Array<int> product = x * copy(transpose(y)) + row;
  for (const int axis : {0, 1})
    EXPECT_TRUE(
        array_equal(sum(x * transpose(y) + row, {.axis = axis}), sum(product, {.axis = axis})).item());
  EXPECT_EQ(sum(x * transpose(y) + row).item(), sum(product).item());
  EXPECT_EQ(max(transpose(y) * 2).item(), 2 * max(y).item());
}

TEST(TransposedOperands, CopiedBackward) {
  const auto x = random::randint<std::int16_t>(random::key(15), {70, 130}, -999, 999);
  const Array<std::int16_t> turned = copy(rot90(x)), flipped = copy(transpose(flip(x)));
  for (const int i : {0, 1, 69})
    for (const int j : {0, 7, 129}) {
      EXPECT_EQ(turned(129 - j, i).item(), x(i, j).item());
      EXPECT_EQ(flipped(129 - j, 69 - i).item(), x(i, j).item());
    }
  EXPECT_TRUE(array_equal(rot90(turned, {.k = -1}), x).item());
}

TEST(TransposedOperands, InGradients) {
  const auto x = random::normal<float>(random::key(10), {200, 150});
  const auto y = random::normal<float>(random::key(11), {150, 200});
  const auto g = grad([&](const Array<float>& y) { return sum(tanh(x) * transpose(y)); })(y);
  EXPECT_TRUE(array_equal(g, Array<float>(transpose(tanh(x)))).item());
}

}  // namespace transposed_operands_test
