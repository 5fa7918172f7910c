#pragma once

#include <optional>

#include "nax/nn/losses.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// Metrics: numbers gathered over many batches, as plain structs of arrays.
//
// A metric is a tree whose leaves are sums in double precision, so it is a carry of lax::scan, merge() adds
// two of them, and psum merges those of all devices (so does pmean, since value() is a ratio of sums).
// update() returns the next one. Weights, one for each example, broadcast; an example of weight 0 counts as
// nothing, even if it holds NaN: padding of a last batch.
//
// A in these headers is Array<double>. The compiler learns so only where a function is called, and until then
// compiles no arithmetic.
NAX_BEGIN
namespace metrics {

// Numbers or bools of any type, as an array, an expression or one number; none: 1 for each example.
class Weights {
 public:
  Weights() = default;
  template <nax::detail::Operand X>
  Weights(const X& x) {
    if constexpr (Scalar<X>)
      values_ = Array<double>(static_cast<double>(x));
    else
      values_ = nax::detail::as_array(x).template astype<double>();
  }
  explicit operator bool() const { return values_.has_value(); }
  const Array<double>& operator*() const { return *values_; }

 private:
  std::optional<Array<double>> values_;
};

}  // namespace metrics

namespace detail {

// One weight for each example of this shape.
inline Array<double> weights_of(const metrics::Weights& weights, const Shape& shape) {
  return weights ? Array<double>(broadcast_to(*weights, shape)) : ones<double>(shape);
}
template <class A>
A weighted(const A& values, const A& weights) {
  return where(weights != 0.0, values * weights, 0.0);
}
template <class A>
A ratio(const A& part, const A& whole) {
  return part / whole;
}
// 0 where nothing was counted.
template <class A>
A ratio_or_zero(const A& part, const A& whole) {
  return where(whole != 0.0, part / where(whole != 0.0, whole, 1.0), 0.0);
}

// Of a metric that is a sum over examples and their weight.
template <class Metric>
Metric add_examples(const Metric& metric, const Array<double>& values, const metrics::Weights& weights) {
  using A = std::remove_cvref_t<decltype(metric.total)>;
  const A w = weights_of(weights, values.shape());
  return {metric.total + sum(weighted<A>(values, w)), metric.weight + sum(w)};
}

}  // namespace detail

namespace metrics {

// The weighted mean of numbers; NaN before the first.
struct Mean {
  Array<double> total, weight;  // ()

  static Mean make() { return {zeros<double>({}), zeros<double>({})}; }
  template <nax::detail::Operand X>
  Mean update(const X& values, const Weights& weights = {}) const {
    if constexpr (Scalar<X>)
      return update(Array<double>(static_cast<double>(values)), weights);
    else
      return nax::detail::add_examples(*this, nax::detail::as_array(values).template astype<double>(),
                                       weights);
  }
  template <class M = Mean>
  M merge(const M& other) const {
    return {total + other.total, weight + other.weight};
  }
  template <class A = Array<double>>
  A value() const {
    return nax::detail::ratio<A>(total, weight);
  }
};

// exp of the mean cross entropy of logits (..., C) for the labels (...), integers, which may be any numbers
// where the weight is 0.
struct Perplexity {
  Array<double> total, weight;  // ()

  static Perplexity make() { return {zeros<double>({}), zeros<double>({})}; }
  template <nax::detail::ArrayLike X, nax::detail::ArrayLike I>
  Perplexity update(const X& logits, const I& labels, const Weights& weights = {}) const {
    auto label = nax::detail::as_array(labels);
    if (weights) label = where(broadcast_to(*weights, label.shape()) != 0.0, label, 0);
    const auto losses = nn::softmax_cross_entropy_with_integer_labels(logits, label);
    return nax::detail::add_examples(*this, losses.template astype<double>(), weights);
  }
  template <class M = Perplexity>
  M merge(const M& other) const {
    return {total + other.total, weight + other.weight};
  }
  template <class A = Array<double>>
  A value() const {
    return exp(nax::detail::ratio<A>(total, weight));
  }
};

}  // namespace metrics
NAX_END
