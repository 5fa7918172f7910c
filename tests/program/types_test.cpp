#include <gtest/gtest.h>

#include <limits>
#include <nax/nax.hpp>
#include <tuple>
#include <vector>

#include "fuses.hpp"
#include "same_bits.hpp"

// Programs of arrays of other types than float and double: each is one loop, with the values that it has
// without jit.
namespace types_test {
using namespace nax;
using program_tests::expect_same;

template <class T, class F>
void expect_equal_at(const F& f, std::initializer_list<T> x, std::initializer_list<T> y) {
  const Array<T> a = array(std::vector<T>(x)), b = array(std::vector<T>(y));
  expect_same(f(a, b), jit(f)(a, b), 0);
}
template <class T>
void expect_limits() {
  constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  const auto all = [](const Array<T>& a, const Array<T>& b) {
    const Array<T> sum = a + b, difference = sum - a, product = difference * b;
    const Array<T> part = floor_divide(product, b), rest = remainder(part, a);
    const Array<T> shifted = (rest << 1) ^ (a >> 1);
    return Array<T>(abs(shifted) + -a + (~b & a));
  };
  expect_equal_at<T>(all, {low, low, high, high, T(0), T(7), T(-1)},
                     {T(-1), low, high, T(0), T(0), T(3), high});
}
TEST(Types, WholeNumbersWrapAroundUnderJit) {
  expect_limits<std::int8_t>();
  expect_limits<std::int32_t>();
  expect_limits<std::int64_t>();
  expect_limits<std::uint16_t>();
}

template <class To, class From>
void expect_conversions() {
  const auto f = [](const Array<From>& x, const Array<From>& y) {
    const Array<From> sum = x + y;
    return Array<To>(sum.template astype<To>());
  };
  constexpr From inf = std::numeric_limits<From>::infinity();
  expect_equal_at<From>(f,
                        {From(0.9), From(-0.9), From(3e9), From(-3e9), From(1e20), From(-1e20), inf, -inf,
                         std::numeric_limits<From>::quiet_NaN(), From(127.5), From(-128.5), From(255.5),
                         From(65535.9), From(2147483647.5), From(4294967295.5), From(9.3e18)},
                        std::initializer_list<From>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}
TEST(Types, ConversionsEndAtLimitsUnderJit) {
  expect_conversions<std::int8_t, float>();
  expect_conversions<std::int32_t, float>();
  expect_conversions<std::int64_t, float>();
  expect_conversions<std::uint32_t, float>();
  expect_conversions<bool, float>();
  expect_conversions<std::int32_t, double>();
  expect_conversions<std::int64_t, double>();
  expect_conversions<std::uint64_t, double>();
  expect_conversions<std::uint8_t, double>();
}

template <class T>
void expect_rounds() {
  const auto f = [](const Array<T>& a, const Array<T>& b) {
    const Array<T> product = a * b, sum = product + a, shifted = sum - b;
    return Array<T>(tanh(shifted) + product);
  };
  const T small = T::from_bits(1);
  expect_equal_at<T>(f, {T(60000.f), T(0.1f), small, T(1.f), T(-60000.f), T(2049.f)},
                     {T(2.f), T(0.3f), T(0.5f), small, T(1.f), T(1.5f)});
  const auto slope = grad<0, 1>([=](const Array<T>& a, const Array<T>& b) {
    return sum(Array<T>(f(a, b) * a).template astype<float>());
  });
  const Array<T> x = array(std::vector<T>{T(0.1f), T(-0.7f), T(1.3f)}),
                 y = array(std::vector<T>{T(2.f), T(0.3f), T(-1.1f)});
  const auto [p, q] = slope(x, y);
  const auto [u, v] = jit(slope)(x, y);
  expect_same(p, u, 1);
  expect_same(q, v, 2);
}
TEST(Types, SixteenBitsAreRoundedAtEachArrayUnderJit) {
  expect_rounds<half>();
  expect_rounds<bfloat16>();
}

TEST(Types, GradientsPassConversionsUnderJit) {
  const auto f = [](const Array<float>& x, const Array<double>& y) {
    const Array<double> wide = x.astype<double>() - y;
    const Array<float> narrow = maximum(wide, y).astype<float>();
    return sum(Array<float>(where(x > 0.5f, narrow, x)));
  };
  const Array<float> x = {0.1f, -0.7f, 1.3f};
  const Array<double> y = {2, 0.3, -1.1};
  const auto slope = grad<0, 1>(f);
  const auto [p, q] = slope(x, y);
  const auto [u, v] = jit(slope)(x, y);
  expect_same(p, u, 1);
  expect_same(q, v, 2);
  const auto t = jvp(f, std::tuple{x, y}, std::tuple{x, y});
  const auto s = jit([&](const Array<float>& a, const Array<double>& b) {
    return jvp(f, std::tuple{a, b}, std::tuple{a, b}).second;
  })(x, y);
  EXPECT_FLOAT_EQ(t.second.item(), s.item());
}

// ---- fusing

template <class T>
std::string program_of_steps() {
  const auto f = [](const Array<T>& a, const Array<T>& b) {
    const Array<T> sum = a + b, product = sum * a, rest = product - b;
    return Array<T>(maximum(rest, a));
  };
  const Array<T> x = ones<T>({8});
  return make_program(f)(x, x).text();
}
TEST(Types, StepsOfOneTypeAreOneLoop) {
  expect_steps(program_of_steps<half>(), 1);
  expect_steps(program_of_steps<bfloat16>(), 1);
  expect_steps(program_of_steps<std::int32_t>(), 1);
  expect_steps(program_of_steps<std::int64_t>(), 1);
  expect_steps(program_of_steps<std::uint8_t>(), 1);
}
TEST(Types, StepsOfSeveralTypesAreOneLoop) {
  const auto f = [](const Array<float>& x, const Array<float>& y) {
    const Array<double> wide = x.astype<double>(), sum = wide * 1.5 + y.astype<double>();
    const Array<std::int32_t> whole = sum.astype<std::int32_t>();
    const Array<bool> mask = whole > 2;
    return Array<float>(where(mask, x, y) + whole.astype<float>());
  };
  const Array<float> x = ones<float>({8});
  expect_steps(make_program(f)(x, x).text(), 1);
}

TEST(Types, StridesBroadcastsNumbersAndEmptyArrays) {
  const auto f = [](const Array<half>& a, const Array<std::int32_t>& k) {
    const Array<half> twice = a + a;
    const Array<std::int32_t> next = k + 1;
    return Array<half>(twice * next.astype<half>());
  };
  const auto fast = jit(f);
  const Array<half> x = arange<float>(12).astype<half>().reshape({3, 4});
  const Array<std::int32_t> k = arange<std::int32_t>(24).reshape({6, 4});
  expect_same(f(x.T(), Array<std::int32_t>(k(slice(0, 4), slice(0, 3)))),
              fast(x.T(), Array<std::int32_t>(k(slice(0, 4), slice(0, 3)))), 1);
  expect_same(f(x, k(slice(none, none, 2))), fast(x, k(slice(none, none, 2))), 2);
  expect_same(f(x, Array<std::int32_t>(5)), fast(x, Array<std::int32_t>(5)), 3);
  expect_same(f(Array<half>(half(3.f)), Array<std::int32_t>(5)),
              fast(Array<half>(half(3.f)), Array<std::int32_t>(5)), 4);
  expect_same(f(zeros<half>({0, 4}), zeros<std::int32_t>({4})),
              fast(zeros<half>({0, 4}), zeros<std::int32_t>({4})), 5);
}

}  // namespace types_test
