#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nax/core/dtype.hpp>

namespace dtype_test {

using namespace nax;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

constexpr DType b1 = DType::boolean, i8 = DType::int8, i16 = DType::int16, i32 = DType::int32,
                i64 = DType::int64, u8 = DType::uint8, u16 = DType::uint16, u32 = DType::uint32,
                u64 = DType::uint64, f16 = DType::float16, bf = DType::bfloat16, f32 = DType::float32,
                f64 = DType::float64, c8 = DType::complex64, c16 = DType::complex128;

// jnp.promote_types with jax_enable_x64, JAX 0.10, and its weak float (u64 with a signed integer) as float;
// row and column in the order of DType.
// clang-format off
constexpr DType table[15][15] = {
    {b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf, f32, f64, c8, c16},
    {i8, i8, i16, i32, i64, i16, i32, i64, f32, f16, bf, f32, f64, c8, c16},
    {i16, i16, i16, i32, i64, i16, i32, i64, f32, f16, bf, f32, f64, c8, c16},
    {i32, i32, i32, i32, i64, i32, i32, i64, f32, f16, bf, f32, f64, c8, c16},
    {i64, i64, i64, i64, i64, i64, i64, i64, f32, f16, bf, f32, f64, c8, c16},
    {u8, i16, i16, i32, i64, u8, u16, u32, u64, f16, bf, f32, f64, c8, c16},
    {u16, i32, i32, i32, i64, u16, u16, u32, u64, f16, bf, f32, f64, c8, c16},
    {u32, i64, i64, i64, i64, u32, u32, u32, u64, f16, bf, f32, f64, c8, c16},
    {u64, f32, f32, f32, f32, u64, u64, u64, u64, f16, bf, f32, f64, c8, c16},
    {f16, f16, f16, f16, f16, f16, f16, f16, f16, f16, f32, f32, f64, c8, c16},
    {bf, bf, bf, bf, bf, bf, bf, bf, bf, f32, bf, f32, f64, c8, c16},
    {f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f64, c8, c16},
    {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, c16, c16},
    {c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c16, c8, c16},
    {c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16}};
// clang-format on

constexpr bool promotion_is_jax() {
  for (int a = 0; a < 15; ++a) {
    for (int b = 0; b < 15; ++b) {
      if (promote(static_cast<DType>(a), static_cast<DType>(b)) != table[a][b]) return false;
    }
  }
  return true;
}
static_assert(promotion_is_jax());
static_assert(std::is_same_v<promote_t<std::int32_t, std::uint32_t>, std::int64_t>);
static_assert(std::is_same_v<promote_t<half, bfloat16>, float>);
static_assert(std::is_same_v<promote_t<double, c64>, c128>);

template <class A, class S, class Expected>
constexpr bool weak = std::is_same_v<weak_promote_t<A, S>, Expected>;
static_assert(weak<bool, bool, bool> && weak<bool, int, std::int32_t> && weak<bool, float, float>);
static_assert(weak<bool, double, float> && weak<bool, c128, c64>);
static_assert(weak<std::int8_t, long long, std::int8_t> && weak<std::uint64_t, int, std::uint64_t>);
static_assert(weak<std::int64_t, double, float> && weak<std::int32_t, c128, c64>);
static_assert(weak<half, double, half> && weak<bfloat16, int, bfloat16> && weak<half, c128, c64>);
static_assert(weak<float, double, float> && weak<float, long double, float> && weak<float, c128, c64>);
static_assert(weak<double, c64, c128> && weak<c64, c128, c64> && weak<c128, bool, c128>);
static_assert(weak<float, half, float> && weak<std::int32_t, half, float>);

static_assert(Dtype<bool> && Dtype<std::int64_t> && Dtype<std::uint8_t> && Dtype<half> && Dtype<c128>);
static_assert(!Dtype<char> && !Dtype<long double> && !Dtype<const float> && !Dtype<void*>);
static_assert(sizeof(long) != 8 || (Dtype<long> && Dtype<unsigned long> && !Dtype<long long>));
static_assert(Scalar<long long> && Scalar<char> && Scalar<long double> && !Scalar<std::nullptr_t>);
static_assert(std::is_same_v<element_t<long long>, std::int64_t> && std::is_same_v<element_t<float>, float>);
static_assert(std::is_same_v<element_t<unsigned long long>, std::uint64_t>);
static_assert(std::is_same_v<element_t<long double>, double> && std::is_same_v<element_t<half>, half>);

static_assert(std::is_same_v<inexact_t<std::int64_t>, float> && std::is_same_v<inexact_t<bool>, float>);
static_assert(std::is_same_v<inexact_t<half>, half> && std::is_same_v<inexact_t<c128>, c128>);
static_assert(std::is_same_v<real_t<c64>, float> && std::is_same_v<real_t<int>, int>);
static_assert(std::is_same_v<complex_t<double>, c128> && std::is_same_v<complex_t<std::int32_t>, c64>);
static_assert(is_floating_v<bfloat16> && !is_floating_v<c64> && !is_floating_v<int>);
static_assert(is_complex_v<c64> && !is_complex_v<double> && is_inexact_v<half> && !is_inexact_v<bool>);
static_assert(is_integer_v<std::uint8_t> && !is_integer_v<bool> && !is_integer_v<float>);

template <class... T>
constexpr bool sizes_agree = ((dtype_size(dtype_of<T>) == sizeof(T) &&
                               std::is_same_v<type_of_t<dtype_of<T>>, T>)&&...);
static_assert(
    sizes_agree<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                std::uint32_t, std::uint64_t, half, bfloat16, float, double, c64, c128>);

TEST(Dtype, NamesMatchNumPy) {
  EXPECT_EQ(dtype_name(DType::boolean), "bool");
  EXPECT_EQ(dtype_name(DType::uint64), "uint64");
  EXPECT_EQ(dtype_name(DType::bfloat16), "bfloat16");
  EXPECT_EQ(dtype_name(dtype_of<float>), "float32");
  EXPECT_EQ(dtype_name(dtype_of<c128>), "complex128");
}

TEST(Half, EveryValueSurvivesFloat) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const auto h = half::from_bits(bits);
    const auto b = bfloat16::from_bits(bits);
    if (h == h) {
      EXPECT_EQ(half(float(h)).bits, bits);
    }
    if (b == b) {
      EXPECT_EQ(bfloat16(float(b)).bits, bits);
    }
    EXPECT_EQ(h != h, (bits & 0x7fff) > 0x7c00);
    EXPECT_EQ(b != b, (bits & 0x7fff) > 0x7f80);
  }
}

