// The gradient of the Cholesky factor in SciPy's form, against JAX's.

#include <gtest/gtest.h>

#include <cmath>

#include "nax/linalg/lu.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/conversion/print.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/transform/grad.hpp"

namespace cho_factor_test {

namespace la = nax::linalg;
using A = nax::Array<double>;

void expect_near(const A& got, const A& want, double tolerance = 1e-12) {
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape()));
  EXPECT_TRUE(nax::all(nax::abs(got - want) <= tolerance * (1 + nax::abs(want))).item())
      << got << "\n is not\n"
      << want;
}

TEST(ChoFactor, GradientIsThatOfEachElement) {
  const A a = {{4, 1, 0.5}, {1, 3, 0.2}, {0.5, 0.2, 2}}, w = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const auto gradient = [&](bool lower) {
    return nax::grad([&](const A& x) { return nax::sum(la::cho_factor(x, {.lower = lower}).c * w); })(a);
  };
  expect_near(gradient(false),
              A{{0.28063293, 0.64587096, 0.21319467},
                {-0.80639606, 1.46062441, 3.52991968},
                {-0.3822713, -0.08821645, 3.2346033}},
              1e-7);
  expect_near(gradient(true),
              A{{0.06729397, -0.95304022, -0.3822713},
                {1.64998247, 1.44417833, -0.08821645},
                {1.91168332, 4.73596506, 3.2346033}},
              1e-7);
  const A unlike = {{4, 1, 0.5}, {1.2, 3, 0.2}, {0.7, 0.1, 2}};
  const A solved = nax::grad(
      [&](const A& x) { return nax::sum(la::cho_solve(la::cho_factor(x, {.lower = true}), w)); })(unlike);
  expect_near(solved,
              A{{0.19983778, 1.49379061, 1.07293854},
                {-1.29440839, -1.56932721, -0.23843079},
                {-1.06580148, -5.84567115, -5.72233887}},
              1e-7);
}

}  // namespace cho_factor_test
