#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "nax/backend/cpu/conv/conv_kernels.hpp"
#include "support/with_threads.hpp"

namespace conv_test {
namespace {

using nax::loops::ConvGeometry;
using Numbers = std::vector<float>;

// Small whole numbers: sums are exact.
Numbers numbers(std::int64_t n, unsigned seed) {
  Numbers all(static_cast<std::size_t>(n));
  for (float& x : all) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(seed >> 28) - 7);
  }
  return all;
}

// f(element of x, of w, of y) for each product of a convolution.
template <class F>
void for_each_product(const ConvGeometry& s, const F& f) {
  for (std::int64_t row = 0; row < s.rows(); ++row)
    for (std::int64_t tap = 0; tap < s.taps(); ++tap) {
      std::int64_t p[3], k[3], from = 0, rest_p = row, rest_k = tap;
      for (int axis = 3; axis-- > 0; rest_p /= s.out[axis], rest_k /= s.kernel[axis])
        p[axis] = rest_p % s.out[axis], k[axis] = rest_k % s.kernel[axis];
      bool reads = true;
      from = rest_p;
      for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t q = p[axis] * s.stride[axis] + k[axis] * s.rhs[axis] - s.low[axis];
        reads = reads && q >= 0 && q % s.lhs[axis] == 0 && q / s.lhs[axis] < s.in[axis];
        from = from * s.in[axis] + q / s.lhs[axis];
      }
      if (!reads) continue;
      for (std::int64_t c = 0; c < s.c; ++c)
        for (std::int64_t o = 0; o < s.o; ++o)
          f(static_cast<std::size_t>(from * s.c + c), static_cast<std::size_t>((tap * s.c + c) * s.o + o),
            static_cast<std::size_t>(row * s.o + o));
    }
}

void check(const ConvGeometry& s) {
  const Numbers x = numbers(s.n * s.in[0] * s.in[1] * s.in[2] * s.c, 1), w = numbers(s.taps() * s.c * s.o, 2),
                g = numbers(s.rows() * s.o, 3);
  Numbers want_y(g.size(), 0), want_x(x.size(), 0), want_w(w.size(), 0);
  for_each_product(s, [&](std::size_t i, std::size_t j, std::size_t k) {
    want_y[k] += x[i] * w[j], want_x[i] += g[k] * w[j], want_w[j] += x[i] * g[k];
  });
  for (const int count : {1, 3}) {
    const WithThreads threads(count);
    Numbers of_y(g.size(), -1), of_x(x.size(), -1), of_w(w.size(), -1);
    nax::cpu::conv_forward(s, x.data(), w.data(), of_y.data());
    nax::cpu::conv_input(s, g.data(), w.data(), of_x.data());
    nax::cpu::conv_weights(s, x.data(), g.data(), of_w.data(), false);
    EXPECT_EQ(of_y, want_y);
    EXPECT_EQ(of_x, want_x);
    EXPECT_EQ(of_w, want_w);
  }
}

// A convolution over the last two axes that keeps the width.
ConvGeometry plane(std::int64_t n, std::int64_t c, std::int64_t o, std::int64_t height, std::int64_t width) {
  ConvGeometry s;
  s.n = n, s.c = c, s.o = o;
  s.in[1] = s.out[1] = height, s.in[2] = s.out[2] = width;
  s.kernel[1] = s.kernel[2] = 3, s.low[1] = s.low[2] = 1;
  return s;
}

// As that, by 5 x 3 taps.
ConvGeometry tall(std::int64_t n, std::int64_t c, std::int64_t o, std::int64_t height, std::int64_t width) {
  ConvGeometry s = plane(n, c, o, height, width);
  s.kernel[1] = 5, s.low[1] = 2;
  return s;
}

