#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "nax/lax/dynamic_slice.hpp"
#include "nax/nn/attention.hpp"
#include "nax/nn/initializers.hpp"

// Attention with its projections, and the cache that generates one element at a time.
NAX_BEGIN
namespace nn {

// Keys and values of the elements seen so far: K heads of H in S slots. A tree of arrays whose shapes stay,
// so it is a carry of lax::scan.
template <class T = float>
struct KeyValueCache {
  Array<T> key, value;  // (S, K, H) or (B, S, K, H)
  Array<int> length;    // (): slots filled
};
struct CachedAttentionOptions {
  std::optional<Array<bool>> mask = {};     // where it is false a query does not see the slot: (B, N, T, S)
  std::optional<double> scale = {};         // of the logits, 1 / sqrt(H) when not given
  std::optional<std::int64_t> window = {};  // a query sees so many elements before its own
};

}  // namespace nn

namespace detail {

// Attention of the `count` queries after the first `cache.length` elements to all slots up to their own.
// Where the length differs from example to example, or is recorded, all slots are masked.
template <class T>
Array<T> attend_slots(const Array<T>& query, const nn::KeyValueCache<T>& cache,
                      const nn::CachedAttentionOptions& options) {
  const std::int64_t axis = cache.key.ndim() - 3, slots = cache.key.shape(axis), count = query.shape(axis);
  const bool differs = is_batched(cache.length) || is_yet_unknown(cache.length);
  const std::int64_t before = differs ? 0 : cache.length.item();
  const std::int64_t seen = differs ? slots : before + count;
  const std::int64_t window = std::clamp<std::int64_t>(options.window.value_or(slots), 0, slots);
  const std::int64_t first = std::max<std::int64_t>(differs ? 0 : before - window, 0);
  nn::AttentionOptions<T> rest{.scale = options.scale};
  if (options.mask) {
    if (options.mask->ndim() != 4 || (options.mask->shape(3) != 1 && options.mask->shape(3) != slots))
      raise<ShapeError>({"MultiHeadAttention: mask must broadcast to (B, N, T, S) with ", slots,
                         " slots, shape ", options.mask->shape()});
    rest.mask = options.mask->shape(3) == 1
                    ? *options.mask
                    : lax::dynamic_slice_in_dim(*options.mask, first, seen - first, 3);
  }
  if (!differs && before == 0 && window >= count) {
    rest.is_causal = true;
  } else if (differs || count > 1) {
    const ComputeOn beside_query(query);
    const Array<int> rows = arange<int>(count).reshape({1, 1, count, 1}) + cache.length;
    const Array<int> columns =
        arange<int>(static_cast<int>(first), static_cast<int>(seen)).reshape({1, 1, 1, seen - first});
    const Array<bool> nearby = logical_and(columns <= rows, columns >= rows - static_cast<int>(window));
    rest.mask = rest.mask ? Array<bool>(logical_and(*rest.mask, nearby)) : nearby;
  }
  if (differs) {  // kernels read no slot behind the last that is filled
    const Array<int> filled_slots = cache.length + static_cast<int>(count);
    rest.key_value_seq_lengths = broadcast_to(filled_slots, {query.ndim() == 4 ? query.shape(0) : 1});
  }
  const auto filled = [&](const Array<T>& x) {
    return lax::dynamic_slice_in_dim(x, first, seen - first, axis);
  };
  return nn::dot_product_attention(query, filled(cache.key), filled(cache.value), rest);
}

}  // namespace detail

namespace nn {

struct MultiHeadOptions {
  std::int64_t features = 0, heads = 1;
  std::int64_t key_value_heads = 0;  // as many as heads; else fewer, each serving several
  bool bias = true;
};
// multi_head_attention of x (T, features) or (B, T, features) with heads of features / heads each.
template <class T = float>
struct MultiHeadAttention {
  MultiHeadParams<T> params;

