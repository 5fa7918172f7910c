#pragma once

#include <cstdint>
#include <utility>

#include "nax/core/where_used.hpp"
#include "nax/modules/metrics/mean.hpp"
#include "nax/numpy/indexing/at.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/indexing/placement.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/views/views.hpp"
#include "nax/tree/static.hpp"

// Metrics of classifiers, by logits (..., C) or the classes predicted, against labels: integers, or truths as
// 0 and 1. (Types of arrays are deduced, so that a file that uses none of this compiles none of it.)
NAX_BEGIN
namespace detail {

// 1 where the label's logit is among the `k` largest, else 0. Of equal logits the first is the larger; a NaN
// is larger than any, and never right.
template <class X, class I>
Array<double> among_largest(const Array<X>& logits, const Array<I>& labels, std::int64_t k) {
  if (logits.ndim() != labels.ndim() + 1)
    raise<ShapeError>(
        {"metrics: logits of shape ", logits.shape(), " do not fit labels of shape ", labels.shape()});
  const std::int64_t classes = logits.shape(logits.ndim() - 1);
  const auto label = labels.template astype<std::int64_t>();
  const auto valid = eval(logical_and(label >= 0, label < classes));
  const ComputeOn beside_logits(logits);
  using Places = where_used_t<Array<std::int64_t>, X>;
  const Places at = expand_dims(Places(where(valid, label, 0)), -1);
  const Array<X> own = take_along_axis(logits, at, -1);
  const Places numbers = arange<std::int64_t>(classes);
  const auto behind = logical_or(logits < own, logical_and(logits == own, numbers >= at));
  const Places before = sum(logical_not(behind).template astype<std::int64_t>(), {.axis = -1});
  return logical_and(valid, before < k).template astype<double>();
}

template <class X, class I>
Array<double> right_ones(const X& predicted_, const I& labels_) {
  const auto predicted = as_array(predicted_);
  const auto labels = as_array(labels_);
  static_assert(std::is_integral_v<typename I::value_type>, "metrics: the labels must be integers");
  if constexpr (std::is_integral_v<typename X::value_type>) {
    if (!(predicted.shape() == labels.shape()))
      raise<ShapeError>(
          {"metrics: predictions of shape ", predicted.shape(), " and labels of shape ", labels.shape()});
    return (predicted.template astype<std::int64_t>() == labels.template astype<std::int64_t>())
        .template astype<double>();
  } else {
    return among_largest(predicted, labels, 1);
  }
}

}  // namespace detail

namespace metrics {

// The share of examples whose predicted class, or largest logit, is the label.
struct Accuracy {
  Array<double> total, weight;  // ()

  static Accuracy make() { return {zeros<double>({}), zeros<double>({})}; }
  template <nax::detail::ArrayLike X, nax::detail::ArrayLike I>
  Accuracy update(const X& predicted, const I& labels, const Weights& weights = {}) const {
    return nax::detail::add_examples(*this, nax::detail::right_ones(predicted, labels), weights);
  }
  template <class M = Accuracy>
  M merge(const M& other) const {
    return {total + other.total, weight + other.weight};
  }
  template <class A = Array<double>>
  A value() const {
    return nax::detail::ratio<A>(total, weight);
  }
};

// That share of one batch, 0-d; NaN of an empty one. Throws ShapeError where the labels do not fit.
template <nax::detail::ArrayLike X, nax::detail::ArrayLike I>
Array<double> accuracy(const X& predicted, const I& labels, const Weights& weights = {}) {
  return Accuracy::make().update(predicted, labels, weights).value();
}

// The share of examples whose label is among the k largest logits.
struct TopKAccuracy {
  Array<double> total, weight;  // ()
  tree::Static<std::int64_t> k = 5;

  static TopKAccuracy make(std::int64_t k) { return {zeros<double>({}), zeros<double>({}), k}; }
  template <nax::detail::ArrayLike X, nax::detail::ArrayLike I>
  TopKAccuracy update(const X& logits, const I& labels, const Weights& weights = {}) const {
    const auto right =
        nax::detail::among_largest(nax::detail::as_array(logits), nax::detail::as_array(labels), *k);
    const Mean next = nax::detail::add_examples(Mean{total, weight}, right, weights);
    return {next.total, next.weight, k};
  }
  template <class M = TopKAccuracy>
  M merge(const M& other) const {
    if (*k != *other.k) raise<ValueError>({"metrics::TopKAccuracy: k = ", *k, " and ", *other.k});
    return {total + other.total, weight + other.weight, k};
  }
  template <class A = Array<double>>
  A value() const {
    return nax::detail::ratio<A>(total, weight);
  }
};

// Precision, recall and F1 of two classes: predictions that are positive against labels; bools, or numbers
// that are positive where not 0. Ratios without examples are 0.
struct F1 {
  Array<double> right, predicted, labelled;  // (): positive in both, in predictions, in labels

