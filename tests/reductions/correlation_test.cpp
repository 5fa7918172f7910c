#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nax/lax/conv.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/sequences/convolve.hpp"
#include "nax/random/continuous.hpp"
#include "nax/transform/grad.hpp"

namespace correlation_test {

using A = nax::Array<double>;

// out[i] = sum over k of y[i + k] w[k], y = x behind `low` zeros.
std::vector<double> expected(const A& x_, const A& w_, std::int64_t low, std::int64_t length) {
  const auto x = x_.to_vector(), w = w_.to_vector();
  std::vector<double> out;
  for (std::int64_t i = 0; i < length; ++i) {
    double sum = 0;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(w.size()); ++k) {
      const std::int64_t at = i + k - low;
      if (at >= 0 && at < static_cast<std::int64_t>(x.size()))
        sum += x[static_cast<std::size_t>(at)] * w[static_cast<std::size_t>(k)];
    }
    out.push_back(sum);
  }
  return out;
}

void expect_near(const A& got, const std::vector<double>& want, const std::string& which) {
  const auto g = got.to_vector();
  ASSERT_EQ(g.size(), want.size()) << which;
  for (std::size_t i = 0; i < g.size(); ++i) ASSERT_NEAR(g[i], want[i], 1e-10) << which << " at " << i;
}

A numbers(std::uint64_t seed, const nax::Shape& shape) {
  return nax::random::uniform<double>(nax::random::key(seed), shape, -1., 1.);
}

// Rows that are longer than a piece of the loop, and more taps than are added up at once.
TEST(Correlation, LongRowsAndManyTaps) {
  for (const std::int64_t n : {1, 5, 2047, 2048, 2049, 5000})
    for (const std::int64_t taps : {1, 3, 4, 64, 65, 131, 3000}) {
      const A x = numbers(1, {n}), w = numbers(2, {taps});
      const std::string which = std::to_string(n) + " with " + std::to_string(taps);
      const std::int64_t least = std::min(n, taps), most = std::max(n, taps);
      expect_near(nax::correlate(x, w, {.mode = "full"}), expected(x, w, taps - 1, n + taps - 1), which);
      expect_near(nax::correlate(x, w), expected(x, w, taps - least, most - least + 1), which);
    }
}

TEST(Correlation, StridedOperands) {
  const A x = numbers(3, {2, 4500}), w = numbers(4, {2, 70});
  const A every_other = x(0, nax::slice(nax::none, nax::none, 2)),
          backwards = w(1, nax::slice(nax::none, nax::none, -1));
  expect_near(nax::correlate(every_other, backwards), expected(every_other, backwards, 0, 2250 - 69),
              "strided");
}

TEST(Correlation, HalfTypesAddUpInFloat) {
  const nax::Array<nax::half> ones = nax::ones<nax::half>({3000});
  EXPECT_EQ(nax::convolve(ones, ones, {.mode = "valid"}).astype<float>().item(), 3000.f);  // 2048 + 1 is 2048
}

// Convolutions of networks with one channel run through the loop; two channels, one of zeros, do not.
TEST(Correlation, ConvolutionsOfOneChannel) {
  struct Case {
    std::int64_t n, taps, low, high;
  };
  for (const Case& c : {Case{40, 5, 0, 0}, Case{40, 5, 2, 1}, Case{3, 5, 4, 4}, Case{40, 5, 6, 9},
                        Case{40, 5, -3, -2}, Case{2500, 70, 69, 69}}) {
    const A x = numbers(5, {3, 1, c.n}), w = numbers(6, {1, 1, c.taps});
    const nax::lax::Padding padding(std::vector<nax::lax::Padding::Pair>{{c.low, c.high}});
    const auto conv = [&](const A& a, const A& b) {
      return nax::lax::conv_general_dilated(a, b, {1}, padding);
    };
    const auto wide = [&](const A& a, const A& b) {
      return conv(nax::concatenate({a, nax::zeros_like(a)}, {.axis = 1}),
                  nax::concatenate({b, nax::ones_like(b)}, {.axis = 1}));
    };
    const std::string which = std::to_string(c.n) + " with " + std::to_string(c.taps);
    expect_near(conv(x, w), A(wide(x, w)).to_vector(), which);
    const auto loss = [](const auto& f) {
      return [f](const A& a, const A& b) { return nax::sum(nax::square(f(a, b))); };
    };
    const auto [gx, gw] = nax::grad<0, 1>(loss(conv))(x, w);
    const auto [hx, hw] = nax::grad<0, 1>(loss(wide))(x, w);
    expect_near(gx, hx.to_vector(), which + ", x");
    expect_near(gw / 100, (hw / 100).to_vector(), which + ", w");
  }
}

}  // namespace correlation_test
