#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/views/copy.hpp"
#include "support/golden.hpp"

// Arrays against numbers, golden records and each other.
namespace compare {

// A golden record as an array of element type T.
template <class T>
nax::Array<T> array_of(const golden::Golden& g) {
  nax::Frame frame;
  frame.shape = nax::Dims(g.shape.begin(), g.shape.end());
  const nax::ArrayBase a = nax::detail::allocate_on_host(nax::dtype_of<T>, frame);
  T* to = nax::detail::elements<T>(a);
  for (std::size_t i = 0; i < g.values.size(); ++i) to[i] = static_cast<T>(g.values[i]);
  return nax::detail::typed<T>(nax::detail::placed(a));
}

// |got - want| <= tolerance * (1 + |want|), and the first difference is named.
inline testing::AssertionResult close(const std::vector<double>& got, const std::vector<double>& want,
                                      double tolerance) {
  if (got.size() != want.size())
    return testing::AssertionFailure() << got.size() << " elements for " << want.size();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i]))))
      return testing::AssertionFailure() << "element " << i << " is " << got[i] << ", not " << want[i];
  return testing::AssertionSuccess();
}

template <class T>
std::vector<double> doubles(const nax::Array<T>& a) {
  const std::vector<T> values = a.to_vector();
  return {values.begin(), values.end()};
}

template <class T>
testing::AssertionResult close(const nax::Array<T>& got, const golden::Golden& want, double tolerance) {
  const nax::Shape shape(want.shape.begin(), want.shape.end());
  if (!(got.shape() == shape))
    return testing::AssertionFailure()
           << "shape " << nax::to_string(got.shape()) << ", not " << nax::to_string(shape);
  return close(doubles(got), want.values, tolerance);
}

template <class T>
testing::AssertionResult close(const nax::Array<T>& got, const nax::Array<T>& want, double tolerance) {
  if (!(got.shape() == want.shape()))
    return testing::AssertionFailure()
           << "shape " << nax::to_string(got.shape()) << ", not " << nax::to_string(want.shape());
  return close(doubles(got), doubles(want), tolerance);
}

}  // namespace compare
