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

}  // namespace pooling_test
