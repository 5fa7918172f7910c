// Windows over dilated elements with "SAME" padding: JAX's values.

#include <gtest/gtest.h>

#include "nax/lax/windows.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"

namespace same_padding_test {

TEST(ReduceWindow, SameCountsElementsBeforeTheyAreDilated) {
  const auto add = [](const auto& a, const auto& b) { return a + b; };
  const auto sums = [&](int n, std::int64_t dilation, std::int64_t stride, const char* padding) {
    const nax::Array<float> x = nax::arange<float>(1, n + 1);
    return nax::lax::reduce_window(x, 0.f, add, {3}, {stride}, padding, {.base_dilation = {dilation}})
        .to_vector();
  };
  using V = std::vector<float>;
  EXPECT_EQ(sums(4, 2, 2, "SAME"), (V{3, 5, 7}));
  EXPECT_EQ(sums(4, 2, 2, "SAME_LOWER"), (V{1, 2, 3}));
  EXPECT_EQ(sums(4, 3, 2, "SAME"), (V{1, 2, 3, 3, 4}));
  EXPECT_EQ(sums(5, 2, 3, "SAME"), (V{3, 3, 9}));
  EXPECT_EQ(sums(5, 2, 3, "SAME_LOWER"), (V{1, 5, 4}));
  EXPECT_EQ(sums(5, 2, 1, "SAME"), (V{1, 3, 2, 5, 3, 7, 4, 9, 5}));
  EXPECT_EQ(sums(6, 3, 2, "SAME"), (V{1, 2, 3, 3, 4, 5, 5, 6}));
  EXPECT_EQ(sums(4, 1, 2, "SAME"), (V{6, 7}));
  EXPECT_EQ(sums(5, 2, 2, "VALID"), (V{3, 5, 7, 9}));
}

}  // namespace same_padding_test