TEST(Half, RoundsToNearestEvenFromFloatAndDouble) {
  for (std::uint16_t bits = 0; bits < 0x7bff;
       ++bits) {  // the middle between neighbours, and both sides of it
    const double low = half::from_bits(bits), high = half::from_bits(static_cast<std::uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    const int even = bits + (bits & 1);
    EXPECT_EQ(half(static_cast<float>(middle)).bits, even);
    EXPECT_EQ(half(middle).bits, even);
    EXPECT_EQ(half(std::nextafter(middle, 0.)).bits, bits);
    EXPECT_EQ(half(std::nextafter(middle, 1e9)).bits, bits + 1);
    EXPECT_EQ(half(-std::nextafter(middle, 1e9)).bits, 0x8000 + bits + 1);
  }
  EXPECT_EQ(half(65519.f), 65504.f);
  EXPECT_EQ(half(65520.f), std::numeric_limits<half>::infinity());
  EXPECT_EQ(bfloat16(3.4e38), std::numeric_limits<bfloat16>::infinity());
  EXPECT_TRUE(std::isnan(half(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(bfloat16(std::numeric_limits<float>::signaling_NaN())));
}

TEST(Half, ArithmeticStaysHalfAndMixesWithFloat) {
  constexpr half h = 1.5f;
  static_assert(std::is_same_v<decltype(h + h), half> && std::is_same_v<decltype(-h), half>);
  static_assert(std::is_same_v<decltype(h + 1.f), float> && std::is_same_v<decltype(h * 2.0), double>);
  static_assert(h * h == 2.25f && h / half(3) == 0.5f && h - half(1) == 0.5f && h < 2 && -h == -1.5);
  half x = 2;
  x += h;
  x *= 2;
  EXPECT_EQ(x, 7.f);
  EXPECT_EQ(std::tanh(half(0)), 0.f);
  EXPECT_EQ(float(std::numeric_limits<half>::max()), 65504.f);
  EXPECT_EQ(float(std::numeric_limits<half>::epsilon()), 0x1p-10f);
  EXPECT_EQ(float(std::numeric_limits<bfloat16>::epsilon()), 0x1p-7f);
  EXPECT_EQ(float(std::numeric_limits<bfloat16>::min()), std::numeric_limits<float>::min());
}

}  // namespace dtype_test
