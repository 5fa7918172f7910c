#pragma once

#include "nax/nn/normalization.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/random/integers.hpp"

// Layers as plain functions of their parameters.
NAX_BEGIN
namespace nn {

// x w + b: x of shape (..., n), w (n, m), b (m,). The result has shape (..., m).
template <detail::ArrayLike X, detail::ArrayLike W, detail::ArrayLike B>
auto linear(const X& x, const W& w, const B& b) {
  return matmul(x, w) + b;
}

// Each element is zero with probability `rate`, the others are larger by as much as makes the mean stay. The
// result has the shape of x. Throws ValueError unless 0 <= rate < 1.
template <detail::ArrayLike X>
auto dropout(const random::Key& key, double rate, const X& x) {
  if (!(rate >= 0 && rate < 1))
    raise<ValueError>({"dropout: the rate must be at least 0 and below 1, got ", rate});
  using T = typename X::value_type;
  return where(random::bernoulli(key, 1 - rate, x.shape()), x * static_cast<T>(1 / (1 - rate)), T(0));
}

}  // namespace nn
NAX_END
