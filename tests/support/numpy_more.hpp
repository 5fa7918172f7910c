#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "support/golden.hpp"

// The records of numpy_more.txt as arrays, and comparisons with them.
namespace more {

template <class T = double>
nax::Array<T> record(const std::string& name) {
  const golden::Golden& g = golden::get("numpy_more", name);
  nax::Array<T> a = nax::detail::typed<T>(
      nax::detail::allocate(nax::dtype_of<T>, nax::Frame{nax::Dims(g.shape.begin(), g.shape.end()), {}}));
  T* out = nax::detail::elements<T>(a);
  for (std::size_t i = 0, n = static_cast<std::size_t>(a.size()); i < n; ++i) {
    if constexpr (nax::is_complex_v<T>)
      out[i] = T(g.values[2 * i], g.values[2 * i + 1]);
    else
      out[i] = static_cast<T>(g.values[i]);
  }
  return a;
}

inline bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

template <class T>
void expect(const std::string& name, const nax::Array<T>& got, double tolerance = 1e-13) {
  const golden::Golden& want = golden::get("numpy_more", name);
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(nax::Dims(want.shape.begin(), want.shape.end())))
      << name;
  const std::vector<T> values = got.to_vector();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (nax::is_complex_v<T>) {
      EXPECT_TRUE(close(values[i].real(), want.values[2 * i], tolerance) &&
                  close(values[i].imag(), want.values[2 * i + 1], tolerance))
          << name << " [" << i << "]: " << values[i].real() << ' ' << values[i].imag();
    } else {
      EXPECT_TRUE(close(static_cast<double>(values[i]), want.values[i], tolerance))
          << name << " [" << i << "]: " << static_cast<double>(values[i]) << " for " << want.values[i];
    }
  }
}

}  // namespace more
