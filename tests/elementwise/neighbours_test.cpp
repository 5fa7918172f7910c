// The neighbours of floating-point numbers, against the order of their bits.

#include "elementwise/support.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/elementwise/number_parts.hpp"
#include "nax/transform/vmap.hpp"

namespace neighbours_test {

using nax::Array, nax::bfloat16, nax::half;

// Number k of the type, counted from 0 in both directions.
template <class T>
T number(int k) {
  return T::from_bits(static_cast<std::uint16_t>(k < 0 ? 0x8000 | -k : k));
}
template <class T>
void expect_neighbours() {
  const int infinity = std::numeric_limits<T>::infinity().bits;
  std::vector<T> all, above, below;
  for (int k = -infinity; k <= infinity; ++k) {
    all.push_back(number<T>(k));
    above.push_back(number<T>(std::min(k + 1, infinity)));
    below.push_back(number<T>(std::max(k - 1, -infinity)));
  }
  const Array<T> x = nax::array(all);
  const auto f = [](const auto& v) { return std::vector<float>(v.begin(), v.end()); };
  EXPECT_EQ(f(Array<T>(nax::nextafter(x, INFINITY)).to_vector()), f(above));
  EXPECT_EQ(f(Array<T>(nax::nextafter(x, -std::numeric_limits<T>::infinity())).to_vector()), f(below));
  EXPECT_EQ(f(Array<T>(nax::nextafter(x, x)).to_vector()), f(all));
  const Array<T> nan{std::numeric_limits<T>::quiet_NaN()};
  EXPECT_TRUE(std::isnan(float(Array<T>(nax::nextafter(nan, x))(0).item())));
  EXPECT_TRUE(std::isnan(float(Array<T>(nax::nextafter(x, nan))(0).item())));
  const Array<T> one{T(1), T(2)};
  EXPECT_EQ(f(nax::vmap([](const Array<T>& v) { return Array<T>(nax::nextafter(v, 0)); })(one).to_vector()),
            f(std::vector<T>{number<T>(T(1).bits - 1), number<T>(T(2).bits - 1)}));
}
TEST(Neighbours, OfHalf) { expect_neighbours<half>(); }
TEST(Neighbours, OfBfloat16) { expect_neighbours<bfloat16>(); }
TEST(Neighbours, NumbersAreRoundedToTheType) {
  EXPECT_EQ(float(Array<half>(nax::nextafter(Array<half>{half(.1)}, .1)).item()), float(half(.1)));
  EXPECT_EQ(Array<float>(nax::nextafter(Array<float>{1}, 2)).item(), std::nextafter(1.f, 2.f));
}

}  // namespace neighbours_test
