#pragma once

#include <vector>

#include "nax/data.hpp"

namespace nax::testing {

// All elements of a dataset of numbers.
template <class E>
std::vector<E> all_of(const data::Dataset<E>& dataset) {
  std::vector<E> elements;
  for (const E& element : dataset) elements.push_back(element);
  return elements;
}
// The rest of a walk.
template <class E>
std::vector<E> rest_of(data::Iterator<E>&& it) {
  std::vector<E> elements;
  while (auto element = it.next()) elements.push_back(*element);
  return elements;
}

}  // namespace nax::testing
