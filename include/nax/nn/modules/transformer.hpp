#pragma once

#include <utility>

#include "nax/core/where_used.hpp"
#include "nax/nn/modules/attention.hpp"
#include "nax/nn/modules/layers.hpp"
#include "nax/nn/modules/norms.hpp"

// Layers of transformers (Vaswani and others 2017).
NAX_BEGIN
namespace nn {

struct TransformerOptions {
  std::int64_t features = 0, heads = 1;
  std::int64_t key_value_heads = 0;          // as many as heads; else fewer, each serving several
  std::int64_t hidden = 0;                   // width of the feed-forward part, 4 features when not given
  Activation activation = Activation::relu;  // gelu_exact is PyTorch's "gelu"
  bool pre_norm = false;  // a norm before each part, not after the sum of its result and its input
  double dropout = 0;     // rate, of each part's result and of the hidden features
  double epsilon = 1e-5;  // of the norms
};

}  // namespace nn

namespace detail {

struct TransformerSettings {
  nn::Activation activation = nn::Activation::relu;
  bool pre_norm = false;
  double dropout = 0;
  friend bool operator==(const TransformerSettings&, const TransformerSettings&) = default;
};

// Dropout of one call: each place has a key of its own.
class Drops {
 public:
  Drops() = default;
  Drops(const random::Key& key, double rate) : key_(key), rate_(rate) {}
  bool any() const { return key_ && rate_ > 0; }
  template <class T>
  Array<T> operator()(const Array<T>& x, std::int64_t place) const {
    return any() ? Array<T>(nn::dropout(random::fold_in(*key_, place), rate_, x)) : x;
  }

 private:
  std::optional<random::Key> key_;
  double rate_ = 0;
};

// Residuals of a layer: x plus a part's result, with the part's norm before or after. A part is a function
// of its input and of what it adds its result to, which is null where dropout stands between.
struct Residuals {
  const Drops& drop;
  bool pre_norm;

  template <class T, class Part>
  Array<T> operator()(const Array<T>& x, const nn::LayerNorm<T>& norm, std::int64_t place,
                      const Part& part) const {
    const Array<T> from = pre_norm ? norm(x) : x;
    const Array<T> y = drop.any() ? Array<T>(x + drop(part(from, nullptr), place)) : part(from, &x);
    return pre_norm ? y : norm(y);
  }
  template <class T>
  Array<T> feed_forward(const Array<T>& x, const nn::LayerNorm<T>& norm, std::int64_t place,
                        const nn::Linear<T>& wide, const nn::Linear<T>& narrow,
                        nn::Activation activation) const {
    return (*this)(x, norm, place, [&](const Array<T>& a, const Array<T>* to) {
      const Array<T> hidden = drop(wide(a, activation), 0);
      return to ? narrow.add_to(*to, hidden) : narrow(hidden);
    });
  }
};

}  // namespace detail

namespace nn {

// Self-attention and two linear layers, each with a residual and a layer norm: x (..., T, features) keeps its
// shape. PyTorch's TransformerEncoderLayer, but for dropout of attention's weights, which there is none of.
// PyTorch's activation "gelu" is `Activation::gelu_exact` here. With `.is_causal = true` among attention's
// options it is a layer of a GPT, with a cache it generates.
template <class T = float>
struct TransformerEncoderLayer {
  MultiHeadAttention<T> attention;
  LayerNorm<T> attention_norm, hidden_norm;
  Linear<T> wide, narrow;
  tree::Static<nax::detail::where_used_t<nax::detail::TransformerSettings, T>> settings = {};

