#pragma once

#include "nax/modules/metrics/mean.hpp"

// Metrics of predicted numbers.
NAX_BEGIN
namespace detail {

// Predictions and targets of one shape, in double.
template <class X, class Y>
std::pair<Array<double>, Array<double>> regression_pair(const char* metric, const X& predicted_,
                                                        const Y& targets_) {
  const Array<double> predicted = as_array(predicted_).template astype<double>(),
                      targets = as_array(targets_).template astype<double>();
  if (!(predicted.shape() == targets.shape()))
    raise<ShapeError>(
        {metric, ": predictions of shape ", predicted.shape(), " and targets of shape ", targets.shape()});
  return {predicted, targets};
}

}  // namespace detail

namespace metrics {

// The weighted mean of |prediction - target|.
struct MeanAbsoluteError {
  Array<double> total, weight;  // ()

  static MeanAbsoluteError make() { return {zeros<double>({}), zeros<double>({})}; }
  template <nax::detail::ArrayLike X, nax::detail::ArrayLike Y>
  MeanAbsoluteError update(const X& predicted, const Y& targets, const Weights& weights = {}) const {
    const auto [p, t] = nax::detail::regression_pair("metrics::MeanAbsoluteError", predicted, targets);
    return nax::detail::add_examples(*this, distance(p, t), weights);
  }
  template <class M = MeanAbsoluteError>
  M merge(const M& other) const {
    return {total + other.total, weight + other.weight};
  }
  template <class A = Array<double>>
  A value() const {
    return nax::detail::ratio<A>(total, weight);
  }

 private:
  template <class A>
  static A distance(const A& a, const A& b) {
    return abs(a - b);
  }
};

// The coefficient of determination: 1 less the squared errors over the squared distances of the targets from
// their mean. NaN where all targets are equal. Of sums of squares: targets whose mean is a million times
// their spread lose four digits.
struct R2 {
  Array<double> errors, squares, total, weight;  // (): squared errors, squared targets, targets

  static R2 make() {
    const Array<double> none = zeros<double>({});
    return {none, none, none, none};
  }
  template <nax::detail::ArrayLike X, nax::detail::ArrayLike Y>
  R2 update(const X& predicted, const Y& targets, const Weights& weights = {}) const {
    const auto [p, t] = nax::detail::regression_pair("metrics::R2", predicted, targets);
    return add(p, t, nax::detail::weights_of(weights, t.shape()));
  }
  template <class M = R2>
  M merge(const M& other) const {
    return {errors + other.errors, squares + other.squares, total + other.total, weight + other.weight};
  }
  template <class A = Array<double>>
  A value() const {
    const A &sum_of = total, &n = weight, &lost = errors;
    const A spread = squares - A(sum_of * sum_of / n);
    return where(spread > 0.0, 1.0 - lost / spread, std::numeric_limits<double>::quiet_NaN());
  }

 private:
  template <class A>
  R2 add(const A& p, const A& t, const A& w) const {
    const auto all = [&](const A& x) { return A(sum(nax::detail::weighted<A>(x, w))); };
    return {A(errors + all(square(p - t))), A(squares + all(square(t))), A(total + all(t)),
            A(weight + sum(w))};
  }
};

}  // namespace metrics
NAX_END
