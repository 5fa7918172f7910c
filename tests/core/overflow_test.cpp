#include "nax/core/overflow.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace core_overflow {

using namespace nax;

// All pairs of numbers near 0, near the ends and near the root of the ends, against integers of 128 bits.
template <class T>
void compare_with_wide_integers() {
  __extension__ using Wide = __int128;
  using L = std::numeric_limits<T>;
  std::vector<T> numbers;
  for (const T near : {T{0}, L::min(), L::max(), static_cast<T>(T{1} << 31), static_cast<T>(T{1} << 32),
                       static_cast<T>(3037000499), static_cast<T>(L::max() / 3)})
    for (int step = -2; step <= 2; ++step)
      numbers.push_back(static_cast<T>(static_cast<std::uint64_t>(near) + static_cast<std::uint64_t>(step)));
  const auto fits = [](Wide x) { return x >= Wide{L::min()} && x <= Wide{L::max()}; };
  for (const T a : numbers)
    for (const T b : numbers) {
      T got;
      const Wide sum = Wide{a} + b;
      EXPECT_EQ(detail::add_overflows(a, b, got), !fits(sum)) << a << " + " << b;
      EXPECT_EQ(got, static_cast<T>(sum)) << a << " + " << b;
      if constexpr (std::is_signed_v<T>) {
        const Wide product = Wide{a} * b;
        EXPECT_EQ(detail::multiply_overflows(a, b, got), !fits(product)) << a << " * " << b;
        EXPECT_EQ(got, static_cast<T>(product)) << a << " * " << b;
      } else {
        __extension__ using WideUnsigned = unsigned __int128;
        const WideUnsigned product = WideUnsigned{a} * b;
        EXPECT_EQ(detail::multiply_overflows(a, b, got), (product >> 64) != 0) << a << " * " << b;
        EXPECT_EQ(got, static_cast<T>(product)) << a << " * " << b;
        EXPECT_EQ(detail::high_product(a, b), static_cast<std::uint64_t>(product >> 64)) << a << " * " << b;
      }
    }
}

TEST(Overflow, SignedNumbersMatchWideIntegers) { compare_with_wide_integers<std::int64_t>(); }
TEST(Overflow, UnsignedNumbersMatchWideIntegers) { compare_with_wide_integers<std::uint64_t>(); }

}  // namespace core_overflow
