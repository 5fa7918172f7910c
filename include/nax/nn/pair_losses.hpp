#pragma once

#include "nax/core/where_used.hpp"
#include "nax/nn/losses.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/transform/checkpoint.hpp"

// Losses of embeddings: how near they are to one another.
NAX_BEGIN
namespace nn {

struct CosineOptions {
  double epsilon = 0;  // the least norm
  std::int64_t axis = -1;
};
// The cosine of the angle between vectors along an axis, 0 for a vector of zeros. The result has the shape to
// which both broadcast, without the axis.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto cosine_similarity(const X& predictions, const Y& targets, const CosineOptions& options = {}) {
  using T = promote_t<typename X::value_type, typename Y::value_type>;
  const auto unit = [&]<class L>(const Array<L>& v) {
    const Array<L> square_sum = sum(square(v), {.axis = options.axis, .keepdims = true});
    const L least = static_cast<L>(options.epsilon * options.epsilon);
    const Array<bool> little = square_sum <= least;
    const Array<L> norm = sqrt(where(little, options.epsilon > 0 ? least : L(1), square_sum));
    return Array<L>(v / norm);
  };
  return nax::detail::in_lanes<T>(
      [&]<class L>(const Array<L>& x, const Array<L>& y) {
        return Array<L>(sum(unit(x) * unit(y), {.axis = options.axis}));
      },
      nax::detail::as_type<T>(predictions), nax::detail::as_type<T>(targets));
}
// 1 - cosine_similarity. The result has the shape of that.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto cosine_distance(const X& predictions, const Y& targets, const CosineOptions& options = {}) {
  using T = promote_t<typename X::value_type, typename Y::value_type>;
  return nax::detail::in_lanes<T>(
      [&]<class L>(const Array<L>& x, const Array<L>& y) {
        return Array<L>(1 - cosine_similarity(x, y, options));
      },
      nax::detail::as_type<T>(predictions), nax::detail::as_type<T>(targets));
}

struct TripletOptions {
  std::int64_t axis = -1;
  double norm_degree = 2, margin = 1, eps = 1e-6;
};
// max(0, d(anchor, positive) - d(anchor, negative) + margin) with distances d of a p-norm along an axis. All
// three have one shape (..., D), or broadcast to it; the result has shape (...).
template <detail::ArrayLike X, detail::ArrayLike Y, detail::ArrayLike Z>
auto triplet_margin_loss(const X& anchors, const Y& positives, const Z& negatives,
                         const TripletOptions& options = {}) {
  using T = promote_t<typename X::value_type, promote_t<typename Y::value_type, typename Z::value_type>>;
  const auto distance = [&]<class L>(const Array<L>& a, const Array<L>& b) {
    const Array<L> sums = sum(power(abs(a - b), options.norm_degree), {.axis = options.axis});
    return Array<L>(power(sums + options.eps, 1 / options.norm_degree));
  };
  return nax::detail::in_lanes<T>(
      [&]<class L>(const Array<L>& a, const Array<L>& b, const Array<L>& c) {
        return Array<L>(maximum(distance(a, b) - distance(a, c) + options.margin, 0));
      },
      nax::detail::as_type<T>(anchors), nax::detail::as_type<T>(positives),
      nax::detail::as_type<T>(negatives));
}

struct NtxentOptions {
  double temperature = 0.07;
};
// The normalised and tempered cross entropy of embeddings (B, D) whose labels (B,) say which belong together
// (Chen et al. 2020), averaged over all pairs of one label: one number. Throws ShapeError unless shapes are
// so.
template <detail::ArrayLike X, detail::ArrayLike I>
auto ntxent(const X& embeddings, const I& labels, const NtxentOptions& options = {}) {
  const auto x = detail::materialise(embeddings);
  using T = typename decltype(x)::value_type;
  const auto label = detail::materialise(labels);
  if (x.ndim() != 2 || label.ndim() != 1 || label.shape(0) != x.shape(0))
    raise<ShapeError>({"ntxent: embeddings must have shape (B, D) and labels (B,), got ", x.shape(), " and ",
                       label.shape()});
  if constexpr (!std::is_same_v<nax::detail::lane_t<T>, T>) {
    return nax::detail::in_lanes<T>([&](const auto& wide) { return ntxent(wide, label, options); }, x);
  } else {
    const std::int64_t n = x.shape(0);
    using Bools = nax::detail::where_used_t<Array<bool>, T>;
    const Bools same = label.reshape({n, 1}) == label.reshape({1, n});
    const nax::detail::where_used_t<decltype(arange(n)), T> numbers = arange(n);
    const Bools itself = numbers.reshape({n, 1}) == numbers.reshape({1, n});
    const Bools match = same & !itself;
    const Array<T> norm = sqrt(sum(square(x), {.axis = -1, .keepdims = true}));
    const Array<T> unit = x / where(norm == 0, T(1), norm);
    const Array<T> scores = matmul(unit, transpose(unit)) / options.temperature;
    // (Shifted by the greatest of the others' scores: that of an element with itself is greater than all.)
    const T least = -std::numeric_limits<T>::infinity();
    const Array<T> most = max(where(itself, least, scores), {.axis = 1, .keepdims = true});
    const Array<T> shifted = scores - stop_gradient(where(isfinite(most), most, T(0)));
    const Array<T> others =
        sum(where(same, T(0), exp(where(same, T(0), shifted))), {.axis = 1, .keepdims = true});
    const Array<T> log_others = where(others == T(0), least, log(where(others == T(0), T(1), others)));
    const Array<T> pair = where(match, shifted, T(0));
    const Array<T> losses = where(match, logaddexp(pair, log_others) - pair, T(0));
    return Array<T>(sum(losses) / sum(match.template astype<T>()));
  }
}

}  // namespace nn
NAX_END
