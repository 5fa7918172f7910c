#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "nax/random/key.hpp"
#include "support/golden.hpp"

// Comparing draws with the goldens of jax.random.
namespace draws {

template <class T>
std::vector<double> values(const nax::Array<T>& a) {
  const nax::ArrayBase flat = nax::detail::contiguous(a);
  std::vector<double> out;
  for (std::int64_t i = 0; i < a.size(); ++i)
    out.push_back(static_cast<double>(nax::detail::elements<const T>(flat)[i]));
  return out;
}

inline nax::Shape shape(const golden::Golden& g) { return nax::Shape(g.shape); }

template <class T>
void expect_same(const nax::Array<T>& a, const std::string& name) {
  const golden::Golden& g = golden::get("random", name);
  ASSERT_EQ(a.shape(), shape(g)) << name;
  std::vector<double> expected;  // the text has as many digits as T needs
  for (double v : g.values) expected.push_back(static_cast<double>(static_cast<T>(v)));
  EXPECT_EQ(values(a), expected) << name;
}
inline void expect_same(const nax::random::Key& key, const std::string& name) {
  expect_same(nax::random::key_data(key), name);
}

// 64-bit integers lie in the goldens as pairs of words.
template <class T>
void expect_same_words(const nax::Array<T>& a, const std::string& name) {
  const golden::Golden& g = golden::get("random", name + "/words");
  nax::Shape with_words = a.shape();
  with_words.push_back(2);
  ASSERT_EQ(with_words, shape(g)) << name;
  const nax::ArrayBase flat = nax::detail::contiguous(a);
  for (std::int64_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(
        static_cast<std::uint64_t>(nax::detail::elements<const T>(flat)[i]),
        static_cast<std::uint64_t>(g.values[2 * i]) << 32 | static_cast<std::uint64_t>(g.values[2 * i + 1]))
        << name << " at " << i;
}

// Within `ulp` units in the last place of the larger number, or `absolute`.
template <class T>
void expect_close(const nax::Array<T>& a, const std::string& name, double ulp, double absolute = 0) {
  const golden::Golden& g = golden::get("random", name);
  ASSERT_EQ(a.shape(), shape(g)) << name;
  const double epsilon = std::is_same_v<T, double>          ? 0x1p-52
                         : std::is_same_v<T, float>         ? 0x1p-23
                         : std::is_same_v<T, nax::bfloat16> ? 0x1p-7
                                                            : 0x1p-10;
  const auto v = values(a);
  for (std::size_t i = 0; i < v.size(); ++i) {
    int exponent;
    std::frexp(g.values[i], &exponent);
    EXPECT_NEAR(v[i], g.values[i], std::max(absolute, ulp * std::ldexp(epsilon, exponent - 1)))
        << name << " at " << i;
  }
}

}  // namespace draws
