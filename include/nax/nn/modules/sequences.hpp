#pragma once

#include "nax/lax/scan.hpp"
#include "nax/nn/initializers.hpp"
#include "nax/nn/recurrent.hpp"

// Modules over sequences: recurrent layers.
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

}  // namespace nn
NAX_END
