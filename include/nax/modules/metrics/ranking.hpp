#pragma once

#include "nax/modules/metrics/mean.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/floating.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "nax/numpy/indexing/at.hpp"
#include "nax/numpy/reductions/cumulative.hpp"

// How well scores rank examples of two classes.
NAX_BEGIN
namespace metrics {

// The area under the curve of true against false positive rates, of scores in [0, 1] that are rounded to
// equal bins; it is exact for the rounded scores. Scores outside count as 0 or 1; NaN makes the value NaN.
struct BinaryAUC {
  Array<double> positives, negatives;  // (bins,): examples by their score

  static BinaryAUC make(std::int64_t bins = 1024) { return {zeros<double>({bins}), zeros<double>({bins})}; }
  // Labels are bools, or numbers that are positive where not 0.
  template <nax::detail::ArrayLike X, nax::detail::ArrayLike I>
  BinaryAUC update(const X& scores_, const I& labels_, const Weights& weights = {}) const {
    const Array<double> scores = nax::detail::as_array(scores_).template astype<double>();
    const Array<bool> labels = nax::detail::as_array(labels_).template astype<bool>();
    if (!(scores.shape() == labels.shape()))
      raise<ShapeError>(
          {"metrics::BinaryAUC: scores of shape ", scores.shape(), " and labels of shape ", labels.shape()});
    return count(scores, labels, nax::detail::weights_of(weights, scores.shape()));
  }
  template <class M = BinaryAUC>
  M merge(const M& other) const {
    return {positives + other.positives, negatives + other.negatives};
  }
  // The share of pairs of a positive and a negative example in which the positive one has the higher score,
  // ties by half. NaN where a class has no example.
  template <class A = Array<double>>
  A value() const {
    const A right = positives, wrong = negatives;
    const A above = sum(right) - cumsum(right);
    return sum(wrong * (above + 0.5 * right)) / (sum(right) * sum(wrong));
  }
  // The mean precision over the steps of recall (average precision).
  template <class A = Array<double>>
  A average_precision() const {
    const A yes = positives, no = negatives;
    const A right = sum(yes) - cumsum(yes) + yes, wrong = sum(no) - cumsum(no) + no;
    return sum(yes * nax::detail::ratio_or_zero<A>(right, right + wrong)) / sum(yes);
  }

 private:
  template <class A>
  BinaryAUC count(const A& scores, const Array<bool>& labels, const A& w) const {
    const double bins = static_cast<double>(positives.shape(0));
    const Array<bool> number = logical_not(isnan(scores));
    const A place = where(number, minimum(maximum(floor(scores * bins), 0.0), bins - 1), 0.0);
    const A marked = where(logical_or(number, w == 0.0), w, scores);
    const A yes = where(labels, marked, 0.0), no = where(labels, 0.0, marked);
    const Array<std::int64_t> at = place.template astype<std::int64_t>().reshape({-1});
    return {positives.at(at).add(yes.reshape({-1})), negatives.at(at).add(no.reshape({-1}))};
  }
};

}  // namespace metrics
NAX_END
