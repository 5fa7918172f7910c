#pragma once

#include "nax/lax/scan.hpp"
#include "nax/nn/attention.hpp"
#include "nax/nn/initializers.hpp"
#include "nax/nn/recurrent.hpp"

// Modules over sequences: recurrent layers, attention, and layers one after another.
NAX_BEGIN
namespace nn {

struct RecurrentOptions {
  std::int64_t in = 0, units = 0;
};
// lstm_cell over the first axis of x (L, ..., in). Returns the last state and all outputs (L, ..., units).
template <class T = float>
struct LSTM {
  LSTMParams<T> cell;

  static LSTM make(const random::Key& key, const RecurrentOptions& options) {
    return {lstm_params<T>(key, options.in, options.units)};
  }
  // The state before the first step, for a batch of this shape.
  LSTMState<T> state(const Shape& batch = {}) const { return lstm_state<T>(cell.recurrent.shape(0), batch); }
  std::pair<LSTMState<T>, Array<T>> operator()(const LSTMState<T>& first, const Array<T>& x) const {
    return lax::scan([this](const LSTMState<T>& s, const Array<T>& row) { return lstm_cell(cell, s, row); },
                     first, x);
  }
};
// gru_cell, in the same way.
template <class T = float>
struct GRU {
  GRUParams<T> cell;

  static GRU make(const random::Key& key, const RecurrentOptions& options) {
    return {gru_params<T>(key, options.in, options.units)};
  }
  Array<T> state(Shape batch = {}) const {
    batch.push_back(cell.recurrent.shape(0));
    return zeros<T>(batch);
  }
  std::pair<Array<T>, Array<T>> operator()(const Array<T>& first, const Array<T>& x) const {
    return lax::scan([this](const Array<T>& h, const Array<T>& row) { return gru_cell(cell, h, row); }, first,
                     x);
  }
};

struct MultiHeadOptions {
  std::int64_t features = 0, heads = 1;
  std::int64_t key_value_heads = 0;  // as many as heads; else fewer, each serving several
  bool bias = true;
};
// multi_head_attention of x (..., T, features) with heads of features / heads each.
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
};

}  // namespace nn
NAX_END
