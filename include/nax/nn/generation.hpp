#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/nn/softmax.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/sorting/sort.hpp"
#include "nax/random/choice.hpp"
#include "nax/rules/unit_interval.hpp"
#include "nax/tree/map.hpp"

// Sequences written element by element, by a model with a cache.
//
// A model is a function of a cache and of the elements that follow on those in it, (B, t): it returns
// std::pair{next cache, logits}, the logits (B, V) of the element after the last, or those after each, (B, t,
// V). The cache is any tree, such as a vector of KeyValueCache; beam_search takes the first axis of its
// arrays for the batch.
NAX_BEGIN
namespace nn {

struct SamplingOptions {
  double temperature = 1;                  // of the logits; 0: the largest one
  std::optional<std::int64_t> top_k = {};  // draw from so many of the largest
  double top_p = 1;                        // draw from the fewest whose probabilities reach this
};

}  // namespace nn

namespace detail {

// The logits but the k largest (and those equal to the k-th) are -inf.
template <class T>
Array<T> keep_largest(const Array<T>& logits, std::int64_t k) {
  const Array<T> least = top_k(logits, k).values(ellipsis, slice(k - 1, k));
  return where(logits < least, -std::numeric_limits<T>::infinity(), logits);
}
// The logits but the fewest whose probabilities reach p are -inf.
template <class T>
Array<T> keep_likely(const Array<T>& logits, double p) {
  const Array<int> order = argsort(logits, {.axis = -1, .descending = true});
  const Array<T> likely = nn::softmax(take_along_axis(logits, order, -1));
  const Array<bool> kept =
      cumsum(likely, {.axis = -1}) - likely < std::max(static_cast<T>(p), std::numeric_limits<T>::min());
  return where(take_along_axis(kept, argsort(order, {.axis = -1}), -1), logits,
               -std::numeric_limits<T>::infinity());
}

NAX_ENGINE void check_prompt(const char* function, const Array<int>& prompt, std::int64_t steps);
// One call of a model: the next cache, and logits (B, V) in float.
template <class Model, class Cache>
std::pair<Cache, Array<float>> next_logits(const char* function, const Model& model, Cache cache,
                                           const Array<int>& tokens) {
  auto [next, all] = model(std::move(cache), tokens);
  Array<float> logits = as_array(all).template astype<float>();
  if (logits.ndim() == 3) logits = logits(_, -1);
  if (logits.ndim() != 2 || logits.shape(0) != tokens.shape(0))
    raise<ShapeError>({function, ": the model must give logits (B, V) or (B, t, V) for elements of shape ",
                       tokens.shape(), ", shape ", logits.shape()});
  return {Cache(std::move(next)), std::move(logits)};
}

}  // namespace detail

