#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "nax/nax.hpp"

// Sums so long that naive float accumulation stagnates or drifts.
namespace long_sums {

using nax::Array;

inline constexpr std::int64_t many = 1 << 25;

// One, a tenth (each addition of which rounds the same way), numbers between 0 and 1, and ones of random
// sign.
enum class Terms { ones, tenths, uniform, signs };
inline constexpr Terms all_terms[] = {Terms::ones, Terms::tenths, Terms::uniform, Terms::signs};

inline Array<float> terms(Terms which, const nax::Shape& shape) {
  if (which == Terms::ones) return nax::ones<float>(shape);
  if (which == Terms::tenths) return nax::full(shape, .1f);
  const Array<float> x = nax::random::uniform<float>(nax::random::key(7), shape);
  if (which == Terms::uniform) return x;
  return nax::where(x < .5f, -1.f, 1.f);
}

struct Sums {
  std::vector<double> sums, sizes;
  explicit Sums(std::int64_t n) : sums(static_cast<std::size_t>(n)), sizes(sums) {}
  void add(std::int64_t i, double x) {
    sums[static_cast<std::size_t>(i)] += x;
    sizes[static_cast<std::size_t>(i)] += std::abs(x);
  }
};
// Of a (rows, columns) array, over axis 0 (a sum for each column) or 1.
inline Sums sums_of(const Array<float>& x, std::int64_t rows, std::int64_t columns, int axis) {
  Sums sums(axis == 0 ? columns : rows);
  const float* at = x.data();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) sums.add(axis == 0 ? c : r, double{*at++});
  return sums;
}

// Within 1e-6 of the sum of sizes; exactly where the terms are whole.
inline void expect(const Array<float>& got, const Sums& want, Terms which, const char* what) {
  ASSERT_EQ(got.size(), static_cast<std::int64_t>(want.sums.size())) << what;
  const std::vector<float> values = got.to_vector();
  const bool whole = which == Terms::ones || which == Terms::signs;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(double{values[i]}, want.sums[i], whole ? 0 : 1e-6 * want.sizes[i])
        << what << " of terms " << static_cast<int>(which) << " [" << i << "], in units of all "
        << (double{values[i]} - want.sums[i]) / want.sizes[i];
}

}  // namespace long_sums
