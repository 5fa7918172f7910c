#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/indexing/select.hpp"
#include "nax/rules/activations.hpp"
#include "nax/special/special.hpp"

// The activations of jax.nn.
NAX_BEGIN
namespace nn {

// clang-format off
// The derivative at 0 is 0, at 6 too.
template <class X> requires Function<X> auto relu(X&& x) { return detail::apply<rules::relu>(std::forward<X>(x)); }
// x clipped to [0, 6].
template <class X> requires Function<X> auto relu6(X&& x) { return detail::apply<rules::relu6>(std::forward<X>(x)); }
// 1 / (1 + e^-x)
template <class X> requires Function<X> auto sigmoid(X&& x) { return detail::apply<rules::expit>(std::forward<X>(x)); }
// The logarithm of the sigmoid, without overflow.
template <class X> requires Function<X> auto log_sigmoid(X&& x) { return detail::apply<rules::log_expit>(std::forward<X>(x)); }
// x sigmoid(x)
template <class X> requires Function<X> auto silu(X&& x) { return detail::apply<rules::silu>(std::forward<X>(x)); }
// x times sigmoid(x). As silu.
template <class X> requires Function<X> auto swish(X&& x) { return detail::apply<rules::silu>(std::forward<X>(x)); }
// log(1 + e^x)
template <class X> requires Function<X> auto softplus(X&& x) { return detail::apply<rules::softplus>(std::forward<X>(x)); }
// x / (1 + |x|)
template <class X> requires Function<X> auto soft_sign(X&& x) { return detail::apply<rules::soft_sign>(std::forward<X>(x)); }
// x clipped to [-1, 1].
template <class X> requires Function<X> auto hard_tanh(X&& x) { return detail::apply<rules::hard_tanh>(std::forward<X>(x)); }
// The scaled exponential linear unit (Klambauer and others 2017).
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

// Of relu6, so without exponentials: hard_sigmoid(x) = relu6(x + 3) / 6, hard_silu(x) = x hard_sigmoid(x).
template <class X>
requires Function<X>
auto hard_sigmoid(X&& x) { return relu6(std::forward<X>(x) + 3) / 6; }
// x times hard_sigmoid(x).
template <detail::ArrayLike X>
auto hard_silu(const X& x_) {
  const auto x = detail::as_array(x_);
  return x * hard_sigmoid(x);
}
// x times hard_sigmoid(x). As hard_silu.
template <detail::ArrayLike X>
auto hard_swish(const X& x) {
  return hard_silu(x);
}
// x tanh(softplus(x))
template <detail::ArrayLike X>
auto mish(const X& x_) {
  const auto x = detail::as_array(x_);
  return x * tanh(softplus(x));
}

// x, or slope * x up to 0; the slope, which is learned, broadcasts: one for all, or one for each channel.
template <detail::ArrayLike X, detail::ArrayLike S>
auto prelu(const X& x_, const S& slope_) {
  const auto x = detail::as_array(x_);
  const auto slope = detail::as_array(slope_);
  return where(x > 0, x, slope * x);
}

struct SquareplusOptions {
  double b = 4;
};
// (x + sqrt(x^2 + b)) / 2
template <detail::ArrayLike X>
auto squareplus(const X& x_, SquareplusOptions options = {}) {
  const auto x = detail::as_array(x_);
  return (x + sqrt(square(x) + options.b)) / 2;
}
// 0 up to -1, x from 1 on, (x + 1)^2 / 4 between; its derivative is sparse_sigmoid.
template <detail::ArrayLike X>
auto sparse_plus(const X& x_) {
  const auto x = detail::as_array(x_);
  return where(x <= -1, x * 0, where(x >= 1, x, square(x + 1) / 4));
}
// 0 up to -1, 1 from 1 on, (x + 1) / 2 between.
template <detail::ArrayLike X>
auto sparse_sigmoid(const X& x_) {
  const auto x = detail::as_array(x_);
  return clip((x + 1) / 2, 0, 1);
}
// log(1 - e^-x) for x > 0, accurate at both ends.
template <detail::ArrayLike X>
auto log1mexp(const X& x_) {
  const auto x = detail::as_array(x_);
  return where(x < 0.6931471805599453, log(-expm1(-x)), log1p(-exp(-x)));
}
// x, as it is.
template <class X>
requires Function<X>
auto identity(X&& x) { return +std::forward<X>(x); }

struct GluOptions {
  std::int64_t axis = -1;
};
// The first half of x along `axis`, times the sigmoid of the second. The result has the shape of x with half
// the extent along `axis`. Throws ShapeError for an odd extent.
template <detail::ArrayLike X>
auto glu(const X& x_, GluOptions options = {}) {
  const auto x = detail::as_array(x_);
  detail::check_operand("glu", x);
  const int axis = detail::normalize_axis("glu", options.axis, x.ndim());
  const std::int64_t n = x.shape(axis);
  if (n % 2 != 0) raise<ShapeError>({"glu: axis ", axis, " must have an even extent, shape ", x.shape()});
  const auto half = [&](std::int64_t start) {
    auto s = detail::Selection::all(detail::layout_of(x));
    s.start[static_cast<std::size_t>(axis)] = start;
    s.count[static_cast<std::size_t>(axis)] = n / 2;
    return detail::get(x, s);
  };
  return half(0) * sigmoid(half(n / 2));
}

}  // namespace nn
NAX_END
