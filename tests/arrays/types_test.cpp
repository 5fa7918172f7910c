#include "nax/numpy/conversion/types.hpp"

#include <gtest/gtest.h>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/number_parts.hpp"
#include "nax/numpy/reductions/close.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "support/refusal.hpp"

// Queries about element types. Expected values are NumPy's; those of promotion are JAX's.
namespace types_test {

using nax::Array;
using nax::DType;

static_assert(nax::promote_types(DType::int8, DType::uint8) == DType::int16);
static_assert(nax::promote_types(DType::float16, DType::bfloat16) == DType::float32);

static_assert(nax::issubdtype(DType::float16, nax::floating) &&
              nax::issubdtype(DType::bfloat16, nax::inexact));
static_assert(nax::issubdtype(DType::uint8, nax::integer) &&
              !nax::issubdtype(DType::uint8, nax::signedinteger));
static_assert(nax::issubdtype(DType::boolean, nax::generic) && !nax::issubdtype(DType::boolean, nax::number));
static_assert(nax::issubdtype(DType::complex64, nax::complexfloating) &&
              !nax::issubdtype(DType::float64, nax::complexfloating));
static_assert(nax::issubdtype(DType::int32, DType::int32) && !nax::issubdtype(DType::int32, DType::int64));

static_assert(nax::isdtype(DType::float32, "real floating") &&
              !nax::isdtype(DType::complex64, "real floating"));
static_assert(nax::isdtype(DType::int64, {"bool", "signed integer"}) &&
              !nax::isdtype(DType::uint8, {"bool", "signed integer"}));
static_assert(nax::isdtype(DType::boolean, "bool") && !nax::isdtype(DType::boolean, "numeric"));
static_assert(nax::isdtype(DType::int8, DType::int8));

static_assert(nax::can_cast(DType::int32, DType::float64) && !nax::can_cast(DType::int32, DType::float32));
static_assert(nax::can_cast(DType::int64, DType::float64) && nax::can_cast(DType::int8, DType::float16));
static_assert(nax::can_cast(DType::uint8, DType::int16) && !nax::can_cast(DType::int8, DType::uint16));
static_assert(!nax::can_cast(DType::uint64, DType::int64) && nax::can_cast(DType::uint64, DType::float64));
static_assert(nax::can_cast(DType::float64, DType::complex128) &&
              !nax::can_cast(DType::float64, DType::complex64));
static_assert(nax::can_cast(DType::int16, DType::complex64) &&
              !nax::can_cast(DType::int32, DType::complex64));
static_assert(nax::can_cast(DType::boolean, DType::int8) && !nax::can_cast(DType::int8, DType::boolean));
static_assert(nax::can_cast(DType::float64, DType::float16, {.casting = "same_kind"}));
static_assert(!nax::can_cast(DType::int8, DType::uint8, {.casting = "same_kind"}));
static_assert(nax::can_cast(DType::complex64, DType::int8, {.casting = "unsafe"}));
static_assert(!nax::can_cast(DType::int8, DType::int16, {.casting = "no"}));

static_assert(nax::result_type(1, 2.0) == DType::float32 && nax::result_type(true) == DType::boolean);
static_assert(nax::result_type(DType::float16, 1.0) == DType::float16);
static_assert(nax::result_type(DType::int8, 1.0) == DType::float32 &&
              nax::result_type(DType::int8, 1) == DType::int8);

static_assert(nax::finfo<float>::bits == 32 && nax::finfo<double>::nmant == 52 &&
              nax::finfo<double>::nexp == 11);
static_assert(nax::finfo<float>::eps == 0x1p-23f && nax::finfo<double>().eps == 0x1p-52);
static_assert(nax::finfo<float>::precision == 6 && nax::finfo<double>::precision == 15 &&
              nax::finfo<nax::half>::precision == 3);
static_assert(nax::finfo<float>::minexp == -126 && nax::finfo<float>::maxexp == 128);
static_assert(nax::finfo<std::complex<double>>::dtype == DType::float64);
static_assert(nax::iinfo<std::int8_t>::min == -128 && nax::iinfo<std::uint16_t>().max == 65535 &&
              nax::iinfo<int>::bits == 32);
static_assert(nax::iscomplexobj(std::complex<float>(1)) && nax::isrealobj(1.0));
static_assert(std::is_same_v<nax::float64, double> && std::is_same_v<nax::int_, std::int32_t>);

TEST(Types, OfArrays) {
  const Array<float> x = {{1, 2}, {3, 4}};
  EXPECT_EQ(nax::result_type(x, 2.0), DType::float32);
  EXPECT_EQ(nax::result_type(x, Array<double>(1.)), DType::float64);
  EXPECT_EQ(nax::result_type(Array<int>{1} * 2, std::complex<float>(1)), DType::complex64);
  EXPECT_FLOAT_EQ(nax::finfo(x).max, 3.4028235e38f);
  EXPECT_EQ(nax::iinfo(Array<std::int64_t>{1}).max, INT64_MAX);
  EXPECT_EQ(nax::finfo<double>::epsneg, 0x1p-53);
  EXPECT_EQ(nax::finfo<float>::resolution, 1e-6f);
  EXPECT_EQ(static_cast<float>(nax::finfo<nax::half>::max), 65504);
  EXPECT_TRUE(nax::iscomplexobj(x * std::complex<float>(1)));
  EXPECT_FALSE(nax::iscomplexobj(x));
  EXPECT_TRUE(nax::isscalar(2.f) && nax::isscalar(nax::sum(x)) && !nax::isscalar(x) &&
              !nax::isscalar("text"));
  EXPECT_TRUE(nax::iterable(x) && !nax::iterable(nax::sum(x)) && !nax::iterable(3));
  EXPECT_EQ(nax::ndim(x), 2);
  EXPECT_EQ(nax::ndim(3.), 0);
  EXPECT_EQ(nax::shape(x + 1), nax::Shape({2, 2}));
  EXPECT_EQ(nax::shape(3), nax::Shape());
  EXPECT_EQ(nax::size(x), 4);
  EXPECT_EQ(nax::size(x, {.axis = -1}), 2);
  EXPECT_EQ(nax::size(nax::ones({2, 3, 4}), {.axis = {0, 2}}), 8);
  EXPECT_EQ(refusal([] { nax::isdtype(DType::int8, "float"); }), "isdtype: no kind of types 'float'");
  EXPECT_EQ(refusal([] { nax::can_cast(DType::int8, DType::int8, {.casting = "any"}); }),
            "can_cast: casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe', not 'any'");
}

TEST(Types, OfElements) {
  const Array<std::complex<float>> z = {std::complex<float>(1, 0), std::complex<float>(0, 2)};
  EXPECT_EQ(nax::Array<bool>(nax::iscomplex(z)).to_vector(), std::vector<bool>({false, true}));
  EXPECT_EQ(nax::Array<bool>(nax::isreal(z)).to_vector(), std::vector<bool>({true, false}));
  EXPECT_EQ(nax::Array<bool>(nax::isreal(Array<float>{1, NAN})).to_vector(), std::vector<bool>({true, true}));
  EXPECT_TRUE(nax::array_equiv(Array<int>{1, 2}, Array<int>{{1, 2}, {1, 2}}).item());
  EXPECT_FALSE(nax::array_equiv(Array<int>{1, 2}, Array<int>{1, 2, 3}).item());
  EXPECT_FALSE(nax::array_equiv(Array<int>{1, 2}, Array<int>{{1, 2}, {1, 3}}).item());
}

TEST(Types, OfParts) {
  const auto [quotient, rest] = nax::divmod(Array<int>{7, -7}, Array<int>{2, 2});
  static_assert(std::is_same_v<decltype(quotient), const Array<int>>);
  EXPECT_EQ(quotient.to_vector(), std::vector<int>({3, -4}));
  EXPECT_EQ(rest.to_vector(), std::vector<int>({1, 1}));
  const auto [fraction, whole] = nax::modf(Array<int>{3});
  static_assert(std::is_same_v<decltype(fraction), const Array<float>>);
  EXPECT_EQ(whole.item(), 3.f);
  const auto [mantissa, exponent] = nax::frexp(Array<nax::half>{nax::half(6)});
  EXPECT_EQ(static_cast<float>(mantissa.item()), .75f);
  EXPECT_EQ(exponent.item(), 3);
  EXPECT_EQ(static_cast<float>(nax::spacing(Array<nax::half>{nax::half(1000)}).item()), .5f);
  EXPECT_EQ(static_cast<float>(nax::spacing(Array<nax::bfloat16>{nax::bfloat16(1)}).item()), 0x1p-7f);
  EXPECT_EQ(nax::spacing(Array<float>{0}).item(), 0x1p-149f);
}

}  // namespace types_test