  static TransformerEncoderLayer make(const random::Key& key, const TransformerOptions& options) {
    const auto keys = random::split(key, 3);
    const std::int64_t e = options.features, hidden = options.hidden == 0 ? 4 * e : options.hidden;
    const auto norm = LayerNorm<T>::make({.features = e, .epsilon = options.epsilon});
    return {MultiHeadAttention<T>::make(
                keys[0], {.features = e, .heads = options.heads, .key_value_heads = options.key_value_heads}),
            norm,
            norm,
            Linear<T>::make(keys[1], {.in = e, .out = hidden}),
            Linear<T>::make(keys[2], {.in = hidden, .out = e}),
            nax::detail::TransformerSettings{options.activation, options.pre_norm, options.dropout}};
  }
  Array<T> operator()(const Array<T>& x, const AttentionOptions<T>& options = {}) const {
    return run({}, x, options);
  }
  // With dropout, as in training.
  Array<T> operator()(const random::Key& key, const Array<T>& x,
                      const AttentionOptions<T>& options = {}) const {
    return run({key, settings->dropout}, x, options);
  }
  // An empty cache, as the attention's.
  KeyValueCache<T> cache(std::int64_t slots, std::optional<std::int64_t> batch = {}) const {
    return attention.cache(slots, batch);
  }
  // The next elements x, which see those in the cache: returns the cache with x, and the result.
  std::pair<KeyValueCache<T>, Array<T>> operator()(KeyValueCache<T> cache, const Array<T>& x,
                                                   const CachedAttentionOptions& options = {}) const {
    Array<T> y = run_parts({}, x, [&](const Array<T>& a, const Array<T>* to) {
      auto [next, result] = attention.add_to(*to, std::move(cache), a, options);  // (there is no dropout)
      cache = std::move(next);
      return result;
    });
    return {std::move(cache), y};
  }

 private:
  Array<T> run(const nax::detail::Drops& drop, const Array<T>& x, const AttentionOptions<T>& options) const {
    return run_parts(drop, x, [&](const Array<T>& a, const Array<T>* to) {
      return nax::detail::attend_heads(attention.params, a, a, options, to);
    });
  }
  template <class Attend>
  Array<T> run_parts(const nax::detail::Drops& drop, const Array<T>& x, const Attend& attend) const {
    const nax::detail::Residuals add{drop, settings->pre_norm};
    const Array<T> y = add(x, attention_norm, 1, attend);
    return add.feed_forward(y, hidden_norm, 2, wide, narrow, settings->activation);
  }
};

// Causal self-attention, attention to a memory, and two linear layers, each with a residual and a layer norm:
// x (..., T, features) keeps its shape, the memory is (..., S, features). PyTorch's TransformerDecoderLayer,
// but for dropout of attention's weights, which there is none of; its "gelu" is `Activation::gelu_exact`. In
// PyTorch the parts are called self_attn (`attention`), multihead_attn (`memory_attention`), norm1
// (`attention_norm`), norm2 (`memory_norm`), norm3 (`hidden_norm`), linear1 (`wide`), linear2 (`narrow`).
template <class T = float>
struct TransformerDecoderLayer {
  MultiHeadAttention<T> attention, memory_attention;
  LayerNorm<T> attention_norm, memory_norm, hidden_norm;
  Linear<T> wide, narrow;
  tree::Static<nax::detail::where_used_t<nax::detail::TransformerSettings, T>> settings = {};

  static TransformerDecoderLayer make(const random::Key& key, const TransformerOptions& options) {
    const auto keys = random::split(key, 2);
    const auto one = TransformerEncoderLayer<T>::make(keys[0], options);
    const auto heads = MultiHeadAttention<T>::make(
        keys[1],
        {.features = options.features, .heads = options.heads, .key_value_heads = options.key_value_heads});
    return {one.attention,   heads,    one.attention_norm, one.attention_norm,
            one.hidden_norm, one.wide, one.narrow,         one.settings};
  }
  Array<T> operator()(const Array<T>& x, const Array<T>& memory,
                      const AttentionOptions<T>& self = {.is_causal = true},
                      const AttentionOptions<T>& cross = {}) const {
    return run({}, x, memory, self, cross);
  }
  // With dropout, as in training.
  Array<T> operator()(const random::Key& key, const Array<T>& x, const Array<T>& memory,
                      const AttentionOptions<T>& self = {.is_causal = true},
                      const AttentionOptions<T>& cross = {}) const {
    return run({key, settings->dropout}, x, memory, self, cross);
  }

 private:
  Array<T> run(const nax::detail::Drops& drop, const Array<T>& x, const Array<T>& memory,
               const AttentionOptions<T>& self, const AttentionOptions<T>& cross) const {
    const nax::detail::Residuals add{drop, settings->pre_norm};
    Array<T> y = add(x, attention_norm, 1, [&](const Array<T>& a, const Array<T>* to) {
      return nax::detail::attend_heads(attention.params, a, a, self, to);
    });
    y = add(y, memory_norm, 2, [&](const Array<T>& a, const Array<T>* to) {
      return nax::detail::attend_heads(memory_attention.params, a, memory, cross, to);
    });
    return add.feed_forward(y, hidden_norm, 3, wide, narrow, settings->activation);
  }
};

}  // namespace nn
NAX_END
