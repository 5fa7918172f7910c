#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "support/golden.hpp"

// Checks of values and derivatives of elementwise functions, compiled once, in derivatives_test.cpp.
namespace elementwise {

using nax::Array;
using Real = Array<double>;
using Function = std::function<Real(const Real&)>;
using Function2 = std::function<Real(const Real&, const Real&)>;

// First and second derivatives of f, forward and reverse and nested, against differences, at 9 points of
// [low, high].
void expect_derivatives(const char* name, const Function& f, double low, double high);
// Checks both arguments, and mixed derivatives.
void expect_derivatives(const char* name, const Function2& f, double x_low, double x_high, double y_low,
                        double y_high);
// Checks the derivative at a point where difference quotients fail.
void expect_derivative(const char* name, const Function& f, double at, double first,
                       bool also_forward = true);
void expect_second(const char* name, const Function& f, double at, double second);

void expect_close(const std::string& what, const std::vector<double>& got, const std::vector<double>& want,
                  double tolerance, double scale = 0.01);

template <class T>
Array<T> array_of(const std::vector<double>& values, const nax::Shape& shape) {
  Array<T> a = nax::zeros<T>(shape);
  T* out = reinterpret_cast<T*>(nax::detail::raw_data(a));
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); ++i) {
    if constexpr (nax::is_complex_v<T>)
      out[i] = T(static_cast<nax::real_t<T>>(values[2 * i]), static_cast<nax::real_t<T>>(values[2 * i + 1]));
    else
      out[i] = static_cast<T>(values[i]);
  }
  return a;
}
template <class T>
Array<T> array_of(const golden::Golden& g) {
  return array_of<T>(g.values, nax::Shape(g.shape));
}
template <class T>
std::vector<double> numbers(const Array<T>& a) {
  std::vector<double> out;
  for (const T& x : a.to_vector()) {
    if constexpr (nax::is_complex_v<T>) {
      out.push_back(static_cast<double>(x.real()));
      out.push_back(static_cast<double>(x.imag()));
    } else {
      out.push_back(static_cast<double>(x));
    }
  }
  return out;
}

template <class T>
constexpr const char* code() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, double>)
    return "f64";
  else if constexpr (std::is_same_v<T, nax::half>)
    return "f16";
  else if constexpr (std::is_same_v<T, nax::bfloat16>)
    return "bf16";
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return "c64";
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return "c128";
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return "i32";
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return "i64";
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return "i8";
  else
    return "u8";
}
template <class R>
constexpr double tolerance(double ulps) {
  using F = nax::real_t<R>;
  if constexpr (nax::is_inexact_v<R>)
    return ulps * static_cast<double>(std::numeric_limits<F>::epsilon());
  else
    return 0;
}

// All golden records of a function of one or two arguments of type T, values and shape.
template <class T, class R>
void expect_golden(const std::string& name, Array<R> (*f)(const Array<T>&), double ulps = 8) {
  for (const char* tag : {"", ".0d", ".special", ".empty"}) {
    const std::string record = name + tag + "/" + code<T>();
    if (!golden::goldens("ops").count(record + "/out")) continue;
    const auto& want = golden::get("ops", record + "/out");
    const Array<R> got = f(array_of<T>(golden::get("ops", record + "/in0")));
    EXPECT_EQ(got.shape(), nax::Shape(want.shape)) << record;
    expect_close(record, numbers(got), want.values, tolerance<R>(ulps));
  }
}
template <class T, class R>
void expect_golden(const std::string& name, Array<R> (*f)(const Array<T>&, const Array<T>&),
                   double ulps = 8) {
  for (const char* tag : {"", ".broadcast", ".rows", ".scalar", ".0d", ".empty", ".special"}) {
    const std::string record = name + tag + "/" + code<T>();
    if (!golden::goldens("ops").count(record + "/out")) continue;
    const auto& want = golden::get("ops", record + "/out");
    const Array<R> got =
        f(array_of<T>(golden::get("ops", record + "/in0")), array_of<T>(golden::get("ops", record + "/in1")));
    EXPECT_EQ(got.shape(), nax::Shape(want.shape)) << record;
    expect_close(record, numbers(got), want.values, tolerance<R>(ulps));
  }
}

}  // namespace elementwise

// A row of a table: the function of arrays of T, its result an array of R.
#define NAX_ROW(T, R, function) +[](const nax::Array<T>& x) -> nax::Array<R> { return function(x); }
#define NAX_ROW2(T, R, function) \
  +[](const nax::Array<T>& x, const nax::Array<T>& y) -> nax::Array<R> { return function(x, y); }
