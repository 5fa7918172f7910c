#pragma once

#include "nax/nn/activations.hpp"
#include "nax/nn/linear_product.hpp"
#include "nax/nn/normalization.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/random/integers.hpp"

// Layers as plain functions of their parameters.
NAX_BEGIN
namespace detail {

template <class T, class... A>
constexpr bool all_arrays_of = (std::is_same_v<std::remove_cvref_t<A>, Array<T>> && ...);

// The activation of x w + b, plus `added` where it is given. On a GPU, in one launch where it has a kernel
// for that; an array without a buffer where not.
template <class T>
Array<T> linear_in_one(const Array<T>& x, const Array<T>& w, const Array<T>& b, loops::Activation activation,
                       const Array<T>* added = nullptr) {
  if (x.ndim() > 2 && w.ndim() == 2 && layout_of(x).is_contiguous() && layout_of(x).size() > 0) {
    Shape shape = x.shape();
    shape.back() = w.shape(1);
    if (added && added->shape() != shape) return typed<T>(ArrayBase());
    const Array<T> rows = added ? Array<T>(added->reshape({-1, w.shape(1)})) : typed<T>(ArrayBase());
    const Array<T> y =
        linear_in_one(Array<T>(x.reshape({-1, x.shape(-1)})), w, b, activation, added ? &rows : nullptr);
    return ArrayAccess::buffer(y) ? y.reshape(shape) : y;
  }
  const LinearParts parts{x, w, b, added};
  const bool recorded = is_recorded(x) || is_recorded(w) || is_recorded(b) || (added && is_recorded(*added));
  LinearProduct made = linear_product(parts, activation, recorded);
  if (ArrayAccess::buffer(made.result) && recorded) {
    record_linear(made.before, parts);
    switch (activation) {
      case loops::Activation::identity:
        made.result = made.before;
        break;
      case loops::Activation::relu:
        record_activation<rules::relu, T>(made.result, made.before);
        break;
      case loops::Activation::gelu:
        record_activation<rules::gelu_tanh, T>(made.result, made.before);
        break;
      case loops::Activation::gelu_exact:
        record_activation<rules::gelu, T>(made.result, made.before);
        break;
    }
  }
  return typed<T>(std::move(made.result));
}

}  // namespace detail
namespace nn {

// x w + b: x of shape (..., n), w (n, m), b (m,). The result has shape (..., m).
template <detail::ArrayLike X, detail::ArrayLike W, detail::ArrayLike B>
auto linear(const X& x, const W& w, const B& b) {
  return matmul(x, w) + b;
}

// Applied by linear() to its result: `identity`, `relu`, `gelu` (by tanh, as JAX's default; `gelu_tanh` is
// the same value), or `gelu_exact` (by erf, as PyTorch's default).
using Activation = loops::Activation;

// The activation of x w + b, as an array: x of shape (..., n), w (n, m), b (m,); integers become floating.
// The result has shape (..., m). On a GPU it is one product whose last step adds the bias and applies the
// activation, and the gradients of w and b are one product (cuBLASLt; float, half and bfloat16, where it has
// a kernel). Throws ShapeError if shapes do not fit.
template <detail::ArrayLike X, detail::ArrayLike W, detail::ArrayLike B>
auto linear(const X& x_, const W& w_, const B& b_, Activation activation) {
  const auto x = detail::as_array(x_);
  const auto w = detail::as_array(w_);
  const auto b = detail::as_array(b_);
  using Sum = typename std::remove_cvref_t<decltype(linear(x, w, b))>::value_type;
  using T = inexact_t<Sum>;
  if constexpr (!std::is_same_v<Sum, T>) {
    return linear(x.template astype<T>(), w.template astype<T>(), b.template astype<T>(), activation);
  } else {
    if constexpr (detail::all_arrays_of<T, decltype(x), decltype(w), decltype(b)> && !is_complex_v<T>)
      if (detail::accelerators_present)
        if (Array<T> y = detail::linear_in_one(x, w, b, activation); detail::ArrayAccess::buffer(y)) return y;
    const auto z = linear(x, w, b);
    switch (activation) {
      case Activation::identity:
        break;
      case Activation::relu:
        return Array<T>(relu(z));
      case Activation::gelu:
        return Array<T>(gelu(z));
      case Activation::gelu_exact:
        if constexpr (!is_complex_v<T>) return gelu(z, {.approximate = false});
        raise<TypeError>({"linear: gelu_exact is defined for real numbers"});
    }
    return Array<T>(z);
  }
}

// y + x w + b, as an array: y of shape (..., m), x (..., n), w (n, m), b (m,). On a GPU it is one product
// whose last step adds the bias and y (as linear()). Throws ShapeError if shapes do not fit.
template <class T>
Array<T> add_linear(const Array<T>& y, const Array<T>& x, const Array<T>& w, const Array<T>& b) {
  if constexpr (std::is_same_v<inexact_t<T>, T> && !is_complex_v<T>)
    if (detail::accelerators_present)
      if (Array<T> z = detail::linear_in_one(x, w, b, Activation::identity, &y); detail::holds_value(z))
        return z;
  return Array<T>(y + linear(x, w, b));
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
