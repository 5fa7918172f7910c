#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "nax/core/format.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/views/copy.hpp"
#include "support/golden.hpp"

// Golden records as arrays, and comparisons with them.
namespace check {

template <class T>
nax::Array<T> input(const std::string& name) {
  const golden::Golden& g = golden::get("ops", name);
  nax::Array<T> a = nax::detail::typed<T>(
      nax::detail::allocate(nax::dtype_of<T>, nax::Frame{nax::Dims(g.shape.begin(), g.shape.end()), {}}));
  T* out = nax::detail::elements<T>(a);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    if constexpr (nax::is_complex_v<T>)
      out[i] =
          T(static_cast<nax::real_t<T>>(g.values[2 * i]), static_cast<nax::real_t<T>>(g.values[2 * i + 1]));
    else
      out[i] = static_cast<T>(g.values[i]);
  }
  return a;
}

template <class T>
const char* tag() {
  constexpr const char* tags[] = {"bool", "i8",  "i16",  "i32", "i64", "u8",  "u16", "u32",
                                  "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
  return tags[static_cast<int>(nax::dtype_of<T>)];
}

inline bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

// `tolerance` in units of T's precision.
template <class R>
void expect(const std::string& name, const nax::Array<R>& got, double tolerance = 16) {
  const golden::Golden& want = golden::get("ops", name + "/out");
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(nax::Dims(want.shape.begin(), want.shape.end())))
      << name;
  EXPECT_STREQ(tag<R>(), want.dtype.c_str()) << name;
  const double unit = std::is_same_v<nax::real_t<R>, double>          ? 1e-15
                      : std::is_same_v<nax::real_t<R>, float>         ? 1.2e-7
                      : std::is_same_v<nax::real_t<R>, nax::half>     ? 1e-3
                      : std::is_same_v<nax::real_t<R>, nax::bfloat16> ? 8e-3
                                                                      : 0;
  const std::vector<R> values = got.to_vector();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const R v = values[i];
    if constexpr (nax::is_complex_v<R>) {
      EXPECT_TRUE(close(v.real(), want.values[2 * i], unit * tolerance)) << name << " [" << i << "]";
      EXPECT_TRUE(close(v.imag(), want.values[2 * i + 1], unit * tolerance)) << name << " [" << i << "]";
    } else {
      EXPECT_TRUE(close(static_cast<double>(v), want.values[i], unit * tolerance))
          << name << " [" << i << "]: " << static_cast<double>(v) << " for " << want.values[i];
    }
  }
}

}  // namespace check
