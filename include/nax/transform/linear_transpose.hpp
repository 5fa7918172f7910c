#pragma once

#include "nax/numpy/creation/creation.hpp"
#include "nax/transform/vjp.hpp"

NAX_BEGIN

// Returns the transpose of a function that is linear in all of its arguments: it maps a tree like f's result
// to a tuple of trees like the arguments, of which only shapes and dtypes count. (Of a function that is not
// linear it is the derivative at zero.)
template <class F, class... X>
auto linear_transpose(const F& f, const X&... x) {
  const auto zero = [](const auto& leaf) {
    if constexpr (is_array_v<decltype(leaf)>)
      return zeros_like(leaf);
    else
      return leaf;
  };
  return vjp(f, tree::map(zero, x)...).second;
}

NAX_END