  static F1 make() { return {zeros<double>({}), zeros<double>({}), zeros<double>({})}; }
  template <nax::detail::ArrayLike X, nax::detail::ArrayLike I>
  F1 update(const X& predictions, const I& labels, const Weights& weights = {}) const {
    const auto p = nax::detail::as_array(predictions).template astype<bool>();
    const auto l = nax::detail::as_array(labels).template astype<bool>();
    if (!(p.shape() == l.shape()))
      raise<ShapeError>(
          {"metrics::F1: predictions of shape ", p.shape(), " and labels of shape ", l.shape()});
    const Array<double> w = nax::detail::weights_of(weights, l.shape());
    return {right + sum(where(logical_and(p, l), w, 0.0)), predicted + sum(where(p, w, 0.0)),
            labelled + sum(where(l, w, 0.0))};
  }
  template <class M = F1>
  M merge(const M& other) const {
    return {right + other.right, predicted + other.predicted, labelled + other.labelled};
  }
  template <class A = Array<double>>
  A precision() const {
    return nax::detail::ratio_or_zero<A>(right, predicted);
  }
  template <class A = Array<double>>
  A recall() const {
    return nax::detail::ratio_or_zero<A>(right, labelled);
  }
  // The harmonic mean of precision and recall.
  template <class A = Array<double>>
  A value() const {
    const A &found = right, &first = predicted, &second = labelled;
    return nax::detail::ratio_or_zero<A>(2.0 * found, first + second);
  }
};

// Counts of examples by label (rows) and predicted class (columns), and what follows from them. Ratios
// without examples are 0. Labels and predictions that are no class count as nothing.
struct Confusion {
  Array<double> counts;  // (C, C)

  static Confusion make(std::int64_t classes) { return {zeros<double>({classes, classes})}; }
  template <nax::detail::ArrayLike X, nax::detail::ArrayLike I>
  Confusion update(const X& predicted_, const I& labels, const Weights& weights = {}) const {
    const auto predicted = nax::detail::as_array(predicted_);
    if constexpr (std::is_integral_v<typename X::value_type>)
      return count(predicted.template astype<std::int64_t>(),
                   nax::detail::as_array(labels).template astype<std::int64_t>(), weights);
    else
      return count(argmax(predicted, {.axis = -1}).template astype<std::int64_t>(),
                   nax::detail::as_array(labels).template astype<std::int64_t>(), weights);
  }
  template <class M = Confusion>
  M merge(const M& other) const {
    return {counts + other.counts};
  }
  Array<double> value() const { return counts; }

  template <class A = Array<double>>
  A accuracy() const {
    return right_sum<A>() / all<A>();
  }
  // For each class: the right ones among those predicted; among those labelled; their harmonic mean; and the
  // right ones among both (intersection over union).
  template <class A = Array<double>>
  A precision() const {
    return nax::detail::ratio_or_zero<A>(right<A>(), of_predicted<A>());
  }
  template <class A = Array<double>>
  A recall() const {
    return nax::detail::ratio_or_zero<A>(right<A>(), of_labels<A>());
  }
  template <class A = Array<double>>
  A f1() const {
    return nax::detail::ratio_or_zero<A>(2.0 * right<A>(), of_predicted<A>() + of_labels<A>());
  }
  template <class A = Array<double>>
  A iou() const {
    return nax::detail::ratio_or_zero<A>(right<A>(), of_predicted<A>() + of_labels<A>() - right<A>());
  }
  // Matthews' correlation coefficient of all classes.
  template <class A = Array<double>>
  A matthews() const {
    const A n = all<A>(), p = of_predicted<A>(), t = of_labels<A>();
    return nax::detail::ratio_or_zero<A>(right_sum<A>() * n - sum(p * t),
                                         sqrt((n * n - sum(p * p)) * (n * n - sum(t * t))));
  }

 private:
  template <class A>
  A right() const {
    return diagonal(A(counts));
  }
  template <class A>
  A right_sum() const {
    return sum(right<A>());
  }
  template <class A>
  A all() const {
    return sum(A(counts));
  }
  template <class A>
  A of_predicted() const {
    return sum(A(counts), {.axis = 0});
  }
  template <class A>
  A of_labels() const {
    return sum(A(counts), {.axis = 1});
  }
  template <class I>
  Confusion count(const I& predicted, const I& labels, const Weights& weights) const {
    if (!(predicted.shape() == labels.shape()))
      raise<ShapeError>({"metrics::Confusion: predictions of shape ", predicted.shape(),
                         " and labels of shape ", labels.shape()});
    const std::int64_t classes = counts.shape(0);
    const auto valid = eval(logical_and(logical_and(labels >= 0, labels < classes),
                                        logical_and(predicted >= 0, predicted < classes)));
    const I at = where(valid, labels * classes + predicted, 0);
    const Array<double> w = where(valid, nax::detail::weights_of(weights, labels.shape()), 0.0);
    const Array<double> flat = counts.reshape({classes * classes});
    return {flat.at(at.reshape({-1})).add(w.reshape({-1})).reshape({classes, classes})};
  }
};

}  // namespace metrics
NAX_END
