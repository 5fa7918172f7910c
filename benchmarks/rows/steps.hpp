#pragma once

// Training steps of a perceptron, as a program of nax writes them.

#include <cmath>
#include <vector>

#include "rows.hpp"

namespace bench {

struct Layer {
  Array<float> w, b;
};
using Params = std::vector<Layer>;

inline Params initial_params(const std::vector<std::int64_t>& sizes) {
  Params params;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const float limit = 1 / std::sqrt(static_cast<float>(sizes[i]));
    const auto seed = static_cast<std::uint32_t>(10 + 2 * i);
    params.push_back({uniform_array(seed, {sizes[i], sizes[i + 1]}, -limit, limit),
                      uniform_array(seed + 1, {sizes[i + 1]}, -limit, limit)});
  }
  return params;
}

inline Array<float> labels(std::int64_t batch, std::int64_t classes) {
  return nax::nn::one_hot(nax::asarray(integers(2, batch, static_cast<std::uint32_t>(classes))), classes);
}

struct Tanh {
  template <class X>
  Array<float> operator()(const X& x) const {
    return nax::tanh(x);
  }
};
struct Relu {
  template <class X>
  Array<float> operator()(const X& x) const {
    return nax::nn::relu(x);
  }
};

// x: (batch, inputs) or one example (inputs)
template <class Activation>
Array<float> loss(const Params& params, const Array<float>& x, const Array<float>& y) {
  Array<float> a = x;
  for (std::size_t i = 0; i + 1 < params.size(); ++i)
    a = Activation()(nax::matmul(a, params[i].w) + params[i].b);
  const auto logits = nax::matmul(a, params.back().w) + params.back().b;
  return -nax::mean(nax::sum(nax::nn::log_softmax(logits) * y, {.axis = -1}));
}

// The state that a step changes.
struct Model {
  Params params;
  nax::optim::SgdState<Params> state;
};
inline auto optimizer() { return nax::optim::sgd(0.01); }
inline Model initial_model(const std::vector<std::int64_t>& sizes) {
  const Params params = initial_params(sizes);
  return {params, optimizer().init(params)};
}

// Forward, backward and update; the loss. With an axis, gradients are averaged over its devices.
template <class Activation>
Array<float> train_step(Model& model, const Array<float>& x, const Array<float>& y,
                        const nax::AxisName& axis = {}) {
  Array<float> value;
  std::tie(value, model.params, model.state) =
      nax::optim::value_and_step(optimizer(), loss<Activation>, {.axis_name = axis})(
          std::move(model.params), std::move(model.state), x, y);
  return value;
}

}  // namespace bench
