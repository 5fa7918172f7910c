// Runs converted and copied by packets, against conversions element by element.
#include "nax/backend/cpu/packets/convert.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <vector>

namespace {

using namespace nax;

// Floats of all exponents, halves between two halves, and the special ones.
std::vector<float> floats(std::int64_t n) {
  using L = std::numeric_limits<float>;
  std::vector<float> x = {0.f,
                          -0.f,
                          1.f,
                          L::denorm_min(),
                          -L::min(),
                          L::infinity(),
                          L::quiet_NaN(),
                          65504.f,
                          65519.996f,
                          65520.f,
                          6e-8f,
                          2.9802322e-8f,
                          2.98023224e-8f,
                          6.1e-5f,
                          1.00048828125f,
                          1.00146484375f,
                          -L::infinity(),
                          L::max()};
  for (std::uint32_t bits = 1; static_cast<std::int64_t>(x.size()) < n; bits = bits * 1664525u + 1013904223u)
    x.push_back(std::bit_cast<float>(bits));
  x.resize(static_cast<std::size_t>(n));
  return x;
}

TEST(Convert, FloatToHalf) {
  for (const std::int64_t n : {0, 1, 7, 8, 9, 15, 16, 17, 63, 100, 70000}) {
    const auto x = floats(n);
    std::vector<half> got(x.size());
    cpu::convert_run<float, half>(x.data(), 1, got.data(), 1, n);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got[i].bits, half(x[i]).bits) << x[i];
  }
}

TEST(Convert, EveryHalfToFloat) {
  std::vector<half> x(65536 + 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = half::from_bits(static_cast<std::uint16_t>(i));
  std::vector<float> got(x.size());
  cpu::convert_run<half, float>(x.data(), 1, got.data(), 1, static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float expected = x[i];
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(got[i])) << i;
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(expected)) << i;
  }
}

TEST(Convert, FloatToBfloat16) {
  for (const std::int64_t n : {0, 1, 7, 15, 16, 17, 31, 32, 33, 100, 70000}) {
    const auto x = floats(n);
    std::vector<bfloat16> got(x.size());
    cpu::convert_run<float, bfloat16>(x.data(), 1, got.data(), 1, n);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got[i].bits, bfloat16(x[i]).bits) << x[i];
  }
}

TEST(Convert, EveryBfloat16ToFloat) {
  std::vector<bfloat16> x(65536 + 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = bfloat16::from_bits(static_cast<std::uint16_t>(i));
  std::vector<float> got(x.size());
  cpu::convert_run<bfloat16, float>(x.data(), 1, got.data(), 1, static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::uint32_t{x[i].bits} << 16) << i;
}

TEST(Convert, FloatToBool) {
  for (const std::int64_t n : {0, 1, 31, 32, 33, 64, 100}) {
    const auto x = floats(n);
    const std::unique_ptr<bool[]> got(new bool[static_cast<std::size_t>(n) + 1]);
    got[static_cast<std::size_t>(n)] = true;
    cpu::convert_run<float, bool>(x.data(), 1, got.get(), 1, n);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got[i], x[i] != 0) << x[i];
    EXPECT_TRUE(got[static_cast<std::size_t>(n)]);
  }
}

TEST(Convert, Strides) {
  const auto x = floats(300);
  for (const std::int64_t stride : {-3, -2, -1, 0, 1, 2, 3})
    for (const std::int64_t n : {0, 1, 15, 16, 17, 33, 90}) {
      const float* const from = x.data() + (stride < 0 ? 299 : 0);
      std::vector<half> got(static_cast<std::size_t>(2 * n));
      cpu::convert_run<float, half>(from, stride, got.data(), 2, n);
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_EQ(got[static_cast<std::size_t>(2 * i)].bits, half(from[i * stride]).bits);
    }
}

template <class Unit, class T>
void check_copies() {
  std::vector<T> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(static_cast<unsigned char>(i));
  for (const std::int64_t stride : {-3, -2, -1, 0, 1, 2, 3})
    for (const std::int64_t n : {0, 1, 3, 4, 7, 8, 15, 16, 17, 63, 64, 65, 130, 300}) {
      const T* const from = x.data() + (stride < 0 ? 999 : 0);
      std::vector<T> got(static_cast<std::size_t>(n) + 1, T(77));
      cpu::copy_run<Unit>(from, stride, got.data(), 1, n);
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_EQ(got[static_cast<std::size_t>(i)], from[i * stride]) << stride << " " << n << " " << i;
      EXPECT_EQ(got.back(), T(77));
    }
}
TEST(Convert, Copies) {
  check_copies<cpu::Unit8, std::uint8_t>();
  check_copies<cpu::Unit16, std::uint16_t>();
  check_copies<cpu::Unit32, std::uint32_t>();
  check_copies<cpu::Unit64, std::uint64_t>();
  check_copies<cpu::Unit128, std::complex<double>>();
}

}  // namespace
