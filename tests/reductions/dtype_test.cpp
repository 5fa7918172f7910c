// The .dtype of sums and products, and their typed forms: sum<double>(x).

#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "support/refusal.hpp"

namespace result_types {

using namespace nax;
template <class T>
using List = std::vector<T>;

template <class Want, class T>
void expect(const Array<T>& got, const List<Want>& want) {
  static_assert(std::is_same_v<T, Want>);
  EXPECT_EQ(got.to_vector(), want);
}

TEST(ResultDtype, MayBeGivenInTheCall) {
  const Array<std::int8_t> x = {{100, 100}, {27, 1}};
  expect<int>(sum(x, {.axis = 0, .dtype = DType::int32}), {127, 101});
  expect<int>(prod(x, {.axis = 0, .dtype = DType::int32, .keepdims = true}), {2700, 100});
  expect<std::int8_t>(cumsum(x, {.axis = 0, .dtype = DType::int8}), {100, 100, 127, 101});
  expect<int>(cumulative_sum(x, {.axis = 1, .dtype = DType::int32}), {100, 200, 27, 28});
  expect<int>(trace(x, {.offset = 0, .dtype = DType::int32}), {101});
  expect<float>(sum(Array<float>{1, 2}, {.dtype = DType::float32}), {3});
}

TEST(ResultDtype, OtherTypesAreRefused) {
  const Array<float> x = {{1, 2}, {3, 4}};
  const auto message = [](const std::string& function) {
    return function + ": dtype is float64, but the result's type is float32 when compiled; " + function +
           "<T>(x) computes in a type of your choice";
  };
#define NAX_EXPECT(f)                                                                              \
  EXPECT_EQ(refusal<TypeError>([&] { f(x, {.axis = 0, .dtype = DType::float64}); }), message(#f)); \
  EXPECT_EQ(refusal<TypeError>([&] { f<float>(x, {.axis = 0, .dtype = DType::float64}); }), message(#f))
  NAX_EXPECT(sum);
  NAX_EXPECT(prod);
  NAX_EXPECT(nansum);
  NAX_EXPECT(nanprod);
  NAX_EXPECT(cumsum);
  NAX_EXPECT(cumprod);
  NAX_EXPECT(nancumsum);
  NAX_EXPECT(nancumprod);
  NAX_EXPECT(cumulative_sum);
  NAX_EXPECT(cumulative_prod);
#undef NAX_EXPECT
  EXPECT_EQ(refusal<TypeError>([&] { trace(x, {.dtype = DType::float64}); }), message("trace"));
}

// Elements are converted before they are added, as in NumPy.
TEST(TypedForms, ConvertFirst) {
  const float big = 16777216;  // takes no more ones
  const Array<float> x = {big, 1, 1};
  expect<double>(sum<double>(x), {16777218});
  expect<double>(cumsum<double>(x), {16777216, 16777217, 16777218});
  expect<double>(prod<double>(Array<float>{big, big, big}), {4722366482869645213696.});
  const Array<float> y = {1.5f, -2.75f, 300};
  expect<int>(sum<int>(y), {299});
  expect<std::uint8_t>(sum<std::uint8_t>(y), {0});  // 1 + 0 + 255, which wraps
  expect<std::int8_t>(sum<std::int8_t>(Array<int>{100, 100}), {-56});
  expect<bool>(sum<bool>(Array<int>{0, 0, 4}), {true});
  expect<float>(sum<float>(Array<int>{1, 2}, {.initial = 0.5f}), {3.5f});
  expect<double>(nansum<double>(Array<float>{big, NAN, 1}), {16777217});
  expect<double>(nanprod<double>(Array<float>{3, NAN}, {.keepdims = true}), {3});
  expect<std::int64_t>(cumprod<std::int64_t>(Array<int>{65536, 65536}), {65536, 4294967296});
  expect<std::int64_t>(cumulative_prod<std::int64_t>(Array<int>{65536, 65536}, {.include_initial = true}),
                       {1, 65536, 4294967296});
  expect<double>(cumulative_sum<double>(x * 1), {16777216, 16777217, 16777218});
  expect<double>(nancumsum<double>(x), {16777216, 16777217, 16777218});
  expect<double>(nancumprod<double>(Array<float>{2, NAN, 3}), {2, 2, 6});
  expect<double>(trace<double>(Array<float>{{big, 0}, {5, 1}}, {.axis1 = 1, .axis2 = 0}), {16777217});
  expect<std::complex<double>>(sum<std::complex<double>>(y), {298.75});
}

TEST(TypedForms, AreDifferentiatedAndMapped) {
  const Array<float> x = {{1, 2}, {3, 4}};
  const auto slope = grad([](const Array<float>& x) { return sum<double>(x * x); })(x);
  expect<float>(Array<float>(slope), {2, 4, 6, 8});
  const auto rows = vmap([](const Array<float>& row) { return sum<double>(row); })(x);
  expect<double>(Array<double>(rows), {3, 7});
}

}  // namespace result_types