namespace nn {

// The next element of each sequence by its logits (..., V): shape (...). Without a key, or for temperature 0,
// the largest. Throws ValueError for a negative temperature, for top_k outside 1 to V and top_p outside (0,
// 1].
template <class T>
Array<int> sample_logits(const std::optional<random::Key>& key, const Array<T>& logits_,
                         const SamplingOptions& options = {}) {
  const std::int64_t v = logits_.ndim() == 0 ? 0 : logits_.shape(-1);
  if (!(options.temperature >= 0))
    raise<ValueError>({"sample_logits: the temperature must not be negative: ", options.temperature});
  if (options.top_k && (*options.top_k < 1 || *options.top_k > v))
    raise<ValueError>({"sample_logits: top_k = ", *options.top_k, " of ", v, " logits"});
  if (!(options.top_p > 0 && options.top_p <= 1))
    raise<ValueError>({"sample_logits: top_p must be above 0 and at most 1: ", options.top_p});
  if (!key || options.temperature == 0) return argmax(logits_, {.axis = -1});
  // From the largest down, so that a low temperature makes none infinite but those far below.
  using C = nax::detail::compute_t<T>;
  const Array<C> wide = logits_.template astype<C>();
  const double temperature = std::max(options.temperature, double{std::numeric_limits<C>::min()});
  const Array<C> largest = max(wide, {.axis = -1, .keepdims = true});
  Array<C> logits = (wide - where(isfinite(largest), largest, C(0))) / static_cast<C>(temperature);
  if (options.top_k) logits = nax::detail::keep_largest(logits, *options.top_k);
  if (options.top_p < 1) logits = nax::detail::keep_likely(logits, options.top_p);
  return random::categorical(*key, logits);
}

struct GenerateOptions {
  std::int64_t steps = 0;               // elements to write
  std::optional<random::Key> key = {};  // draws them; without one each is the likeliest
  SamplingOptions sampling = {};        // temperature, top_k, top_p
  std::optional<int> end = {};          // the element that ends a sequence; it fills what is left
};
// Elements that a model writes after a prompt (B, T): (B, steps). Calls model(cache, prompt), then the model
// with one element of each sequence, until all have ended. (Under transforms all steps are made.) Throws
// ShapeError for another prompt and for logits that do not fit it, and ValueError for options out of range.
template <class Model, class Cache>
Array<int> generate(const Model& model, Cache cache, const Array<int>& prompt,
                    const GenerateOptions& options) {
  using namespace nax::detail;
  check_prompt("generate", prompt, options.steps);
  const ComputeOn beside_prompt(prompt);
  const std::int64_t b = prompt.shape(0);
  using Ints = where_used_t<Array<int>, Model>;
  std::vector<Ints> all;
  Ints tokens = prompt;
  where_used_t<Array<bool>, Model> ended = zeros<bool>({b});
  for (std::int64_t i = 0; i < options.steps; ++i) {
    auto [next, logits] = next_logits("generate", model, std::move(cache), tokens);
    cache = std::move(next);
    std::optional<random::Key> key;
    if (options.key) key = random::fold_in(*options.key, i);
    Ints drawn = sample_logits(key, logits, options.sampling);
    if (options.end) {
      drawn = where(ended, *options.end, drawn);
      ended = drawn == *options.end;
    }
    tokens = drawn.reshape({b, 1});
    all.push_back(tokens);
    if (options.end && i + 1 < options.steps && !is_transformed(ended) && !is_yet_unknown(ended) &&
        nax::all(ended).item()) {
      all.push_back(full<int>({b, options.steps - i - 1}, *options.end));
      break;
    }
  }
  return all.empty() ? zeros<int>({b, 0}) : Ints(concatenate(all, {.axis = 1}));
}

struct BeamSearchOptions {
  std::int64_t steps = 0;       // elements to write
  std::int64_t beams = 4;       // sequences that are kept of each example
  std::optional<int> end = {};  // the element that ends a sequence; it fills what is left
  double length_penalty = 0;    // the order is that of scores over length to this power
};
struct Beams {
  Array<int> tokens;    // (B, beams, steps), the best first
  Array<float> scores;  // (B, beams): the logarithms of their probabilities
};
// The likeliest sequences after a prompt (B, T) among those that begin likeliest. The cache is one of B
// sequences. Throws ShapeError for another prompt and for logits that do not fit it, and ValueError for
// options out of range and for more beams than logits.
template <class Model, class Cache>
Beams beam_search(const Model& model, Cache cache, const Array<int>& prompt,
                  const BeamSearchOptions& options) {
  using namespace nax::detail;
  using Real = where_used_t<Array<float>, Model>;
  using Ints = where_used_t<Array<int>, Model>;
  check_prompt("beam_search", prompt, options.steps);
  const ComputeOn beside_prompt(prompt);
  const std::int64_t b = prompt.shape(0), k = options.beams;
  if (k < 1) raise<ValueError>({"beam_search: beams must be at least 1: ", k});
  if (options.steps == 0) return {zeros<int>({b, k, 0}), zeros<float>({b, k})};
  // Rows of all arrays of the cache that have axes.
  const auto rows_of = [&cache](const Ints& rows) {
    cache = tree::map(
        [&]<class Leaf>(const Leaf& leaf) -> Leaf {
          if constexpr (is_array_v<Leaf>)
            return leaf.ndim() == 0 ? leaf : Leaf(take(leaf, rows, {.axis = 0}));
          else
            return leaf;
        },
        cache);
  };
  const Ints example = arange<int>(static_cast<int>(b)).reshape({b, 1});

  auto [first, logits] = next_logits("beam_search", model, std::move(cache), prompt);
  cache = std::move(first);
  const std::int64_t v = logits.shape(1);
  if (k > v) raise<ValueError>({"beam_search: ", k, " beams of ", v, " logits"});
  auto best = top_k(Real(log_softmax(logits)), k);
  Real scores = best.values;
  Ints tokens = best.indices.reshape({b, k, 1});
  rows_of(Ints(example + zeros<int>({b, k})).reshape({-1}));
  const auto ends = [&](const Ints& x) {
    return options.end ? Array<bool>(x == *options.end) : zeros<bool>(x.shape());
  };
  for (std::int64_t i = 1; i < options.steps; ++i) {
    const Ints last = tokens(_, _, -1);
    auto [next, more] = next_logits("beam_search", model, std::move(cache), last.reshape({b * k, 1}));
    cache = std::move(next);
    Real likely = Real(log_softmax(more)).reshape({b, k, v});
    if (options.end) {  // an ended sequence goes on with its end alone
      const Real only = where(Ints(arange<int>(static_cast<int>(v))) == *options.end, 0.f,
                              -std::numeric_limits<float>::infinity());
      likely = where(expand_dims(ends(last), -1), only, likely);
    }
    best = top_k(Real(expand_dims(scores, -1) + likely).reshape({b, k * v}), k);
    scores = best.values;
    const Ints beam = floor_divide(best.indices, static_cast<int>(v)),
               token = best.indices % static_cast<int>(v);
    tokens =
        concatenate({Ints(take_along_axis(tokens, expand_dims(beam, -1), 1)), Ints(expand_dims(token, -1))},
                    {.axis = -1});
    rows_of(Ints(example * static_cast<int>(k) + beam).reshape({-1}));
  }
  if (options.length_penalty != 0) {
    // A sequence is as long as its elements before the end, and the end.
    const Ints before = sum(logical_not(ends(tokens)).template astype<int>(), {.axis = -1});
    const Real length = minimum(before + 1, static_cast<int>(options.steps)).template astype<float>();
    const Real ranked = scores / power(length, static_cast<float>(options.length_penalty));
    const Ints order = argsort(ranked, {.axis = -1, .descending = true});
    tokens = take_along_axis(tokens, expand_dims(order, -1), 1);
    scores = take_along_axis(scores, order, -1);
  }
  return {tokens, scores};
}

}  // namespace nn
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void check_prompt(const char* function, const Array<int>& prompt, std::int64_t steps) {
  if (prompt.ndim() != 2 || prompt.shape(1) < 1)
    raise<ShapeError>(
        {function, ": the prompt must be (B, T) with an element at least, shape ", prompt.shape()});
  if (steps < 0) raise<ValueError>({function, ": steps must not be negative: ", steps});
}

}  // namespace detail
NAX_END
#endif