TEST(ConvByWinograd, KeepsTheSize) {
  check(plane(2, 32, 32, 8, 8));
  check(plane(1, 17, 40, 9, 31));  // sides are odd, channels no multiple of packets
  check(plane(3, 33, 16, 30, 30));
  check(plane(1, 272, 260, 17, 9));  // many pairs of channels
}
TEST(ConvByWinograd, WithoutPaddingAndWithMuch) {
  ConvGeometry s = plane(2, 32, 36, 10, 20);
  s.low[1] = s.low[2] = 0;
  s.out[1] = 8, s.out[2] = 18;
  check(s);
  s = plane(1, 40, 40, 3, 2);
  s.low[1] = 4, s.low[2] = 20;
  s.out[1] = 12, s.out[2] = 45;  // tiles of zeros alone, too
  check(s);
  s.low[1] = -1, s.in[1] = 20;  // does not read the first row
  check(s);
}
TEST(ConvByWinograd, PlanesOfVolumes) {
  ConvGeometry s = plane(2, 16, 16, 6, 7);
  s.in[0] = s.out[0] = 3;
  check(s);
}
TEST(ConvByWinograd, AddsToGradientsOfTaps) {
  const ConvGeometry s = plane(1, 16, 16, 12, 12);
  const Numbers x = numbers(12 * 12 * 16, 1), g = numbers(12 * 12 * 16, 2), before = numbers(9 * 16 * 16, 3);
  Numbers fresh(before.size()), added = before;
  nax::cpu::conv_weights(s, x.data(), g.data(), fresh.data(), false);
  nax::cpu::conv_weights(s, x.data(), g.data(), added.data(), true);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(added[i], before[i] + fresh[i]);
}
// An element that is not finite reaches the results that see it, and no neighbour of those.
TEST(ConvByWinograd, KeepsInfinityWhereItIs) {
  const ConvGeometry s = plane(1, 16, 16, 12, 12);
  Numbers x = numbers(12 * 12 * 16, 1), y(12 * 12 * 16), w(9 * 16 * 16, 1), of_w(9 * 16 * 16, 7);
  ASSERT_TRUE(nax::cpu::winograd::suits<float>(s));
  x[(5 * 12 + 6) * 16 + 3] = std::numeric_limits<float>::infinity();
  nax::cpu::conv_forward(s, x.data(), w.data(), y.data());
  for (std::int64_t i = 0; i < 12; ++i)
    for (std::int64_t j = 0; j < 12; ++j)
      EXPECT_EQ(std::isinf(y[static_cast<std::size_t>((i * 12 + j) * 16)]),
                std::abs(i - 5) <= 1 && std::abs(j - 6) <= 1);
  for (const float v : y) EXPECT_FALSE(std::isnan(v));
  const Numbers g(12 * 12 * 16, 1);
  nax::cpu::conv_weights(s, x.data(), g.data(), of_w.data(), true);
  for (std::size_t i = 0; i < of_w.size(); ++i) {
    EXPECT_EQ(std::isinf(of_w[i]), i / 16 % 16 == 3);
    EXPECT_FALSE(std::isnan(of_w[i]));
  }
  nax::cpu::conv_input(s, x.data(), w.data(), y.data());
  for (const float v : y) EXPECT_FALSE(std::isnan(v));
}
// Overflow between is none of the result.
TEST(ConvByWinograd, LargeNumbersThatDoNotOverflowTapByTap) {
  const ConvGeometry s = plane(1, 16, 16, 8, 8);
  Numbers x(8 * 8 * 16, 3e38f), y(8 * 8 * 16), w(9 * 16 * 16, 0);
  for (std::size_t o = 0; o < 16; ++o) w[(4 * 16 + o) * 16 + o] = 1;  // the identity
  nax::cpu::conv_forward(s, x.data(), w.data(), y.data());
  EXPECT_EQ(y, x);
}
TEST(ConvByWinograd, GradientsOfTapsThatDoNotOverflowTapByTap) {
  const ConvGeometry s = plane(1, 16, 16, 16, 16);
  Numbers x(16 * 16 * 16, 0), g(16 * 16 * 16, 0), of_w(9 * 16 * 16);
  x[(5 * 16 + 5) * 16] = 1e38f, g[(4 * 16 + 4) * 16] = 2;
  nax::cpu::conv_weights(s, x.data(), g.data(), of_w.data(), false);
  for (std::size_t i = 0; i < of_w.size(); ++i) EXPECT_EQ(of_w[i], i == 8 * 16 * 16 ? 2e38f : 0);
}
// Beside sums of double, in units of the largest result; tap by tap errors are half as large.
TEST(ConvByWinograd, IsAsExactAsFloatsAre) {
  const ConvGeometry s = plane(2, 64, 32, 15, 16);
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  Numbers x(2 * 15 * 16 * 64), w(9 * 64 * 32), g(2 * 15 * 16 * 32);
  for (Numbers* all : {&x, &w, &g})
    for (float& v : *all) v = normal(bits);
  std::vector<double> want_y(g.size()), want_x(x.size()), want_w(w.size());
  for_each_product(s, [&](std::size_t i, std::size_t j, std::size_t k) {
    want_y[k] += double{x[i]} * w[j], want_x[i] += double{g[k]} * w[j], want_w[j] += double{x[i]} * g[k];
  });
  const auto compare = [](const std::vector<double>& want, const Numbers& found) {
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      largest = std::max(largest, std::abs(want[i]));
      error = std::max(error, std::abs(want[i] - found[i]));
    }
    EXPECT_LT(error, 2e-6 * largest);
  };
  Numbers of_y(g.size()), of_x(x.size()), of_w(w.size());
  nax::cpu::conv_forward(s, x.data(), w.data(), of_y.data());
  nax::cpu::conv_input(s, g.data(), w.data(), of_x.data());
  nax::cpu::conv_weights(s, x.data(), g.data(), of_w.data(), false);
  compare(want_y, of_y);
  compare(want_x, of_x);
  compare(want_w, of_w);
}

