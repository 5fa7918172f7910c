#pragma once

#include <limits>

#include "nax/nn/losses.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/logic.hpp"

// Further losses of classes, counts and errors, by optax's names.
NAX_BEGIN
namespace nn {

// Labels of probability 1 - alpha and, for all classes, alpha / C. The result has the shape of labels (...,
// C). Throws ValueError for labels without an axis.
template <detail::ArrayLike Y>
auto smooth_labels(const Y& labels, double alpha) {
  const auto y = detail::materialise(labels);
  using T = typename decltype(y)::value_type;
  if (y.ndim() == 0) throw ValueError("smooth_labels: labels must have an axis of classes");
  return Array<T>((1 - alpha) * y + alpha / static_cast<double>(y.shape(-1)));
}

// The Kullback-Leibler divergence of `targets` from exp(log_predictions) along the last axis: sum(targets *
// (log(targets) - log_predictions)), where a target of 0 adds nothing. (..., C) of both give (...).
template <detail::ArrayLike X, detail::ArrayLike Y>
auto kl_divergence(const X& log_predictions, const Y& targets) {
  using T = promote_t<typename X::value_type, typename Y::value_type>;
  const Array<T> x = log_predictions, y = targets;
  const Array<T> log_y = where(y == 0, T(0), log(where(y == 0, T(1), y)));
  // (0 times infinity adds nothing either.)
  const Array<T> finite = where((y == 0) & (x == -std::numeric_limits<T>::infinity()), T(0), x);
  return Array<T>(sum(y * (log_y - finite), {.axis = -1}));
}
// kl_divergence of targets that are logarithms themselves, where minus infinity adds nothing. (..., C) of
// both give shape (...).
template <detail::ArrayLike X, detail::ArrayLike Y>
auto kl_divergence_with_log_targets(const X& log_predictions, const Y& log_targets) {
  using T = promote_t<typename X::value_type, typename Y::value_type>;
  const Array<T> x = log_predictions, y = log_targets;
  const Array<bool> none = y == -std::numeric_limits<T>::infinity();
  const Array<T> some = where(none, T(0), exp(y));
  return Array<T>(sum(some * (where(none, T(0), y) - where(none, T(0), x)), {.axis = -1}));
}

// max(0, 1 - outputs * targets) for targets of 1 and -1, of the shape to which both broadcast.
template <class X, class Y>
requires AnyArray<X, Y>
auto hinge_loss(const X& outputs, const Y& targets) { return maximum(1 - outputs * targets, 0); }

// log(cosh(predictions - targets)): the half square near 0, linear far from it. As squared_error.
template <class X, class Y>
requires AnyArray<X, Y>
auto log_cosh(const X& predictions, const Y& targets) {
  const auto size = abs(predictions - targets);
  return size + log1p(exp(-2 * size)) - 0.6931471805599453;
}

// The negative logarithm of Poisson's probability of counts at the rate exp(log_rates), without its terms in
// the counts alone: exp(log_rates) - counts * log_rates. As squared_error.
template <class X, class Y>
requires AnyArray<X, Y>
auto poisson_loss(const X& log_rates, const Y& counts) { return exp(log_rates) - counts * log_rates; }

struct FocalOptions {
  double alpha = -1;  // weight of label 1 against label 0; none where it is negative
  double gamma = 2;   // how little examples count that are right already
};
// sigmoid_binary_cross_entropy times (1 - p)^gamma, p the probability of the label (Lin et al. 2017). labels
// are probabilities or 0 and 1; the result has the shape to which both broadcast.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto sigmoid_focal_loss(const X& logits, const Y& labels, const FocalOptions& options = {}) {
  using T = promote_t<typename X::value_type, typename Y::value_type>;
  const Array<T> x = logits, y = labels;
  const Array<T> cross = sigmoid_binary_cross_entropy(x, y);
  const Array<T> wrong = sigmoid(-x) * y + sigmoid(x) * (1 - y);  // (1 - p, but for its rounding)
  const Array<T> loss = cross * power(wrong, options.gamma);
  return options.alpha < 0 ? loss : Array<T>((options.alpha * y + (1 - options.alpha) * (1 - y)) * loss);
}

struct PolyLossOptions {
  double epsilon = 2;
  std::int64_t axis = -1;
};
// softmax_cross_entropy plus epsilon (1 - p), p the probability of the labels (Leng et al. 2022). logits
// and labels (..., C) give shape (...).
template <detail::ArrayLike X, detail::ArrayLike Y>
auto poly_loss_cross_entropy(const X& logits, const Y& labels, const PolyLossOptions& options = {}) {
  const auto x = detail::materialise(logits);
  using T = typename decltype(x)::value_type;
  const Array<T> right = sum(softmax(x, {.axis = options.axis}) * labels, {.axis = options.axis});
  return Array<T>(softmax_cross_entropy(x, labels, {.axis = options.axis}) + options.epsilon * (1 - right));
}

}  // namespace nn
NAX_END
