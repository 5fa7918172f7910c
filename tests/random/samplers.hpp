#pragma once

#include <nax/nax.hpp>

#include "random/draws.hpp"

// Comparing samplers with the goldens of make_samplers.py.
namespace samplers {
using nax::Array;

// Tolerates rounding where one compiler fuses operations and the other does not.
template <class T>
void expect_close(const Array<T>& a, const std::string& name, double relative, double absolute = 0) {
  const golden::Golden& g = golden::get("samplers", name);
  ASSERT_EQ(a.shape(), draws::shape(g)) << name;
  const auto v = draws::values(a);
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (g.values[i] != g.values[i]) {
      EXPECT_TRUE(v[i] != v[i]) << name << " at " << i;
    } else if (v[i] != g.values[i]) {  // (infinities)
      EXPECT_NEAR(v[i], g.values[i], absolute + relative * std::abs(g.values[i])) << name << " at " << i;
    }
  }
}
template <class T>
void expect_same(const Array<T>& a, const std::string& name) {
  expect_close(a, name, 0);
}

// No point of the table may be further from the share of draws up to there than chance allows: beyond 2 /
// sqrt(n) once in 1500.
template <class T>
void expect_distribution(const Array<T>& drawn, const std::string& name) {
  const golden::Golden& g = golden::get("samplers", "cdf/" + name);
  auto v = draws::values(drawn);
  std::sort(v.begin(), v.end());
  const std::size_t points = g.values.size() / 2;
  for (std::size_t i = 0; i < points; ++i) {
    const auto below = std::upper_bound(v.begin(), v.end(), g.values[i] + 1e-9) - v.begin();
    EXPECT_NEAR(static_cast<double>(below) / static_cast<double>(v.size()), g.values[points + i],
                2 / std::sqrt(static_cast<double>(v.size())))
        << name << " at " << g.values[i];
  }
}

// The text of the error that f throws.
template <class F>
std::string text_of(const F& f) {
  try {
    f();
  } catch (const nax::Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace samplers
