// Numbers beside arrays: literals alone wait for the type of the array that they meet, and a number that its
// element type does not hold throws.

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/indexing/placement.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/refusal.hpp"

namespace literals_test {

using nax::Array, nax::half, nax::where;
using Real = Array<double>;
using Reals = std::vector<double>;

const Real x{-1, 1};

TEST(Literals, TakeTheTypeOfTheArrayThatTheyMeet) {
  EXPECT_EQ(Real(x * where(x > 0, 0.1, 0.2)).to_vector(), (Reals{-0.2, 0.1}));
  EXPECT_EQ(Real(where(x > 0, 0.1, 0.2) + x).to_vector(), (Reals{0.2 - 1, 0.1 + 1}));
  EXPECT_EQ(Real(x * where(x > 0, 1, 0.1)).to_vector(), (Reals{-0.1, 1}));
  EXPECT_EQ(Real(x * (where(x > 0, 0.1, 0.2) * 3.3 + 0.7)).to_vector(),
            (Reals{-(0.2 * 3.3 + 0.7), 0.1 * 3.3 + 0.7}));
  EXPECT_EQ(Real(x * nax::sin(0.1)).to_vector(), (Reals{-std::sin(0.1), std::sin(0.1)}));
  EXPECT_EQ(Real(where(x < 0, x, where(x > 0, 0.1, 0.2))).to_vector(), (Reals{-1, 0.1}));
  static_assert(std::is_same_v<decltype(Array<half>{} * where(x > 0, 0.1, 0.2))::value_type, half>);
  static_assert(std::is_same_v<decltype(Array<std::complex<double>>{} * where(x > 0, 0.1, 0.2))::value_type,
                               std::complex<double>>);
  static_assert(std::is_same_v<decltype(Array<int>{} * where(x > 0, 0.1, 0.2))::value_type, float>);
  static_assert(std::is_same_v<decltype(Array<std::int8_t>{} * where(x > 0, 1, 2))::value_type, std::int8_t>);
  const Array<std::int64_t> whole{1, 2};
  EXPECT_EQ(Array<std::int64_t>(whole + where(whole > 1, 7000000000L, 0L)).to_vector(),
            (std::vector<std::int64_t>{1, 7000000002}));
}
TEST(Literals, BecomeTheArrayThatIsMadeOfThem) {
  Real y = where(x > 0, 0.1, 0.2);
  EXPECT_EQ(y.to_vector(), (Reals{0.2, 0.1}));
  y = where(x > 0, 1.0, 0.0);
  EXPECT_EQ(y.to_vector(), (Reals{0, 1}));
  y += where(x > 0, 0.1, 0.2);
  EXPECT_EQ(y.to_vector(), (Reals{0.2, 1.1}));
  const auto first = [](const Real& values) { return values(0).item(); };
  EXPECT_EQ(first(where(x > 0, 0.1, 0.2)), 0.2);
  EXPECT_EQ(nax::astype<double>(0.1).item(), 0.1);
  EXPECT_EQ(where(x > 0, 0.1, 0.2).astype<double>()(0).item(), 0.2);
}
// Computed beside nothing else, they are of the default types.
TEST(Literals, AloneAreOfTheDefaultTypes) {
  static_assert(std::is_same_v<decltype(where(x > 0, 0.1, 0.2))::value_type, float>);
  static_assert(std::is_same_v<decltype(where(x > 0, 1L, 0L))::value_type, std::int32_t>);
  EXPECT_EQ(where(x > 0, 0.1, 0.2).eval().to_vector(), (std::vector<float>{0.2f, 0.1f}));
  EXPECT_EQ(nax::sum(where(x > 0, 0.1, 0.2)).item(), 0.1f + 0.2f);
  EXPECT_EQ(nax::concatenate({where(x > 0, 0.1, 0.2), where(x > 0, 0.1, 0.2)}).size(), 4);
  EXPECT_THROW(where(x > 0, 7000000000L, 0L).eval(), nax::OverflowError);
}
TEST(Literals, UnderTransforms) {
  const auto f = [](const Real& v) { return Real(nax::sum(v * v * where(v > 0, 0.1, 0.2))); };
  EXPECT_EQ(nax::grad(f)(x).to_vector(), (Reals{-0.4, 0.2}));
  EXPECT_EQ(nax::vmap([](const Real& v) { return Real(v * where(v > 0, 0.1, 0.2)); })(x).to_vector(),
            (Reals{-0.2, 0.1}));
}

template <class T>
void expect_range() {
  using Limits = std::numeric_limits<T>;
  const T least = Limits::min(), most = Limits::max();
  EXPECT_EQ((Array<T>{least, most}).to_vector(), (std::vector<T>{least, most}));
  EXPECT_EQ(Array<T>(most).item(), most);
  EXPECT_EQ(Array<T>(static_cast<double>(least)).item(), least);
  const auto above = static_cast<double>(most) + (Limits::digits > 53 ? 0 : 1);  // rounded up to 2^digits
  EXPECT_THROW(Array<T>{above}, nax::OverflowError);
  EXPECT_THROW(Array<T>(std::numeric_limits<double>::quiet_NaN()), nax::OverflowError);
  EXPECT_THROW(nax::full<T>({2}, 1e30), nax::OverflowError);
  if constexpr (sizeof(T) < 8) {
    EXPECT_THROW(Array<T>(std::int64_t{most} + 1), nax::OverflowError);
    EXPECT_THROW(Array<T>(std::int64_t{least} - 1), nax::OverflowError);
  }
  if constexpr (std::is_unsigned_v<T>)
    EXPECT_THROW(Array<T>{-1}, nax::OverflowError);
  else
    EXPECT_THROW(Array<T>(std::numeric_limits<std::uint64_t>::max()), nax::OverflowError);
}
TEST(Numbers, BeyondTheRangeOfAnIntegerType) {
  expect_range<std::int8_t>(), expect_range<std::int16_t>(), expect_range<std::int32_t>(),
      expect_range<std::int64_t>();
  expect_range<std::uint8_t>(), expect_range<std::uint16_t>(), expect_range<std::uint32_t>(),
      expect_range<std::uint64_t>();
  EXPECT_EQ(Array<int>(2147483647.5).item(), 2147483647);  // truncated
  EXPECT_EQ(Array<std::uint8_t>(-0.5).item(), 0);
}
TEST(Numbers, TheErrorNamesFunctionValueAndType) {
  const Array<int> one{1};
  EXPECT_EQ(refusal<nax::OverflowError>([&] { nax::eval(Array<int>{7000000000}); }),
            "array: 7000000000 is beyond the range of int32");
  EXPECT_EQ(refusal<nax::OverflowError>([&] { nax::eval(one + 7000000000L); }),
            "add: 7000000000 is beyond the range of int32");
  EXPECT_EQ(refusal<nax::OverflowError>([&] { nax::eval(nax::full({1}, std::size_t(1) << 40)); }),
            "full: 1099511627776 is beyond the range of int32");
  EXPECT_EQ(refusal<nax::OverflowError>([&] { nax::eval(Array<std::uint8_t>{1} - -1); }),
            "subtract: -1 is beyond the range of uint8");
  EXPECT_EQ(refusal<nax::OverflowError>([&] { nax::eval(where(one > 0, one, 7000000000L)); }),
            "where: 7000000000 is beyond the range of int32");
  EXPECT_EQ(refusal<nax::OverflowError>([&] { nax::eval(nax::full_like(Array<std::uint8_t>{1}, 256)); }),
            "full_like: 256 is beyond the range of uint8");
}

}  // namespace literals_test