  static MultiHeadAttention make(const random::Key& key, const MultiHeadOptions& options) {
    const std::int64_t e = options.features, n = options.heads;
    const std::int64_t k = options.key_value_heads == 0 ? n : options.key_value_heads;
    if (n < 1 || k < 1 || e % n != 0 || n % k != 0)
      raise<ValueError>({"MultiHeadAttention: ", n, " heads must divide ", e, " features and be divided by ",
                         k, " heads of keys"});
    const std::int64_t h = e / n;
    const auto keys = random::split(key, 4);
    const auto draw = [&](int i, std::int64_t heads) {
      return Array<T>(initializers::glorot_uniform<T>(keys[i], {e, heads * h}).reshape({e, heads, h}));
    };
    MultiHeadAttention made{
        {draw(0, n), draw(1, k), draw(2, k),
         Array<T>(initializers::glorot_uniform<T>(keys[3], {n * h, e}).reshape({n, h, e}))}};
    if (options.bias) {
      made.params.query_bias = zeros<T>({n, h});
      made.params.key_bias = zeros<T>({k, h});
      made.params.value_bias = zeros<T>({k, h});
      made.params.out_bias = zeros<T>({e});
    }
    return made;
  }
  // Attention of x to itself.
  Array<T> operator()(const Array<T>& x, const AttentionOptions<T>& options = {}) const {
    return multi_head_attention(params, x, options);
  }
  // Attention of x to `memory` (..., S, features).
  Array<T> attend(const Array<T>& x, const Array<T>& memory, const AttentionOptions<T>& options = {}) const {
    return multi_head_attention(params, x, memory, options);
  }
  // y plus the attention of x to `memory`: on a GPU the last projection adds y.
  Array<T> add_to(const Array<T>& y, const Array<T>& x, const Array<T>& memory,
                  const AttentionOptions<T>& options = {}) const {
    return nax::detail::attend_heads(params, x, memory, options, &y);
  }
  // An empty cache of `slots` elements, of one sequence or a batch of them.
  KeyValueCache<T> cache(std::int64_t slots, std::optional<std::int64_t> batch = {}) const {
    Shape shape = batch ? Shape{*batch, slots} : Shape{slots};
    shape.push_back(params.key.shape(1)), shape.push_back(params.key.shape(2));
    return {zeros<T>(shape), zeros<T>(shape), zeros<int>(Shape{})};
  }
  // Causal attention of the next elements x, (T, features) or (B, T, features), to those in the cache and to
  // themselves: the rows that operator()(all, {.is_causal = true}) has for them. Returns the cache with x,
  // and the result. A cache that is moved in is filled in place. Throws ValueError where too few slots are
  // left.
  std::pair<KeyValueCache<T>, Array<T>> operator()(KeyValueCache<T> cache, const Array<T>& x,
                                                   const CachedAttentionOptions& options = {}) const {
    return attend_cached(std::move(cache), x, options, nullptr);
  }
  // With y plus that result.
  std::pair<KeyValueCache<T>, Array<T>> add_to(const Array<T>& y, KeyValueCache<T> cache, const Array<T>& x,
                                               const CachedAttentionOptions& options = {}) const {
    return attend_cached(std::move(cache), x, options, &y);
  }

 private:
  std::pair<KeyValueCache<T>, Array<T>> attend_cached(KeyValueCache<T> cache, const Array<T>& x,
                                                      const CachedAttentionOptions& options,
                                                      const Array<T>* added) const {
    using namespace nax::detail;
    const std::int64_t axis = cache.key.ndim() - 3;
    if ((axis != 0 && axis != 1) || x.ndim() != axis + 2)
      raise<ShapeError>({"MultiHeadAttention: elements of shape ", x.shape(), " do not fit a cache of shape ",
                         cache.key.shape()});
    const int count = static_cast<int>(x.shape(axis)), slots = static_cast<int>(cache.key.shape(axis));
    Array<std::int64_t> start = cache.length.template astype<std::int64_t>();
    if (count > slots || (!is_yet_unknown(start) && any_true(Array<bool>(start > slots - count))))
      raise<ValueError>(
          {"MultiHeadAttention: the cache has no room for ", count, " more elements: ", slots, " slots"});
    // A replay of jit that finds no room calls the function itself.
    if (is_yet_unknown(start))
      start = checked_index("MultiHeadAttention", start, static_cast<int>(axis), slots - count + 1);
    const Array<T> rows = rows_on_device(x);
    const auto append = [&](Array<T>& into, const Array<T>& w, const std::optional<Array<T>>& bias, int i) {
      into = lax::dynamic_update_slice_in_dim(std::move(into),
                                              project_heads(x, rows, w, bias, params.int8[i]), start, axis);
    };
    append(cache.key, params.key, params.key_bias, 1);
    append(cache.value, params.value, params.value_bias, 2);
    const Array<T> query = project_heads(x, rows, params.query, params.query_bias, params.int8[0]);
    const Array<T> y = join_heads(attend_slots(query, cache, options), params, added);
    cache.length = cache.length + count;
    return {std::move(cache), y};
  }
};

}  // namespace nn
NAX_END
