// Functions that JAX has in lax and nax beside NumPy's have both names.

#include <gtest/gtest.h>

#include "nax/nax.hpp"

namespace lax_names_test {
using namespace nax;

TEST(LaxNames, StopGradient) {
  const Array<float> x = {1, 2, 3};
  const auto f = [](const Array<float>& x) { return sum(x * lax::stop_gradient(x)); };
  EXPECT_TRUE(array_equal(grad(f)(x), x));
}

TEST(LaxNames, TopK) {
  const auto [values, places] = lax::top_k(Array<float>{3, 1, 2}, 2);
  EXPECT_TRUE(array_equal(values, Array<float>{3, 2}));
  EXPECT_TRUE(array_equal(places, Array<int>{0, 2}));
}

TEST(LaxNames, Collectives) {
  const Array<float> x = {1, 2, 6};
  const auto f = [](const Array<float>& x) {
    return std::tuple(lax::psum(x, "i"), lax::pmean(x, "i"), lax::pmax(x, "i"), lax::pmin(x, "i"));
  };
  const auto [sums, means, largest, smallest] = vmap(f, {.axis_name = "i"})(x);
  EXPECT_TRUE(array_equal(sums, full<float>({3}, 9)));
  EXPECT_TRUE(array_equal(means, full<float>({3}, 3)));
  EXPECT_TRUE(array_equal(largest, full<float>({3}, 6)));
  EXPECT_TRUE(array_equal(smallest, full<float>({3}, 1)));
}

TEST(LaxNames, UsableBesideThoseOfNax) {
  using namespace nax::lax;
  EXPECT_EQ(stop_gradient(Array<float>{2}).item(), 2);
}

}  // namespace lax_names_test
