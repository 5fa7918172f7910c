#pragma once

#include "nax/numpy/creation/creation.hpp"
#include "nax/special/fixed.hpp"

// Integrals of exponentials, sines and logarithms; sums of powers. Real types; integers become float.
NAX_BEGIN
namespace special {

// clang-format off
// The exponential integral: the principal value of the integral of e^t / t up to x.
template <class X> requires Function<X> auto expi(X&& x) { return detail::apply<rules::expi>(std::forward<X>(x)); }
// The integral of log(t) / (1 - t) from 1 to x: the dilogarithm of 1 - x. NaN below 0.
template <class X> requires Function<X> auto spence(X&& x) { return detail::apply<rules::spence>(std::forward<X>(x)); }
// clang-format on

// The integral of e^(-x t) / t^n from 1 on, for whole n and x >= 0. Throws ValueError
// where n is being differentiated.
template <class N, class X>
requires Function<N, X>
auto expn(const N& n, X&& x) {
  return detail::apply<rules::expn>(detail::fixed("expn", "n", n), std::forward<X>(x));
}
// The exponential integral E1, which is expn for n = 1.
template <class X>
requires Function<X>
auto exp1(X&& x) { return detail::apply<rules::expn>(1, std::forward<X>(x)); }

template <class T>
struct SineCosineIntegrals {
  Array<T> si, ci;
};
// The integrals of sin(t) / t over [0, x], and of cos(t) / t up to |x|.
template <class X>
requires Function<X>
auto sici(const X& x_) {
  using R = inexact_t<detail::operand_type_t<X>>;
  const Array<R> x = detail::evaluate(detail::make_expr<rules::add>(detail::as_array(x_), R(0)));
  return SineCosineIntegrals<R>{detail::evaluate(detail::make_expr<rules::sine_integral>(x)),
                                detail::evaluate(detail::make_expr<rules::cosine_integral>(x))};
}

// The sum of (q + k)^-x over k = 0, 1, ..., for x > 1 (infinite at 1, NaN below but for q = 1, where it is
// Riemann's function). Differentiable in both, by x up to five times, below -1/2 once.
template <class X, class Q>
requires Function<X, Q>
auto zeta(X&& x, Q&& q) { return detail::apply<rules::zeta>(0, std::forward<X>(x), std::forward<Q>(q)); }
// Riemann's: the sum of k^-x over k = 1, 2, ... for x > 1, and its continuation below. Differentiable five
// times, below -1/2 once.
template <class X>
requires Function<X>
auto zeta(X&& x) { return detail::apply<rules::zeta>(0, std::forward<X>(x), 1); }

// The first n + 1 of Bernoulli's numbers; B(1) is -1/2. The result has shape (n + 1,). Throws ValueError for
// n < 0.
template <Dtype T = float>
Array<T> bernoulli(std::int64_t n) {
  if (n < 0) raise<ValueError>({"bernoulli: n must be a non-negative integer, got ", n});
  double size = 2;  // 2 (2 k)! / (2 pi)^(2 k)
  return detail::generated<T>("bernoulli", n + 1, [=](std::int64_t k) mutable {
    if (k == 0) return static_cast<T>(1.0);
    if (k % 2 == 1) return static_cast<T>(k == 1 ? -0.5 : 0.0);
    size *= static_cast<double>(k) * static_cast<double>(k - 1) / 39.478417604357434475;
    const double value = size * rules::scalar::zeta<double>(0, static_cast<double>(k), 1);
    return static_cast<T>(k % 4 == 0 ? -value : value);
  });
}

}  // namespace special
NAX_END
