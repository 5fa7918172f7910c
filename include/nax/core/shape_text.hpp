#pragma once

#include <cstdint>
#include <string>

#include "nax/core/abi.hpp"

// Shapes as Python prints tuples: (), (3,), (2, 3).
NAX_BEGIN

template <class Iterator>
std::string shape_text(Iterator first, Iterator last) {
  std::string text = "(";
  std::size_t count = 0;
  for (; first != last; ++first, ++count) {
    if (count > 0) text += ", ";
    text += std::to_string(*first);
  }
  if (count == 1) text += ',';
  return text += ')';
}

inline std::string shape_text(const std::int64_t* shape, int ndim) { return shape_text(shape, shape + ndim); }

template <class Range>
requires requires(const Range& r) {
  r.begin();
  r.end();
}
std::string shape_text(const Range& shape) { return shape_text(shape.begin(), shape.end()); }

NAX_END
