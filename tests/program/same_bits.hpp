#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <nax/nax.hpp>
#include <vector>

namespace program_tests {

template <class T>
bool has_same_bits(T a, T b) {
  if constexpr (nax::is_floating_v<T>)
    if (a != a && b != b) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}
// Compares arrays bit by bit, but for those of NaN; `seed` names a program.
template <class T>
void expect_same(const nax::Array<T>& a, const nax::Array<T>& b, unsigned seed) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(has_same_bits<T>(x[i], y[i]))
        << "program " << seed << ", element " << i << " of " << nax::dtype_of<T> << ": " << double(x[i])
        << " and " << double(y[i]);
}

}  // namespace program_tests
