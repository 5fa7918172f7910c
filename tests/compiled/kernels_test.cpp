// The engine holds the kernels of every element type that public functions take: this program links.
#include <gtest/gtest.h>

#include <complex>
#include <nax/nax.hpp>

namespace kernels_test {
using namespace nax;

template <class T>
Array<T> three() {
  return Array<T>{T(3), T(1), T(2)};
}

template <class T>
void expect_ordered() {
  const Array<T> x = three<T>();
  EXPECT_EQ(double(max(x).item()), 3) << x;
  EXPECT_EQ(double(min(x).item()), 1) << x;
  EXPECT_EQ(argmax(x).item(), 0) << x;
  EXPECT_EQ(double(sort(x)(0).item()), 1) << x;
  EXPECT_EQ(argsort(x)(0).item(), 1) << x;
  EXPECT_EQ(double(partition(x, 0)(0).item()), 1) << x;
  EXPECT_EQ(argpartition(x, 0)(0).item(), 1) << x;
  EXPECT_EQ(double(lax::top_k(x, 1).values(0).item()), 3) << x;
  EXPECT_EQ(searchsorted(sort(x), x)(0).item(), 2) << x;
  EXPECT_EQ(double(median(x).item()), 2) << x;
  EXPECT_EQ(double(lax::cummax(x)(2).item()), 3) << x;
}
// Values are compared as numbers: types of results differ.
template <class T>
void expect_sums() {
  const Array<T> x = three<T>();
  const auto is = [](const auto& value, double expected) {
    return std::abs(std::complex<double>(value.template astype<std::complex<double>>().item()) - expected) <
           .1;
  };
  EXPECT_TRUE(is(sum(x), 6) && is(prod(x), 6) && is(mean(x), 2)) << x;
  EXPECT_TRUE(is(cumsum(x)(2), 6) && is(cumprod(x)(2), 6)) << x;
  EXPECT_TRUE(is(bincount(Array<int>{0, 0, 0}, x)(0), 6)) << x;
  EXPECT_TRUE(is(dot(x, x), 14) && is(convolve(x, x)(0), 9)) << x;
  EXPECT_TRUE(is(var(x), .667) && is(average(x), 2)) << x;
  EXPECT_TRUE(any(x).item() && all(x).item()) << x;
}
template <class T>
void expect_counts() {
  EXPECT_EQ(bincount(three<T>())(3).item(), 1);
  EXPECT_EQ(random::bits<std::make_unsigned_t<T>>(random::key(1), {2}).size(), 2);
  EXPECT_EQ(random::randint<T>(random::key(1), {2}, 0, 3).size(), 2);
}
template <class T>
void expect_draws() {
  EXPECT_EQ(random::normal<T>(random::key(1), {2}).size(), 2);
  EXPECT_EQ(random::uniform<T>(random::key(1), {2}).size(), 2);
  EXPECT_EQ(random::gamma<T>(random::key(1), 2., {2}).size(), 2);
}

template <class... T, class F>
void for_types(const F& f) {
  (f.template operator()<T>(), ...);
}

TEST(Kernels, OfWholeNumbersAreHeld) {
  for_types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
            std::uint64_t>([]<class T>() {
    expect_ordered<T>();
    expect_sums<T>();
    expect_counts<T>();
  });
}
TEST(Kernels, OfFloatingTypesAreHeld) {
  for_types<half, bfloat16, float, double>([]<class T>() {
    expect_ordered<T>();
    expect_sums<T>();
    expect_draws<T>();
  });
  expect_sums<std::complex<float>>();
  expect_sums<std::complex<double>>();
}

}  // namespace kernels_test
