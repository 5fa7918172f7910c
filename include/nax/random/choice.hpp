#pragma once

#include <optional>

#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/numpy/sorting/sort.hpp"
#include "nax/random/continuous.hpp"
#include "nax/random/integers.hpp"
#include "nax/random/shuffle.hpp"

NAX_BEGIN
namespace random {

struct ChoiceOptions {
  bool replace = true;                 // may an element be drawn twice?
  std::optional<Array<float>> p = {};  // the probability of each element; all alike when not given
  int axis = 0;
};

namespace detail {

// Positions drawn with probabilities p: where the running sums reach a share of all, or, without replacement,
// the greatest of log p + Gumbel noise.
template <class I>
Array<I> weighted_positions(const Key& key, std::int64_t n, std::int64_t draws,
                            const ChoiceOptions& options) {
  using Real = nax::detail::where_used_t<Array<float>, I>;
  const Real& p = *options.p;
  if (p.shape() != Shape{n})
    raise<ShapeError>(
        {"choice: p must have one probability for each element: shape ", p.shape(), " for ", n, " elements"});
  check_single("choice", key);
  const ComputeOn beside_p(p);
  const Real noise = options.replace ? uniform(key, {draws}) : gumbel(key, {n}),
             weights = nax::detail::typed<float>(constant(beside(noise, p)));
  if (options.replace) {
    const Real sums = cumsum(weights, {.axis = 0}), all = sums(slice(n - 1, n));
    return searchsorted(sums, all * (1.f - noise)).template astype<I>();
  }
  const Real scores = noise + nax::log(weights);
  return nax::argsort(scores, {.descending = true})(slice(0, draws)).template astype<I>();
}

template <class I>
Array<I> chosen_positions(const Key& key, std::int64_t n, const Shape& shape, const ChoiceOptions& options) {
  const std::int64_t draws = count_elements("choice", shape);
  if (draws > 0 && n <= 0) throw ValueError("choice: there is nothing to choose from");
  if (!options.replace && draws > n)
    raise<ValueError>({"choice: cannot take a larger sample (", draws, ") than the population (", n,
                       ") without replacement"});
  check_count("choice", n);
  if (options.replace && !options.p) {
    const nax::detail::where_used_t<Array<std::int32_t>, I> drawn = randint(key, shape, 0, n);
    return drawn.template astype<I>();
  }
  const Array<I> flat =
      options.p ? weighted_positions<I>(key, n, draws, options) : positions<I>("choice", key, n, draws);
  return nax::detail::typed<I>(view(flat, Layout::contiguous(below(layout_of(flat), shape))));
}

}  // namespace detail

// Draws of shape `shape` from the numbers below n. Throws ValueError for an empty population, more than one
// key, or more draws than elements without replacement; ShapeError unless `p` has a probability for each
// element.
template <std::integral I>
Array<std::int32_t> choice(const Key& key, I n, const Shape& shape = {}, const ChoiceOptions& options = {}) {
  return detail::chosen_positions<std::int32_t>(key, static_cast<std::int64_t>(n), shape, options);
}
// Rows of `a` along `axis`, whose place in the result `shape` takes. Throws ValueError for a 0-d `a`, and
// IndexError if `axis` is out of bounds.
template <nax::detail::ArrayLike X>
auto choice(const Key& key, const X& a_, const Shape& shape = {}, const ChoiceOptions& options = {}) {
  const auto a = nax::detail::materialise(a_);
  if (a.ndim() == 0)
    throw ValueError("choice: a must have at least one axis; for the numbers below n pass n");
  nax::detail::check_operand("choice", a);
  const int axis = nax::detail::normalize_axis("choice", options.axis, a.ndim());
  const nax::detail::ComputeOn beside_a(a);
  return nax::take(a, detail::chosen_positions<std::int64_t>(key, a.shape(axis), shape, options),
                   {.axis = axis});
}

struct CategoricalOptions {
  int axis = -1;
  std::optional<Shape> shape = {};  // of the result; it ends in what is left of the logits' shape
};

// Positions along an axis of the logits, with probabilities softmax(logits). The result has the logits' shape
// without `axis`, or `shape`. Throws ValueError without categories, and ShapeError if the logits do not
// broadcast to `shape`.
template <nax::detail::ArrayLike X>
Array<std::int32_t> categorical(const Key& key, const X& logits_, const CategoricalOptions& options = {}) {
  using namespace nax::detail;
  const auto logits = materialise(logits_);
  using T = typename decltype(logits)::value_type;
  static_assert(is_floating_v<T>, "categorical: the logits must be of a floating type");
  const int axis = normalize_axis("categorical", options.axis, logits.ndim());
  const ComputeOn beside_logits(logits);
  Shape batch = logits.shape();
  batch.erase(static_cast<std::size_t>(axis));
  const Shape shape = options.shape.value_or(batch);
  const std::size_t prefix = shape.size() - batch.size();
  bool fits = shape.size() >= batch.size();
  for (std::size_t i = 0; fits && i < batch.size(); ++i)
    fits = batch[i] == 1 || batch[i] == shape[prefix + i];
  if (!fits)
    raise<ShapeError>({"categorical: logits of shape ", logits.shape(), " less axis ", options.axis,
                       " do not broadcast to the shape ", shape});
  Shape noise_shape = shape;
  const std::int64_t n = logits.shape(axis);
  if (n == 0) raise<ValueError>({"categorical: no categories along axis ", options.axis});
  noise_shape.insert(prefix + static_cast<std::size_t>(axis), n);
  const Array<T> noise = gumbel<T>(key, noise_shape);
  const Array<T> scores = evaluate(make_expr<rules::add>(noise, nax::detail::typed<T>(constant(logits))));
  return argmax(scores, {.axis = static_cast<std::int64_t>(prefix) + axis});
}

}  // namespace random
NAX_END
