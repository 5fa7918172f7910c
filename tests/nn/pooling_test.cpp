// max_pool against reduce_window, which shares no code with it: windows that cross the padding, and channel
// counts around the block size. Windows that lie in the padding, as JAX has them.

#include <gtest/gtest.h>

#include <limits>

#include "nax/nax.hpp"
#include "support/compare.hpp"

namespace pooling_test {

using nax::Array;

struct Windows {
  nax::Shape window, strides;
  const char* padding;
};

TEST(MaxPool, AgreesWithReduceWindow) {
  const Windows cases[] = {{{2, 2}, {2, 2}, "VALID"},
                           {{3, 2}, {1, 2}, "SAME"},
                           {{2, 3}, {3, 1}, "SAME"},
                           {{3, 3}, {2, 2}, "VALID"}};
  for (const std::int64_t channels : {1, 15, 16, 17, 40})
    for (const Windows& c : cases) {
      const Array<float> x = nax::random::normal(nax::random::key(7), {3, 8, 7, channels});
      const Array<float> got = nax::nn::max_pool(x, c.window, {.strides = c.strides, .padding = c.padding});
      const auto maximum = [](const auto& a, const auto& b) { return nax::maximum(a, b); };
      const auto spread = [](const nax::Shape& s) { return nax::Shape{1, s[0], s[1], 1}; };
      const Array<float> want = nax::lax::reduce_window(x, -std::numeric_limits<float>::infinity(), maximum,
                                                        spread(c.window), spread(c.strides), c.padding);
      EXPECT_TRUE(nax::array_equal(got, want)) << channels << ' ' << c.padding;
    }
}

// Packets of channels choose as single channels do: the first of equal elements, NaN before all others.
TEST(MaxPool, ChoosesAlikeForAnyNumberOfChannels) {
  const std::int64_t channels = 37;
  const nax::nn::PoolOptions options{.strides = {2, 1}, .padding = "SAME"};
  const auto check = [&](auto zero, auto pool) {
    using A = Array<decltype(zero)>;
    A x = nax::random::randint<int>(nax::random::key(1), {2, 9, 7, channels}, 0, 3)
              .template astype<decltype(zero)>();
    x = x.at(0, 4, 3).set(NAN).at(1, 2, 2, 5).set(NAN);
    const A g = nax::random::normal<decltype(zero)>(nax::random::key(2), {2, 5, 7, channels});
    const auto loss = [&](const A& a, const A& b) { return nax::sum(pool(a) * b); };
    const A y = pool(x), pulled = nax::grad(loss)(x, g);
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto one = [&](const A& a) { return A(a(nax::ellipsis, nax::slice(c, c + 1))); };
      EXPECT_TRUE(nax::array_equal(one(y), pool(one(x)), {.equal_nan = true})) << c;
      EXPECT_TRUE(nax::array_equal(one(pulled), nax::grad(loss)(one(x), one(g)), {.equal_nan = true})) << c;
    }
  };
  const auto greatest = [&](const auto& a) { return nax::nn::max_pool(a, {3, 2}, options); };
  const auto least = [&](const auto& a) { return nax::nn::min_pool(a, {3, 2}, options); };
  check(0.f, greatest), check(0., greatest), check(0.f, least), check(0., least);
}

Array<double> padded(const Array<double>& x, bool greatest) {
  const nax::nn::PoolOptions options{.strides = {1, 2}, .padding = {{2, 1}, {3, 4}}};
  return greatest ? nax::nn::max_pool(x, {2, 2}, options) : nax::nn::min_pool(x, {2, 2}, options);
}

TEST(Pools, OfWindowsInThePadding) {
  for (const bool greatest : {true, false}) {
    const std::string name = greatest ? "max_pool_padded" : "min_pool_padded";
    const auto record = [&](const std::string& what) {
      return compare::array_of<double>(golden::get("conv", name + what));
    };
    const auto pool = [&](const Array<double>& x) { return padded(x, greatest); };
    const Array<double> x = record("/f64/in0"), y = record("/f64/out"), g = record("_vjp/f64/in1"),
                        dx = record("_vjp/f64/out");
    EXPECT_TRUE(nax::array_equal(pool(x), y));
    const auto [same, pull] = nax::vjp(pool, x);
    EXPECT_TRUE(compare::close(std::get<0>(pull(g)), dx, 1e-15));
    const auto fast = nax::jit([&](const Array<double>& a, const Array<double>& b) {
      return std::get<0>(nax::vjp(pool, a).second(b));
    });
    for (int turn = 0; turn < 3; ++turn) EXPECT_TRUE(compare::close(fast(x, g), dx, 1e-15));
    const Array<double> pair = nax::stack({x, Array<double>(x * 2.)});
    EXPECT_TRUE(nax::array_equal(nax::vmap(pool)(pair), nax::stack({y, Array<double>(y * 2.)})));
    // The tangent of a number of the type's end is zero.
    const auto [z, tangent] = nax::jvp(pool, std::tuple(x), std::tuple(x));
    EXPECT_TRUE(nax::array_equal(tangent, nax::where(nax::isfinite(y), y, 0.)));
  }
}

TEST(Pools, OfIntegersAndWithoutElements) {
  const Array<std::uint8_t> x = Array<std::uint8_t>{3, 1, 2}.reshape({1, 3, 1});
  const auto list = [](const auto& y) { return nax::copy(y.reshape({-1})).to_vector(); };
  const std::uint8_t end = 255;
  EXPECT_EQ(list(nax::nn::min_pool(x, {2}, {.strides = {3}, .padding = {{5, 7}}})),
            (std::vector<std::uint8_t>{end, end, 1, end, end}));
  EXPECT_EQ(list(nax::nn::max_pool(x, {1}, {.strides = {3}, .padding = {{2, 1}}})),
            (std::vector<std::uint8_t>{0, 1}));
  // All cut off, all in the padding, no element.
  EXPECT_EQ(list(nax::nn::max_pool(x, {2}, {.padding = {{6, -3}}})), (std::vector<std::uint8_t>(5, 0)));
  EXPECT_EQ(list(nax::nn::max_pool(nax::zeros<int>({1, 0, 1}), {2}, {.padding = {{2, 1}}})),
            (std::vector<int>(2, std::numeric_limits<int>::lowest())));
}

}  // namespace pooling_test
