#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "nax/linalg.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/transform/grad.hpp"
#include "support/golden.hpp"

// linalg against the records of make_linalg.py, for one element type a file.
namespace linalg_records {

using nax::Array;
namespace la = nax::linalg;

template <class T>
constexpr const char* code() {
  if (std::is_same_v<T, float>) return "f32";
  if (std::is_same_v<T, double>) return "f64";
  return std::is_same_v<T, std::complex<float>> ? "c64" : "c128";
}

template <class T>
std::vector<double> numbers(const Array<T>& x) {
  std::vector<double> out;
  for (const T value : x.to_vector()) {
    if constexpr (nax::is_complex_v<T>) {
      out.push_back(static_cast<double>(value.real()));
      out.push_back(static_cast<double>(value.imag()));
    } else {
      out.push_back(static_cast<double>(value));
    }
  }
  return out;
}

// The records of one function for element type T: f(record) for every case that there is.
template <class T>
class Records {
 public:
  template <class F>
  static void each(const std::string& function, const std::vector<std::string>& cases, const F& f) {
    int met = 0;
    for (const std::string& c : cases) {
      const std::string record = function + (c.empty() ? "" : "." + c) + "/" + code<T>();
      if (!golden::goldens("linalg").count(record + "/in0")) continue;
      ++met;
      SCOPED_TRACE(record);
      EXPECT_NO_THROW(f(record));
    }
    EXPECT_GT(met, 0) << "no record of " << function << " in " << code<T>();
  }
  static Array<T> in(const std::string& record, int i = 0) {
    const golden::Golden& g = golden::get("linalg", record + "/in" + std::to_string(i));
    const nax::ArrayBase a = nax::detail::allocate_on_host(
        nax::dtype_of<T>, nax::Frame{nax::Dims(g.shape.begin(), g.shape.end()), {}});
    const bool pairs = g.dtype[0] == 'c';
    T* to = nax::detail::elements<T>(a);
    for (std::size_t k = 0; k < g.values.size() / (pairs ? 2 : 1); ++k) {
      if constexpr (nax::is_complex_v<T>)
        to[k] = pairs ? T(static_cast<nax::real_t<T>>(g.values[2 * k]),
                          static_cast<nax::real_t<T>>(g.values[2 * k + 1]))
                      : T(static_cast<nax::real_t<T>>(g.values[k]));
      else
        to[k] = static_cast<T>(g.values[k]);
    }
    return nax::detail::typed<T>(a);
  }
  // The result, or the results in order.
  template <class... R>
  static void expect(const std::string& record, const Array<R>&... results) {
    int i = 0;
    (expect_one(record + "/out" + (sizeof...(R) > 1 ? std::to_string(i++) : ""), results), ...);
  }

 private:
  template <class R>
  static void expect_one(const std::string& name, const Array<R>& got) {
    const golden::Golden& want = golden::get("linalg", name);
    ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(nax::Dims(want.shape.begin(), want.shape.end())))
        << name;
    const std::vector<double> values = numbers(got);
    ASSERT_EQ(values.size(), want.values.size()) << name;
    double size = 1;
    for (const double v : want.values)
      if (std::isfinite(v)) size = std::max(size, std::abs(v));
    const double tolerance = sizeof(nax::real_t<T>) == 4 ? 3e-4 : 3e-12;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == want.values[i]) continue;
      if (std::abs(values[i] - want.values[i]) <= tolerance * size) continue;
      ADD_FAILURE() << name << ": element " << i << " is " << values[i] << ", not " << want.values[i];
      return;
    }
  }
};

// A product of factors is the matrix.
template <class T>
void expect_equal(const Array<T>& got, const Array<T>& want) {
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape()));
  const std::vector<double> a = numbers(got), b = numbers(want);
  const double tolerance = sizeof(nax::real_t<T>) == 4 ? 3e-4 : 3e-12;
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_LE(std::abs(a[i] - b[i]), tolerance * (1 + std::abs(b[i]))) << i;
}

}  // namespace linalg_records
