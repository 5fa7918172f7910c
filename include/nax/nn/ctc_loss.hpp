#pragma once

#include "nax/core/where_used.hpp"
#include "nax/lax/scan.hpp"
#include "nax/nn/losses.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"

// Connectionist temporal classification.
NAX_BEGIN
namespace nn {

struct CtcOptions {
  std::int64_t blank_id = 0;
  double log_epsilon = -1e5;  // stands for the logarithm of 0
};
// The negative logarithm of the probability that some alignment of labels with time gives, of each sequence
// (Graves et al. 2006), by optax's arguments: logits (B, T, K) of K classes, one of them the blank;
// logit_paddings (B, T), 1 where time has ended; labels (B, N), numbers of classes; label_paddings (B, N), 1
// behind the last label, where labels may be any numbers. The result has shape (B,). Throws ShapeError unless
// shapes fit each other, ValueError for a blank that is no class.
template <detail::ArrayLike X, detail::ArrayLike P, detail::ArrayLike I, detail::ArrayLike Q>
auto ctc_loss(const X& logits, const P& logit_paddings, const I& labels, const Q& label_paddings,
              const CtcOptions& options = {}) {
  const auto x = detail::materialise(logits);
  using T = typename decltype(x)::value_type;
  using Ints = detail::where_used_t<Array<std::int32_t>, T>;
  using Bools = detail::where_used_t<Array<bool>, T>;
  const Array<T> ended = detail::as_type<T>(logit_paddings), absent = detail::as_type<T>(label_paddings);
  Ints label = detail::as_type<std::int32_t>(labels);
  if (x.ndim() != 3 || ended.shape() != Shape{x.shape(0), x.shape(1)} || label.ndim() != 2 ||
      label.shape(0) != x.shape(0) || absent.shape() != label.shape())
    raise<ShapeError>(
        {"ctc_loss: logits (B, T, K), logit_paddings (B, T), labels (B, N) and label_paddings (B, N) "
         "have shapes ",
         x.shape(), ", ", ended.shape(), ", ", label.shape(), " and ", absent.shape()});
  const std::int64_t batch = x.shape(0), steps = x.shape(1), classes = x.shape(2), n = label.shape(1),
                     states = 2 * n + 1;
  if (options.blank_id < 0 || options.blank_id >= classes)
    raise<ValueError>({"ctc_loss: blank_id must be one of ", classes, " classes, not ", options.blank_id});
  const T none = static_cast<T>(options.log_epsilon);
  // States: a blank, then each label and a blank.
  const auto blank = static_cast<std::int32_t>(options.blank_id);
  const Bools is_absent = absent > T(0);
  label = where(is_absent, blank, label);  // any numbers stand there
  const Ints blanks = full<std::int32_t>({batch, n}, blank);
  const Ints pairs = stack(std::vector{label, blanks}, {.axis = -1}).reshape({batch, 2 * n});
  const Ints state = concatenate(std::vector{full<std::int32_t>({batch, 1}, blank), pairs}, {.axis = 1});
  // A label may follow the one before it without a blank between, unless it is the same.
  const Ints before = concatenate(
      std::vector{full<std::int32_t>({batch, 2}, -1), Ints(state(ellipsis, slice(0, states - 2)))},
      {.axis = 1});
  const Bools skips =
      (state(ellipsis, slice(0, states)) != before(ellipsis, slice(0, states))) & (state != blank);
  const Array<T> log_p = log_softmax(x, {.axis = -1});
  const Ints at = broadcast_to(expand_dims(state, 1), Shape{batch, steps, states});
  const Array<T> emitted = take_along_axis(log_p, at, 2);  // (B, T, S)
  const Array<T> by_time = moveaxis(emitted, 1, 0);
  const Array<T> ends = expand_dims(Array<T>(transpose(ended)), -1);  // (T, B, 1)
  const Array<T> outside = full<T>({batch, 2}, none);
  // Before the first step all of the probability stands in front of the first state.
  Array<T> first =
      concatenate(std::vector{zeros<T>({batch, 1}), full<T>({batch, states - 1}, none)}, {.axis = 1});
  const auto advance = [=](const Array<T>& a, const std::pair<Array<T>, Array<T>>& now) {
    const Array<T> wide = concatenate(std::vector{outside, a}, {.axis = 1});
    const Array<T> one = wide(ellipsis, slice(1, states + 1)), two = wide(ellipsis, slice(0, states));
    const Array<T> came = logaddexp(logaddexp(a, one), where(skips, two, none));
    const Array<T> next = maximum(came + now.first, none);
    return std::pair{Array<T>(where(now.second > 0, a, next)), nax::none};
  };
  const Array<T> last = lax::scan(advance, first, std::pair{by_time, ends}).first;
  const Ints missing = sum(is_absent.template astype<std::int32_t>(), {.axis = 1, .keepdims = true});
  const Ints end = 2 * (static_cast<std::int32_t>(n) - missing);
  const Array<T> at_blank = take_along_axis(last, end, 1),
                 at_label = where(end > 0, take_along_axis(last, maximum(end - 1, 0), 1), none);
  return Array<T>(-squeeze(Array<T>(logaddexp(at_blank, at_label)), {.axis = 1}));
}

}  // namespace nn
NAX_END
