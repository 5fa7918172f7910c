#pragma once

#include "nax/nn/activations.hpp"
#include "nax/nn/cross_entropy_rows.hpp"
#include "nax/nn/softmax.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/reshape.hpp"

// Losses of each example, by optax's names; take their mean.
NAX_BEGIN
namespace nn {

struct LossOptions {
  std::int64_t axis = -1;  // that of the classes
};

// -sum(labels * log_softmax(logits)): labels are probabilities, as one_hot makes them. logits (..., C) and
// labels (..., C) give (...). Throws IndexError if the axis is out of bounds.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto softmax_cross_entropy(const X& logits, const Y& labels, const LossOptions& options = {}) {
  const auto x = detail::materialise(logits);
  using T = typename decltype(x)::value_type;
  if constexpr (std::is_same_v<Y, Array<T>> && nax::detail::may_have_rows<T>) {
    nax::detail::check_reducible("softmax_cross_entropy", x);
    const AxisMarks visible = nax::detail::marked_axes("softmax_cross_entropy", options.axis, x.ndim());
    if (nax::detail::has_cross_entropy_rows(x, labels, visible))
      return nax::detail::cross_entropy_rows(x, labels, visible);
  }
  const Array<T> terms = log_softmax(x, {.axis = options.axis}) * labels;
  return Array<T>(-sum(terms, {.axis = options.axis}));
}

// Cross entropy for labels that are numbers of classes. logits (..., C) and labels (...) give (...). Throws
// IndexError for a number that is no class.
template <detail::ArrayLike X, detail::ArrayLike I>
auto softmax_cross_entropy_with_integer_labels(const X& logits, const I& labels,
                                               const LossOptions& options = {}) {
  static_assert(is_integer_v<typename I::value_type>,
                "softmax_cross_entropy_with_integer_labels: the labels must be integers");
  const auto x = detail::materialise(logits);
  using T = typename decltype(x)::value_type;
  const int axis =
      detail::normalize_axis("softmax_cross_entropy_with_integer_labels", options.axis, x.ndim());
  const auto log_p = log_softmax(x, {.axis = axis});
  return Array<T>(-squeeze(take_along_axis(log_p, expand_dims(labels, axis), axis), {.axis = axis}));
}

// For labels that are probabilities (or 0 and 1) of independent yes-or-no classes. The result has the shape
// to which both broadcast.
template <class X, class Y>
requires AnyArray<X, Y>
auto sigmoid_binary_cross_entropy(const X& logits, const Y& labels) {
  // (The minus last: labels may be unsigned.)
  return -(labels * log_sigmoid(logits) + (1 - labels) * log_sigmoid(-logits));
}

// (predictions - targets)^2, of the shape to which both broadcast.
template <class X, class Y>
requires AnyArray<X, Y>
auto squared_error(const X& predictions, const Y& targets) { return square(predictions - targets); }
// Half the squared error. As squared_error.
template <class X, class Y>
requires AnyArray<X, Y>
auto l2_loss(const X& predictions, const Y& targets) { return 0.5 * square(predictions - targets); }

struct HuberOptions {
  double delta = 1;  // where the square turns into a straight line
};
// Half the squared error near 0, linear beyond `delta`. As squared_error.
template <class X, class Y>
requires AnyArray<X, Y>
auto huber_loss(const X& predictions, const Y& targets, const HuberOptions& options = {}) {
  const auto size = abs(predictions - targets);
  const auto inner = minimum(size, options.delta);
  return 0.5 * square(inner) + options.delta * (size - inner);
}

}  // namespace nn
NAX_END
