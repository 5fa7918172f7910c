#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <nax/nax.hpp>
#include <string>

// Functions that jit records.
namespace recorded_once {
using D = nax::Array<double>;

inline void expect_near(const std::string& name, const D& a, const D& b) {
  ASSERT_EQ(a.shape(), b.shape()) << name;
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], y[i], 1e-9 * (1 + std::abs(y[i]))) << name << ", " << i;
}

// Expects f to be called once, and its recording to give f's numbers.
template <class Function>
void expect_recorded_once(const std::string& name, const Function& f, const D& x, const D& y) {
  int calls = 0;
  const auto fast = nax::jit([&](const D& v) { return ++calls, D(f(v)); });
  for (const D& v : {x, y, x}) expect_near(name, fast(v), D(f(v)));
  EXPECT_EQ(calls, 1) << name;
}

}  // namespace recorded_once
