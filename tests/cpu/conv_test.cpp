#include <gtest/gtest.h>

#include <vector>

#include "nax/backend/cpu/conv_kernels.hpp"
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

TEST(ConvByLines, KeepsTheSize) {
  check(plane(2, 32, 32, 5, 14));
  check(plane(1, 35, 40, 4, 31));
  check(plane(3, 33, 33, 30, 30));  // enough rows for the transpose
}
TEST(ConvByLines, WithoutPadding) {
  ConvGeometry s = plane(2, 32, 36, 6, 20);
  s.low[1] = s.low[2] = 0;
  s.out[1] = 4, s.out[2] = 18;
  check(s);
}
TEST(ConvByLines, WithMuchPadding) {
  ConvGeometry s = plane(1, 40, 40, 3, 2);
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
