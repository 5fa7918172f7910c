#pragma once

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/random/continuous.hpp"
#include "nax/random/integers.hpp"
#include "nax/random/parameters.hpp"
#include "nax/rules/gamma_sample.hpp"

// The gamma distribution, and those made of it. Draws are JAX's (each element has a key of its own, from
// split), and have derivatives by the parameters, twice. The type of a draw is that of the parameters, or the
// one asked for: gamma<float>(key, 2, {3}). Without a shape it is the parameters'. Throws ShapeError where
// the parameters do not broadcast to the shape. A parameter out of its domain gives NaN or nonsense, as in
// JAX.
NAX_BEGIN

// Overloads for recorded values, which derivatives call.
template <class T>
Recorded<T> gamma_slope_at(const Recorded<T>& alpha, const Recorded<T>& log_x) {
  return detail::apply<rules::gamma_slope>(alpha, log_x);
}
template <class T>
Recorded<T> gamma_slope_second_at(const Recorded<T>& alpha, const Recorded<T>& log_x) {
  return detail::apply<rules::gamma_slope_second>(alpha, log_x);
}
template <class T>
Recorded<T> gamma_slope_along_at(const Recorded<T>& alpha, const Recorded<T>& log_x) {
  return detail::apply<rules::gamma_slope_along>(alpha, log_x);
}

