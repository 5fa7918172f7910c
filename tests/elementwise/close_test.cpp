#include "nax/numpy/reductions/close.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/indexing/indexing.hpp"

// Elements are compared with NumPy's in the table of functions.

namespace close_test {

using namespace nax;

TEST(Close, WholeArrays) {
  const Array<float> x = {1, 2, std::nanf("")}, near = {1, 2.00001f, std::nanf("")};
  EXPECT_TRUE(array_equal(x, x, {.equal_nan = true}).item());
  EXPECT_FALSE(array_equal(x, x).item());
  EXPECT_FALSE(array_equal(x, near, {.equal_nan = true}).item());
  EXPECT_FALSE(array_equal(Array<int>{1, 1}, Array<int>{1}).item());  // they broadcast, and yet
  EXPECT_TRUE(array_equal(Array<int>{1, 2}, Array<double>{1, 2}).item());
  EXPECT_TRUE(array_equal(zeros({0, 3}), zeros({0, 3})).item());
  EXPECT_FALSE(array_equal(zeros({0, 3}), zeros({0, 4})).item());

  EXPECT_TRUE(allclose(x, near, {.equal_nan = true}).item());
  EXPECT_FALSE(allclose(x, near).item());
  EXPECT_FALSE(allclose(x(0), near(1)).item());
  EXPECT_TRUE(allclose(zeros({0}), 1).item());
  EXPECT_TRUE(allclose(ones({2, 3}) + 1e-6f, 1).item());
  EXPECT_THROW(allclose(zeros({2}), zeros({3})), ShapeError);
}

}  // namespace close_test
