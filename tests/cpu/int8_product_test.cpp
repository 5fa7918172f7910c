// Products with weights of 8-bit integers: the sums of each instruction set are exact.

#include "nax/backend/cpu/gemm/int8_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "support/with_threads.hpp"

namespace int8_product_test {
using namespace nax;

struct Packed {
  std::vector<std::int8_t> codes;
  std::vector<float> scales;
  std::vector<std::int32_t> offsets;
  cpu::Int8Weights weights;
  bool finite;

  Packed(std::int64_t k, std::int64_t n, const std::vector<float>& w, std::int64_t row, std::int64_t column)
      : weights{k, n} {
    codes.resize(static_cast<std::size_t>(weights.columns() * weights.steps()));
    scales.resize(static_cast<std::size_t>(weights.columns()));
    offsets.resize(scales.size());
    finite = cpu::pack_int8(k, n, w.data(), row, column, codes.data(), scales.data(), offsets.data());
    weights.codes = codes.data(), weights.scales = scales.data(), weights.offsets = offsets.data();
  }
};

// Integers of which each row and column has one of 127, so all scales are 1.
std::vector<float> integers(std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::mt19937 bits(seed);
  std::vector<float> x(static_cast<std::size_t>(rows * columns));
  for (float& v : x) v = static_cast<float>(static_cast<int>(bits() % 255) - 127);
  for (std::int64_t i = 0; i < std::max(rows, columns); ++i)
    x[static_cast<std::size_t>(i % rows * columns + i % columns)] = bits() % 2 == 0 ? 127.f : -127.f;
  return x;
}

class Int8Product : public testing::TestWithParam<std::tuple<std::int64_t, std::int64_t, std::int64_t>> {};
TEST_P(Int8Product, SumsAreExact) {
  const auto [m, k, n] = GetParam();
  const auto at = [](const std::vector<float>& x, std::int64_t i) { return x[static_cast<std::size_t>(i)]; };
  const std::vector<float> x = integers(m, k, 1), w = integers(k, n, 2);
  std::vector<float> bias(static_cast<std::size_t>(n)), turned(w.size());
  for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = static_cast<float>(j) - 3;
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t j = 0; j < n; ++j) turned[static_cast<std::size_t>(j * k + l)] = at(w, l * n + j);
  for (const Packed& packed : {Packed(k, n, w, n, 1), Packed(k, n, turned, 1, k)}) {
    EXPECT_TRUE(packed.finite);
    for (const int threads : {1, 3}) {
      const WithThreads some(threads);
      std::vector<float> y(static_cast<std::size_t>(m * n)), z = y;
      cpu::int8_product(m, x.data(), packed.weights, bias.data(), loops::Activation::identity, y.data());
      cpu::int8_product(m, x.data(), packed.weights, nullptr, loops::Activation::relu, z.data());
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          std::int64_t sum = 0;
          for (std::int64_t l = 0; l < k; ++l)
            sum += static_cast<std::int64_t>(at(x, i * k + l)) * static_cast<std::int64_t>(at(w, l * n + j));
          ASSERT_EQ(at(y, i * n + j), static_cast<float>(sum) + at(bias, j)) << i << ' ' << j;
          ASSERT_EQ(at(z, i * n + j), static_cast<float>(std::max<std::int64_t>(sum, 0))) << i << ' ' << j;
        }
    }
    std::vector<float> floats(w.size());
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j)
        floats[static_cast<std::size_t>(l * n + j)] = packed.weights.value(l, j);
    EXPECT_EQ(floats, w);
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, Int8Product,
                         testing::Values(std::tuple(1, 1, 1), std::tuple(1, 784, 10), std::tuple(1, 300, 129),
                                         std::tuple(2, 7, 5), std::tuple(3, 15, 64), std::tuple(4, 16, 63),
                                         std::tuple(5, 33, 70), std::tuple(6, 64, 65), std::tuple(7, 5, 80),
                                         std::tuple(8, 18, 128), std::tuple(13, 100, 96),
                                         std::tuple(97, 31, 33), std::tuple(300, 68, 112),
                                         std::tuple(2, 700, 1900)));

// All products of one sign, at the ends of their range.
TEST(Int8Products, DoNotSaturate) {
  constexpr std::int64_t k = 1000, n = 20, m = 9;
  for (const float sign : {1.f, -1.f}) {
    const Packed packed(k, n, std::vector<float>(k * n, -3.f), n, 1);
    const std::vector<float> x(k * m, 5 * sign);
    std::vector<float> y(m * n);
    cpu::int8_product(m, x.data(), packed.weights, nullptr, loops::Activation::identity, y.data());
    for (const float v : y) EXPECT_FLOAT_EQ(v, -15000 * sign);
  }
}
TEST(Int8Products, RoundToEven) {
  // Codes of a row whose largest is 127 are the numbers, rounded.
  const std::vector<float> x = {127, .5f, 1.5f, 2.5f, -.5f, -1.5f, -2.5f, 100.25f, 63.5f};
  const std::vector<float> codes = {127, 0, 2, 2, 0, -2, -2, 100, 64};
  for (std::size_t l = 0; l < x.size(); ++l) {
    std::vector<float> w(x.size());
    w[l] = 127;
    const Packed packed(9, 1, w, 1, 1);
    float y = 0;
    cpu::int8_product(1, x.data(), packed.weights, nullptr, loops::Activation::identity, &y);
    EXPECT_EQ(y, 127 * codes[l]) << l;
  }
}
TEST(Int8Products, WeightsThatAreNotFiniteAreToldApart) {
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    std::vector<float> w = integers(20, 30, 1);
    w[211] = bad;
    EXPECT_FALSE(Packed(20, 30, w, 30, 1).finite);
  }
}
}  // namespace int8_product_test
