#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <nax/nax.hpp>

namespace program_tests {

// Compares the results of a random program with jit and without; `seed` names it.
inline void expect_equal(const nax::Array<double>& a, const nax::Array<double>& b, unsigned seed) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], y[i], 1e-9 * (1 + std::abs(y[i]))) << "program " << seed << ", element " << i;
}

}  // namespace program_tests
