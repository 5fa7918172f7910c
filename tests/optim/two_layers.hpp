#pragma once

#include <cstdint>
#include <nax/nax.hpp>
#include <vector>

// A small perceptron for steps of training.
namespace two_layers {

using namespace nax;

template <class T>
struct Layer {
  Array<T> w, b;
};
template <class T>
using Params = std::vector<Layer<T>>;

// Weights of the first layer are large enough for their gradient not to be stored, the others' are not.
inline constexpr std::int64_t inputs = 515, width = 520, outputs = 7, batch = 37;

template <class T>
Params<T> some_params(std::uint64_t seed = 1) {
  const auto keys = random::split(random::key(seed), 4);
  return {{random::normal<T>(keys[0], {inputs, width}) * T(0.05), random::normal<T>(keys[1], {width})},
          {random::normal<T>(keys[2], {width, outputs}), random::normal<T>(keys[3], {outputs})}};
}
template <class T>
Array<T> some_batch(std::uint64_t seed, std::int64_t rows = batch) {
  return random::normal<T>(random::key(seed), {rows, inputs});
}

struct Loss {
  template <class T>
  Array<T> operator()(const Params<T>& p, const Array<T>& x) const {
    const Array<T> h = tanh(matmul(x, p[0].w) + p[0].b);
    const Array<T> y = matmul(h, p[1].w) + p[1].b;
    return mean(y * y);
  }
};

}  // namespace two_layers
