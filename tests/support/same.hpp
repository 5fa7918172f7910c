#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <nax/nax.hpp>

// Expects trees to be equal to the last bit.

template <class T>
T copied(const T& t) {
  return nax::tree::map(
      [](const auto& leaf) {
        if constexpr (nax::is_array_v<decltype(leaf)>)
          return nax::copy(leaf);
        else
          return leaf;
      },
      t);
}
template <class T>
void expect_same(const T& a, const T& b) {
  nax::tree::for_each(
      [](const auto& x, const auto& y) {
        if constexpr (nax::is_array_v<decltype(x)>) {
          ASSERT_EQ(x.shape(), y.shape());
          EXPECT_EQ(std::memcmp(x.data(), y.data(), x.nbytes()), 0);
        } else {
          EXPECT_EQ(x, y);
        }
      },
      a, b);
}
