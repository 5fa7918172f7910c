#pragma once

#include <optional>
#include <utility>

#include "nax/nn/activations.hpp"
#include "nax/nn/initializers.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/products/matmul.hpp"

// Recurrent cells: cell(params, carry, x) -> {carry, y}, what lax::scan takes. Biases that are not given are
// 0.
NAX_BEGIN
namespace nn {

template <class T>
struct RNNParams {
  Array<T> input;                     // (D, H)
  Array<T> recurrent;                 // (H, H)
  std::optional<Array<T>> bias = {};  // (H,)
};
// Gates one after another: input, forget, cell, output.
template <class T>
struct LSTMParams {
  Array<T> input;                     // (D, 4 H)
  Array<T> recurrent;                 // (H, 4 H)
  std::optional<Array<T>> bias = {};  // (4 H,)
};
template <class T>
struct LSTMState {
  Array<T> c, h;  // (..., H)
};
// Gates one after another: reset, update, candidate. The candidate's recurrent part has a bias of its own.
template <class T>
struct GRUParams {
  Array<T> input;                               // (D, 3 H)
  Array<T> recurrent;                           // (H, 3 H)
  std::optional<Array<T>> bias = {};            // (3 H,)
  std::optional<Array<T>> recurrent_bias = {};  // (3 H,)
};

}  // namespace nn

namespace detail {

template <class T>
Array<T> gate(const Array<T>& all, std::int64_t i, std::int64_t width) {
  return all(ellipsis, slice(i * width, (i + 1) * width));
}
// x plus a bias, where one is given.
template <class T, class X>
Array<T> with_bias(const X& x, const std::optional<Array<T>>& bias) {
  return bias ? Array<T>(x + *bias) : Array<T>(x);
}
inline void check_gates(const char* function, const ArrayBase& input, const ArrayBase& recurrent,
                        std::int64_t gates) {
  if (input.ndim() != 2 || recurrent.ndim() != 2 || recurrent.shape(1) != gates * recurrent.shape(0) ||
      input.shape(1) != recurrent.shape(1))
    raise<ShapeError>({function, ": the weights must be (D, ", gates, " H) and (H, ", gates, " H): shapes ",
                       input.shape(), " and ", recurrent.shape()});
}

}  // namespace detail

namespace nn {

// h' = tanh(x input + h recurrent + bias). Returns {h', h'}; x is (..., D). Throws ShapeError if the weights
// do not fit each other.
template <class T>
std::pair<Array<T>, Array<T>> rnn_cell(const RNNParams<T>& params, const Array<T>& h, const Array<T>& x) {
  detail::check_gates("rnn_cell", params.input, params.recurrent, 1);
  const Array<T> next =
      tanh(detail::with_bias(matmul(x, params.input) + matmul(h, params.recurrent), params.bias));
  return {next, next};
}
// c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c'), with (i, f, g, o) = x input + h recurrent
// + bias. Returns {state, h'}; x is (..., D). Throws ShapeError if the weights do not fit each other.
template <class T>
std::pair<LSTMState<T>, Array<T>> lstm_cell(const LSTMParams<T>& params, const LSTMState<T>& state,
                                            const Array<T>& x) {
  detail::check_gates("lstm_cell", params.input, params.recurrent, 4);
  const std::int64_t n = params.recurrent.shape(0);
  const Array<T> gates =
      detail::with_bias(matmul(x, params.input) + matmul(state.h, params.recurrent), params.bias);
  const Array<T> c = sigmoid(detail::gate(gates, 1, n)) * state.c +
                     sigmoid(detail::gate(gates, 0, n)) * tanh(detail::gate(gates, 2, n));
  const Array<T> h = sigmoid(detail::gate(gates, 3, n)) * tanh(c);
  return {{c, h}, h};
}
// h' = (1 - z) n + z h with r, z = sigmoid(x input + bias + h recurrent + recurrent_bias) and the candidate n
// = tanh(x input + bias + r (h recurrent + recurrent_bias)). Returns {h', h'}; x is (..., D). Throws
// ShapeError if the weights do not fit each other.
template <class T>
std::pair<Array<T>, Array<T>> gru_cell(const GRUParams<T>& params, const Array<T>& h, const Array<T>& x) {
  detail::check_gates("gru_cell", params.input, params.recurrent, 3);
  const std::int64_t n = params.recurrent.shape(0);
  const Array<T> from_x = detail::with_bias(matmul(x, params.input), params.bias),
                 from_h = detail::with_bias(matmul(h, params.recurrent), params.recurrent_bias);
  const Array<T> r = sigmoid(detail::gate(from_x, 0, n) + detail::gate(from_h, 0, n)),
                 z = sigmoid(detail::gate(from_x, 1, n) + detail::gate(from_h, 1, n));
  const Array<T> candidate = tanh(detail::gate(from_x, 2, n) + r * detail::gate(from_h, 2, n));
  const Array<T> next = (T(1) - z) * candidate + z * h;
  return {next, next};
}

// Parameters for D inputs and H units: Glorot's uniform weights, biases 0.
template <class T = float>
RNNParams<T> rnn_params(const random::Key& key, std::int64_t inputs, std::int64_t units) {
  const auto keys = random::split(key, 2);
  return {initializers::glorot_uniform<T>(keys[0], {inputs, units}),
          initializers::glorot_uniform<T>(keys[1], {units, units}), zeros<T>({units})};
}
// Parameters for D inputs and H units: Glorot's uniform weights, biases 0, that of the forget gate 1.
template <class T = float>
LSTMParams<T> lstm_params(const random::Key& key, std::int64_t inputs, std::int64_t units) {
  const auto keys = random::split(key, 2);
  return {initializers::glorot_uniform<T>(keys[0], {inputs, 4 * units}),
          initializers::glorot_uniform<T>(keys[1], {units, 4 * units}),
          zeros<T>({4 * units}).at(slice(units, 2 * units)).set(T(1))};
}
// New weights of a gated recurrent unit.
template <class T = float>
GRUParams<T> gru_params(const random::Key& key, std::int64_t inputs, std::int64_t units) {
  const auto keys = random::split(key, 2);
  return {initializers::glorot_uniform<T>(keys[0], {inputs, 3 * units}),
          initializers::glorot_uniform<T>(keys[1], {units, 3 * units}), zeros<T>({3 * units}),
          zeros<T>({3 * units})};
}
// The state before the first step, for a batch of this shape.
template <class T = float>
LSTMState<T> lstm_state(std::int64_t units, Shape batch = {}) {
  batch.push_back(units);
  return {zeros<T>(batch), zeros<T>(batch)};
}

}  // namespace nn
NAX_END
