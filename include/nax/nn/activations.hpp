#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/rules/activations.hpp"
#include "nax/special/special.hpp"

// The activations of jax.nn.
namespace nax::inline NAX_ABI::nn {

// clang-format off
// The derivative at 0 is 0, at 6 too.
template <class X> requires Function<X> auto relu(X&& x) { return detail::apply<rules::relu>(std::forward<X>(x)); }
template <class X> requires Function<X> auto relu6(X&& x) { return detail::apply<rules::relu6>(std::forward<X>(x)); }
// 1 / (1 + e^-x)
template <class X> requires Function<X> auto sigmoid(X&& x) { return detail::apply<rules::expit>(std::forward<X>(x)); }
template <class X> requires Function<X> auto log_sigmoid(X&& x) { return detail::apply<rules::log_expit>(std::forward<X>(x)); }
// x sigmoid(x)
template <class X> requires Function<X> auto silu(X&& x) { return detail::apply<rules::silu>(std::forward<X>(x)); }
template <class X> requires Function<X> auto swish(X&& x) { return detail::apply<rules::silu>(std::forward<X>(x)); }
// log(1 + e^x)
template <class X> requires Function<X> auto softplus(X&& x) { return detail::apply<rules::softplus>(std::forward<X>(x)); }
// x / (1 + |x|)
template <class X> requires Function<X> auto soft_sign(X&& x) { return detail::apply<rules::soft_sign>(std::forward<X>(x)); }
template <class X> requires Function<X> auto hard_tanh(X&& x) { return detail::apply<rules::hard_tanh>(std::forward<X>(x)); }
template <class X> requires Function<X> auto selu(X&& x) { return detail::apply<rules::selu>(std::forward<X>(x)); }

struct LeakyReluOptions {
  double negative_slope = 0.01;
};
// x, or negative_slope * x below 0.
template <class X> requires Function<X> auto leaky_relu(X&& x, LeakyReluOptions options = {}) { return detail::apply<rules::leaky_relu>(std::forward<X>(x), options.negative_slope); }

struct EluOptions {
  double alpha = 1;
};
// x, or alpha (e^x - 1) below 0.
template <class X> requires Function<X> auto elu(X&& x, EluOptions options = {}) { return detail::apply<rules::elu>(std::forward<X>(x), options.alpha); }
// x, or alpha (e^(x / alpha) - 1) below 0.
template <class X> requires Function<X> auto celu(X&& x, EluOptions options = {}) { return detail::apply<rules::celu>(std::forward<X>(x), options.alpha); }

// x times the normal distribution function of x, by JAX's approximation with tanh.
template <class X> requires Function<X> auto gelu(X&& x) { return detail::apply<rules::gelu_tanh>(std::forward<X>(x)); }
// clang-format on

struct GeluOptions {
  bool approximate = true;
};
// The choice is made while the program runs, so the result is an array, not an expression.
template <class X>
requires Function<X>
auto gelu(X&& x, GeluOptions options) {
  using Result = Array<inexact_t<detail::operand_type_t<X>>>;
  if (options.approximate) return Result(detail::apply<rules::gelu_tanh>(std::forward<X>(x)));
  return Result(detail::apply<rules::gelu>(std::forward<X>(x)));
}

}  // namespace nax::inline NAX_ABI::nn
