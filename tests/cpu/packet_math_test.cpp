#include <gtest/gtest.h>

#include "ulp.hpp"

// Each function against a wider type, over special values, all exponents and a range of everyday arguments.
namespace {

using nax::test::worst;
using nax::test::worst_of_pairs;

template <class T>
class PacketMath : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PacketMath, Types);

#define NAX_EXPECT_ULPS(function, low, high, bound)                                                 \
  {                                                                                                 \
    const auto found =                                                                              \
        worst<TypeParam>([](auto x) { return function(x); },                                        \
                         [](nax::test::Wide<TypeParam> x) { return std::function(x); }, low, high); \
    EXPECT_LE(found.ulps, bound) << #function " at " << found.x;                                    \
  }

TYPED_TEST(PacketMath, Exponentials){NAX_EXPECT_ULPS(exp, -100, 90, 1.5) NAX_EXPECT_ULPS(exp2, -150, 130, 1.5)
                                         NAX_EXPECT_ULPS(expm1, -3, 3, 2.5)} TYPED_TEST(PacketMath,
                                                                                        Logarithms){
    NAX_EXPECT_ULPS(log, 0.3, 3, 1.5) NAX_EXPECT_ULPS(log2, 0.3, 3, 2.5) NAX_EXPECT_ULPS(log10, 0.3, 3, 2.5)
        NAX_EXPECT_ULPS(log1p, -1, 2, 2)} TYPED_TEST(PacketMath, Hyperbolic){
    NAX_EXPECT_ULPS(tanh, -5, 5, 3) NAX_EXPECT_ULPS(sinh, -5, 5, 3) NAX_EXPECT_ULPS(cosh, -5, 5, 2)
        NAX_EXPECT_ULPS(asinh, -5, 5, 2.5) NAX_EXPECT_ULPS(acosh, 1, 5, 2.5)
            NAX_EXPECT_ULPS(atanh, -1, 1, 3)} TYPED_TEST(PacketMath, Trigonometric){
    NAX_EXPECT_ULPS(sin, -100, 100, 2.5) NAX_EXPECT_ULPS(cos, -100, 100, 2.5) NAX_EXPECT_ULPS(tan, -10, 10, 4)
        NAX_EXPECT_ULPS(sin, -60000, 60000, 2.5)
            NAX_EXPECT_ULPS(cos, -60000, 60000, 2.5)} TYPED_TEST(PacketMath, InverseTrigonometric){
    NAX_EXPECT_ULPS(asin, -1, 1, 3) NAX_EXPECT_ULPS(acos, -1, 1, 2)
        NAX_EXPECT_ULPS(atan, -4, 4, 3)} TYPED_TEST(PacketMath, Others){
    NAX_EXPECT_ULPS(sqrt, 0, 10, 0.5) NAX_EXPECT_ULPS(erf, -4, 4, 2) NAX_EXPECT_ULPS(erf, 0.9, 1.1, 2)
        NAX_EXPECT_ULPS(erf, 3, 6, 2) NAX_EXPECT_ULPS(erfc, -4, 10, nax::simd::fused ? 4 : 9)
            NAX_EXPECT_ULPS(erfc, 0, 1, nax::simd::fused ? 4.5 : 9)
                NAX_EXPECT_ULPS(erfc, 8, 26, nax::simd::fused ? 4 : 9)
                    NAX_EXPECT_ULPS(cbrt, -10, 10, nax::simd::fused ? 1 : 4)}
#define NAX_EXPECT_PAIR_ULPS(function, low, high, bound)                                                   \
  {                                                                                                        \
    using W = nax::test::Wide<TypeParam>;                                                                  \
    const auto found = worst_of_pairs<TypeParam>([](auto x, auto y) { return function(x, y); },            \
                                                 [](W x, W y) { return std::function(x, y); }, low, high); \
    EXPECT_LE(found.ulps, bound) << #function " at " << found.x << " " << found.y;                         \
  }

TYPED_TEST(PacketMath, OfTwoArguments){
    NAX_EXPECT_PAIR_ULPS(pow, -3, 3, 1) NAX_EXPECT_PAIR_ULPS(hypot, -10, 10, 2)
        NAX_EXPECT_PAIR_ULPS(atan2, -10, 10, 3) NAX_EXPECT_PAIR_ULPS(fmod, -10, 10, 0.5)}

TEST(PacketMathOfFloats, LogGamma) {
  using TypeParam = float;
  NAX_EXPECT_ULPS(lgamma, 0.1, 5, 4)
  NAX_EXPECT_ULPS(lgamma, 4, 40, 4)
}

// Of double, and about the roots at 1, 2 and digamma's.
TEST(PacketMathOfDoubles, LogGamma) {
  using TypeParam = double;
  NAX_EXPECT_ULPS(lgamma, 0.01, 3, 6)
  NAX_EXPECT_ULPS(lgamma, 3, 60, 4)
  NAX_EXPECT_ULPS(lgamma, 1.999, 2.001, 4)
}
TEST(PacketMath, DigammaOfPackets) {
  using P = nax::simd::Packet<double>;
  for (double x = 0.01; x < 40; x *= 1.0007) {
    alignas(64) double lanes[P::size];
    polygamma_at(P(0), P(x)).store(lanes);
    const double want = nax::rules::math::polygamma<double>(0.0, x);
    EXPECT_NEAR(lanes[0], want, 4e-15 * std::max(std::abs(want), 0.5)) << x;
  }
  alignas(64) double lanes[P::size];
  polygamma_at(P(0), P(1.4616321449683622)).store(lanes);
  EXPECT_NEAR(lanes[0], -9.2412655217294275e-17, 1e-30);
  polygamma_at(P(0), P(-0.5)).store(lanes);
  EXPECT_NEAR(lanes[0], 0.036489973978576520559, 1e-15);
  polygamma_at(P(1), P(2)).store(lanes);
  EXPECT_NEAR(lanes[0], 0.64493406684822643647, 1e-15);
}

}  // namespace
