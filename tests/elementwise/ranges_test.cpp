// Rounding and complex logarithms at the ends of the range.

#include "elementwise/support.hpp"
#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/transform/grad.hpp"

namespace ranges_test {

using nax::Array, nax::half;
using C = std::complex<double>;

TEST(Ranges, RoundingToMoreDecimalsThanTheTypeHolds) {
  const Array<half> x{half(1.5), half(0.00012345), half(60000)};
  const std::vector<half> got = Array<half>(nax::round(x, {.decimals = 5})).to_vector();
  EXPECT_EQ(float(got[0]), 1.5f);
  EXPECT_EQ(float(got[1]), float(half(0.00012)));
  EXPECT_EQ(float(got[2]), float(half(60000)));
  EXPECT_EQ(Array<float>(nax::round(Array<float>{1.25f, 0}, {.decimals = 50})).to_vector(),
            (std::vector<float>{1.25f, 0}));
  EXPECT_EQ(Array<double>(nax::round(Array<double>{1e300, 1.5}, {.decimals = 20})).to_vector(),
            (std::vector<double>{1e300, 1.5}));
  EXPECT_EQ(Array<float>(nax::round(Array<float>{1.25f}, {.decimals = -50})).item(), 0);
  EXPECT_EQ(Array<double>(nax::round(Array<double>{1.005, 12345}, {.decimals = -2})).to_vector(),
            (std::vector<double>{0, 12300}));
}
TEST(Ranges, ComplexLogarithmsAndPowersOfTwo) {
  const auto one = [](const auto& e) { return Array<C>(e).item(); };
  EXPECT_EQ(one(nax::log2(Array<C>{C(0, 0)})), C(-INFINITY, 0));
  EXPECT_NEAR(one(nax::log2(Array<C>{C(8, 0)})).real(), 3, 1e-15);
  EXPECT_EQ(one(nax::exp2(Array<C>{C(INFINITY, 0)})), C(INFINITY, 0));
  EXPECT_EQ(one(nax::exp2(Array<C>{C(-INFINITY, 0)})), C(0, 0));
  EXPECT_EQ(one(nax::log10(Array<C>{C(0, 0)})), C(-INFINITY, 0));
}
// numpy.sinc(0.3 + 0.4j), and its derivative by mpmath.
TEST(Ranges, SincOfComplexNumbers) {
  const Array<C> z{C(0.3, 0.4), C(0, 0)};
  const auto got = Array<C>(nax::sinc(z)).to_vector();
  EXPECT_NEAR(got[0].real(), 1.0701700220757462, 1e-14);
  EXPECT_NEAR(got[0].imag(), -0.42000252232156654, 1e-14);
  EXPECT_EQ(got[1], C(1, 0));
  const auto slope = nax::grad([](const Array<C>& v) { return Array<double>(nax::real(nax::sinc(v))); })(
      Array<C>(C(0.3, 0.4)));
  EXPECT_NEAR(slope.item().real(), -1.3625233469972444, 1e-13);
  EXPECT_NEAR(slope.item().imag(), -1.1371213361293304, 1e-13);
}
TEST(Ranges, DoubleBecomesHalfByOneRounding) {
  const double x = 1 + std::ldexp(1., -11) + std::ldexp(1., -30);  // above the middle of two halves
  EXPECT_EQ(float(Array<double>{x}.astype<half>()(0).item()), 1 + std::ldexp(1.f, -10));
  const Array<double> many = nax::full<double>({37}, x);
  for (const half h : many.astype<half>().to_vector()) EXPECT_EQ(float(h), 1 + std::ldexp(1.f, -10));
  for (const half h : Array<half>(nax::astype<half>(many * 1.0)).to_vector())
    EXPECT_EQ(float(h), 1 + std::ldexp(1.f, -10));
}

}  // namespace ranges_test
