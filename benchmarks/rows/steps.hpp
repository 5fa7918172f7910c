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

inline void descend(Params& params, const Params& grads) {
  nax::tree::for_each([](auto& p, const auto& g) { p -= 0.01f * g; }, params, grads);
}

}  // namespace bench
