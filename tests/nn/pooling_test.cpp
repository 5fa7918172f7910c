// max_pool against reduce_window, which shares no code with it: windows that cross the padding, and channel
// counts around the block size.

#include <gtest/gtest.h>

#include <limits>

#include "nax/nax.hpp"

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

}  // namespace pooling_test