TEST(ConvByLines, KeepsTheSize) {
  check(tall(2, 32, 32, 5, 14));
  check(tall(1, 35, 40, 4, 31));
  check(tall(3, 33, 33, 30, 30));  // enough rows for the transpose
}
TEST(ConvByLines, WithoutPadding) {
  ConvGeometry s = tall(2, 32, 36, 8, 20);
  s.low[1] = s.low[2] = 0;
  s.out[1] = 4, s.out[2] = 18;
  check(s);
}
TEST(ConvByLines, WithMuchPadding) {
  ConvGeometry s = tall(1, 40, 40, 3, 2);
  s.low[1] = 4, s.low[2] = 20;
  s.out[1] = 12, s.out[2] = 45;  // lines of zeros alone, too
  check(s);
}
TEST(ConvByLines, StridesAndDilationOfOtherAxes) {
  ConvGeometry s = plane(2, 32, 32, 11, 16);
  s.stride[1] = 2, s.rhs[1] = 2, s.low[1] = 2;
  s.out[1] = 6;
  check(s);
  ConvGeometry t = plane(1, 32, 32, 40, 60);
  t.lhs[1] = 2;
  t.out[1] = 78;
  check(t);
}
TEST(ConvByLines, TapsFarApart) {  // lines are kept, not what lies between them
  ConvGeometry s = plane(1, 32, 32, 5, 16);
  s.rhs[1] = s.low[1] = std::int64_t{1} << 30;
  check(s);
}
TEST(ConvByLines, ThreeAxes) {
  ConvGeometry s = plane(2, 32, 32, 4, 15);
  s.in[0] = 3, s.out[0] = 4, s.kernel[0] = 2, s.low[0] = 1;
  check(s);
}
TEST(ConvByPatches, LinesThatAreShortOrApart) {
  check(plane(3, 32, 32, 7, 5));
  ConvGeometry s = plane(2, 32, 32, 6, 40);
  s.stride[2] = 2;
  s.out[2] = 20;
  check(s);
}

}  // namespace
}  // namespace conv_test