namespace random {
namespace detail {

// Draws, or their logarithms, for alpha that broadcasts to the shape.
template <class T>
Array<T> draw_gammas(const char* function, const Key& key, const Array<T>& alpha, const Shape& shape,
                     bool logarithm) {
  check_parameters(function, shape, alpha);
  if constexpr (!std::is_same_v<T, float> && !std::is_same_v<T, double>) {
    return draw_gammas<float>(function, key, as_type<float>(alpha), shape, logarithm).template astype<T>();
  } else {
    const Array<T> drawn = logarithm ? draw_sampled<Sampler::loggamma, T>(function, key, shape, alpha)
                                     : draw_sampled<Sampler::gamma, T>(function, key, shape, alpha);
    if (!watched(alpha)) return drawn;
    return logarithm ? evaluate(make_expr<rules::loggamma_draw>(alpha, drawn))
                     : evaluate(make_expr<rules::gamma_draw>(alpha, drawn));
  }
}

}  // namespace detail

// Density x^(a - 1) e^-x / Gamma(a). Of shape `shape`, or that of `a`. Throws ShapeError if `a` does not
// broadcast to `shape`, and ValueError for more than one key.
template <class T = void, class A = Array<float>>
auto gamma(const Key& key, const A& a, const Shape& shape) {
  using R = detail::sample_t<T, A>;
  return detail::draw_gammas("gamma", key, detail::parameter<R>("gamma", a), shape, false);
}
// Logarithms of gamma draws, which are accurate where the draws of a small `a` underflow. Of shape `shape`,
// or that of `a`. Throws ShapeError if `a` does not broadcast to `shape`, and ValueError for more than one
// key.
template <class T = void, class A = Array<float>>
auto loggamma(const Key& key, const A& a, const Shape& shape) {
  using R = detail::sample_t<T, A>;
  return detail::draw_gammas("loggamma", key, detail::parameter<R>("loggamma", a), shape, true);
}

// Density x^(a - 1) (1 - x)^(b - 1) / B(a, b). Of shape `shape`, or what a and b broadcast to. Throws
// ShapeError if a or b does not broadcast to `shape`, and ValueError for more than one key.
template <class T = void, class A = Array<float>, class B = Array<float>>
auto beta(const Key& key, const A& a_, const B& b_, const Shape& shape) {
  using R = detail::sample_t<T, A, B>;
  const Array<R> alpha = detail::parameter<R>("beta", a_), beta = detail::parameter<R>("beta", b_);
  const nax::detail::ComputeOn there(nax::detail::device_for("beta", alpha, beta));
  const auto [key_a, key_b] = split(key);
  const Array<R> a = detail::draw_gammas("beta", key_a, alpha, shape, true);
  const Array<R> b = detail::draw_gammas("beta", key_b, beta, shape, true);
  const Array<R> most = nax::maximum(a, b), x = nax::exp(a - most), y = nax::exp(b - most);
  return Array<R>(x / (x + y));
}

// Points of the simplex along a last axis, which `alpha` has; `shape` is that of the draw without it. Throws
// ValueError for a 0-d `alpha` or more than one key, and ShapeError if `alpha` does not broadcast.
template <class T = void, class A = Array<float>>
auto dirichlet(const Key& key, const A& alpha_, const Shape& shape) {
  using R = detail::sample_t<T, A>;
  const Array<R> alpha = detail::parameter<R>("dirichlet", alpha_);
  if (alpha.ndim() == 0) throw ValueError("dirichlet: alpha must have one axis at least");
  Shape full = shape;
  full.push_back(alpha.shape(-1));
  const Array<R> logs = detail::draw_gammas("dirichlet", key, alpha, full, true);
  // (Not by logsumexp, which rounds logarithms of thousands.)
  const Array<R> parts = nax::exp(logs - nax::max(logs, {.axis = -1, .keepdims = true}));
  return Array<R>(parts / nax::sum(parts, {.axis = -1, .keepdims = true}));
}
template <class T = void, class A = Array<float>>
auto dirichlet(const Key& key, const A& alpha) {
  Shape shape = detail::shape_of_parameter(alpha);
  if (!shape.empty()) shape.pop_back();
  return dirichlet<T>(key, alpha, shape);
}

// The sum of the squares of df standard normal numbers. Of shape `shape`, or that of df. Throws ShapeError if
// df does not broadcast to `shape`, and ValueError for more than one key.
template <class T = void, class D = Array<float>>
auto chisquare(const Key& key, const D& df, const Shape& shape) {
  using R = detail::sample_t<T, D>;
  const Array<R> half_df = detail::parameter<R>("chisquare", df) / R(2);
  return Array<R>(nax::exp(detail::draw_gammas("chisquare", key, half_df, shape, true)) * R(2));
}

// The quotient of two chi-square numbers, each divided by its degrees of freedom. Of shape `shape`, or what
// the two broadcast to. Throws ShapeError if one does not broadcast to `shape`, and ValueError for more than
// one key.
template <class T = void, class N = Array<float>, class D = Array<float>>
auto f(const Key& key, const N& dfnum, const D& dfden, const Shape& shape) {
  using R = detail::sample_t<T, N, D>;
  const Array<R> num = detail::parameter<R>("f", dfnum), den = detail::parameter<R>("f", dfden);
  detail::check_parameters("f", shape, num, den);
  const nax::detail::ComputeOn there(nax::detail::device_for("f", num, den));
  const auto [key_den, key_num] = split(key);
  const Array<R> above = chisquare<R>(key_num, num, shape), below = chisquare<R>(key_den, den, shape);
  return Array<R>((above / num) / (below / den));
}

// Student's distribution of df degrees of freedom. Of shape `shape`, or that of df. Throws ShapeError if df
// does not broadcast to `shape`, and ValueError for more than one key.
template <class T = void, class D = Array<float>>
auto t(const Key& key, const D& df, const Shape& shape) {
  using R = detail::sample_t<T, D>;
  const Array<R> half_df = detail::parameter<R>("t", df) / R(2);
  const nax::detail::ComputeOn there(nax::detail::device_for("t", half_df));
  const auto [key_normal, key_gamma] = split(key);
  const Array<R> g = detail::draw_gammas("t", key_gamma, half_df, shape, false);
  return Array<R>(normal<R>(key_normal, shape) * nax::sqrt(half_df / g));
}

// Density proportional to e^-|x|^p. Of shape `shape`, or that of p. Throws ShapeError if p does not broadcast
// to `shape`, and ValueError for more than one key.
template <class T = void, class P = Array<float>>
auto generalized_normal(const Key& key, const P& p, const Shape& shape) {
  using R = detail::sample_t<T, P>;
  // (The reciprocal of a number is taken before it is rounded, as Python does.)
  const Array<R> root = [&] {
    if constexpr (detail::ArrayLike<P>)
      return Array<R>(R(1) / detail::parameter<R>("generalized_normal", p));
    else
      return Array<R>(static_cast<R>(1 / static_cast<double>(p)));
  }();
  const nax::detail::ComputeOn there(nax::detail::device_for("generalized_normal", root));
  const auto [key_gamma, key_sign] = split(key);
  const Array<R> g = detail::draw_gammas("generalized_normal", key_gamma, root, shape, false);
  return Array<R>(detail::signs<R>(key_sign, shape) * nax::power(g, root));
}

// clang-format off
template <class T = void, class A = Array<float>> auto gamma(const Key& key, const A& a) { return gamma<T>(key, a, detail::shape_of_parameter(a)); }
template <class T = void, class A = Array<float>> auto loggamma(const Key& key, const A& a) { return loggamma<T>(key, a, detail::shape_of_parameter(a)); }
template <class T = void, class A = Array<float>, class B = Array<float>> auto beta(const Key& key, const A& a, const B& b) { return beta<T>(key, a, b, detail::joint_shape("beta", a, b)); }
template <class T = void, class D = Array<float>> auto chisquare(const Key& key, const D& df) { return chisquare<T>(key, df, detail::shape_of_parameter(df)); }
template <class T = void, class N = Array<float>, class D = Array<float>> auto f(const Key& key, const N& dfnum, const D& dfden) { return f<T>(key, dfnum, dfden, detail::joint_shape("f", dfnum, dfden)); }
template <class T = void, class D = Array<float>> auto t(const Key& key, const D& df) { return t<T>(key, df, detail::shape_of_parameter(df)); }
template <class T = void, class P = Array<float>> auto generalized_normal(const Key& key, const P& p) { return generalized_normal<T>(key, p, detail::shape_of_parameter(p)); }
// clang-format on

}  // namespace random
NAX_END
