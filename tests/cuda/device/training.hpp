#pragma once

#include "device/on_device.hpp"

namespace on_device {

using Training = OnDevice;

struct Layer {
  Array<float> w, b;
};
using Params = std::vector<Layer>;

inline Array<float> predict(const Params& params, Array<float> x) {
  for (std::size_t i = 0; i + 1 < params.size(); ++i)
    x = nax::tanh(nax::matmul(x, params[i].w) + params[i].b);
  return nax::nn::log_softmax(nax::matmul(x, params.back().w) + params.back().b);
}

inline std::vector<double> losses(Params params, const Array<float>& x, const Array<float>& y) {
  const auto loss = [](const Params& p, const Array<float>& in, const Array<float>& out) {
    return -nax::mean(nax::sum(predict(p, in) * out, {.axis = -1}));
  };
  std::vector<double> all;
  for (int step = 0; step < 20; ++step) {
    auto [value, grads] = nax::value_and_grad(loss)(params, x, y);
    params = nax::tree::map([](const auto& p, const auto& g) { return p - 0.5f * g; }, params, grads);
    all.push_back(value.item());
  }
  return all;
}

TEST_F(Training, equals_the_host) {
  const Params params = {{numbers({20, 32}) * 0.3f, nax::zeros<float>({32})},
                         {numbers({32, 32}, 2) * 0.3f, nax::zeros<float>({32})},
                         {numbers({32, 10}, 3) * 0.3f, nax::zeros<float>({10})}};
  const Array<float> x = numbers({64, 20}, 4);
  const Array<float> y = nax::nn::one_hot(nax::argmax(x(nax::_, nax::slice(0, 10)), {.axis = -1}), 10);
  const std::vector<double> want = losses(params, x, y), got = losses(there(params), there(x), there(y));
  EXPECT_LT(want.back(), 0.8 * want.front());
  EXPECT_TRUE(compare::close(got, want, 1e-4));
}

}  // namespace on_device
