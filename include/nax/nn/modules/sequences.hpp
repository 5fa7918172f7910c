#pragma once

#include <utility>
#include <vector>

#include "nax/lax/scan.hpp"
#include "nax/nn/initializers.hpp"
#include "nax/nn/layers.hpp"
#include "nax/nn/recurrent.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"

// Modules over sequences: recurrent layers.
NAX_BEGIN
namespace detail {

// The parameters of a cell, without their biases unless `keeps`.
template <class Params>
Params with_biases(Params params, bool keeps) {
  if (keeps) return params;
  params.bias.reset();
  if constexpr (requires { params.recurrent_bias; }) params.recurrent_bias.reset();
  return params;
}

}  // namespace detail

namespace nn {

struct RecurrentOptions {
  std::int64_t in = 0, units = 0;
  bool bias = true;
};
// rnn_cell over the first axis of x (L, ..., in). Returns the last state and all outputs (L, ..., units).
template <class T = float>
struct RNN {
  RNNParams<T> cell;

  static RNN make(const random::Key& key, const RecurrentOptions& options) {
    return {nax::detail::with_biases(rnn_params<T>(key, options.in, options.units), options.bias)};
  }
  Array<T> state(Shape batch = {}) const {
    batch.push_back(cell.recurrent.shape(0));
    return zeros<T>(batch);
  }
  std::pair<Array<T>, Array<T>> operator()(const Array<T>& first, const Array<T>& x) const {
    return lax::scan([this](const Array<T>& h, const Array<T>& row) { return rnn_cell(cell, h, row); }, first,
                     x);
  }
};
// lstm_cell over the first axis of x (L, ..., in). Returns the last state and all outputs (L, ..., units).
template <class T = float>
struct LSTM {
  LSTMParams<T> cell;

  static LSTM make(const random::Key& key, const RecurrentOptions& options) {
    return {nax::detail::with_biases(lstm_params<T>(key, options.in, options.units), options.bias)};
  }
  // The state before the first step, for a batch of this shape.
  LSTMState<T> state(const Shape& batch = {}) const { return lstm_state<T>(cell.recurrent.shape(0), batch); }
  std::pair<LSTMState<T>, Array<T>> operator()(const LSTMState<T>& first, const Array<T>& x) const {
    return lax::scan([this](const LSTMState<T>& s, const Array<T>& row) { return lstm_cell(cell, s, row); },
                     first, x);
  }
};
// gru_cell, as LSTM.
template <class T = float>
struct GRU {
  GRUParams<T> cell;

  static GRU make(const random::Key& key, const RecurrentOptions& options) {
    return {nax::detail::with_biases(gru_params<T>(key, options.in, options.units), options.bias)};
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

// Two recurrent layers, the second of which reads x (L, ..., in) from its end. Outputs (L, ..., 2 units): the
// first layer's, then the second's at the same place.
template <class Layer>
struct Bidirectional {
  Layer forward, backward;

  static Bidirectional make(const random::Key& key, const RecurrentOptions& options) {
    const auto keys = random::split(key, 2);
    return {Layer::make(keys[0], options), Layer::make(keys[1], options)};
  }
  auto state(const Shape& batch = {}) const { return std::pair{forward.state(batch), backward.state(batch)}; }
  template <class S, class T>
  std::pair<S, Array<T>> operator()(const S& first, const Array<T>& x) const {
    auto [ahead, there] = forward(first.first, x);
    auto [behind, back] = backward(first.second, Array<T>(flip(x, {.axis = 0})));
    return {S{std::move(ahead), std::move(behind)},
            concatenate({there, Array<T>(flip(back, {.axis = 0}))}, {.axis = -1})};
  }
};

}  // namespace nn

namespace detail {

// Outputs of a recurrent layer for each of its units.
template <class Layer>
inline constexpr std::int64_t recurrent_outputs = 1;
template <class Layer>
inline constexpr std::int64_t recurrent_outputs<nn::Bidirectional<Layer>> = 2;

}  // namespace detail

namespace nn {

struct StackedOptions {
  std::int64_t in = 0, units = 0;
  std::int64_t layers = 1;
  bool bias = true;
};
// Recurrent layers, each of which reads the outputs of the one before: `Stacked<LSTM<float>>`,
// `Stacked<Bidirectional<GRU<float>>>`. The state is a vector of theirs.
template <class Layer>
struct Stacked {
  std::vector<Layer> layers;

  static Stacked make(const random::Key& key, const StackedOptions& options) {
    const auto keys = random::split(key, static_cast<int>(options.layers));
    Stacked made;
    for (std::int64_t i = 0; i < options.layers; ++i) {
      const std::int64_t in = i == 0 ? options.in : options.units * nax::detail::recurrent_outputs<Layer>;
      made.layers.push_back(Layer::make(keys[static_cast<int>(i)], {in, options.units, options.bias}));
    }
    return made;
  }
  auto state(const Shape& batch = {}) const {
    std::vector<decltype(layers[0].state(batch))> all;
    for (const Layer& layer : layers) all.push_back(layer.state(batch));
    return all;
  }
  template <class S, class T>
  std::pair<std::vector<S>, Array<T>> operator()(const std::vector<S>& first, const Array<T>& x) const {
    return run(first, x, [](std::size_t, const Array<T>& y) { return y; });
  }
  // With dropout of this rate between the layers, as in training.
  template <class S, class T>
  std::pair<std::vector<S>, Array<T>> operator()(const random::Key& key, double rate,
                                                 const std::vector<S>& first, const Array<T>& x) const {
    return run(first, x, [&](std::size_t i, const Array<T>& y) -> Array<T> {
      if (i == 0 || rate == 0) return y;
      return dropout(random::fold_in(key, static_cast<std::int64_t>(i)), rate, y);
    });
  }

 private:
  template <class S, class T, class Before>
  std::pair<std::vector<S>, Array<T>> run(const std::vector<S>& first, const Array<T>& x,
                                          const Before& before) const {
    if (first.size() != layers.size())
      raise<ValueError>({"Stacked: ", first.size(), " states for ", layers.size(), " layers"});
    std::vector<S> last;
    Array<T> y = x;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      auto [state, outputs] = layers[i](first[i], before(i, y));
      last.push_back(std::move(state));
      y = std::move(outputs);
    }
    return {std::move(last), y};
  }
};

}  // namespace nn
NAX_END
