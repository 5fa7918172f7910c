#include "both_devices.hpp"
#include "operations/launches.hpp"

// Launches of a step of training of three layers on a GPU, uploads of numbers among them.
namespace training_launches_test {

using namespace nax;
using namespace both_devices;

struct Layer {
  Array<float> w, b;
};
using Params = std::vector<Layer>;

Array<float> loss(const Params& params, const Array<float>& images, const Array<float>& labels) {
  Array<float> x = images;
  for (std::size_t i = 0; i + 1 < params.size(); ++i) x = tanh(matmul(x, params[i].w) + params[i].b);
  return -mean(sum(nn::log_softmax(matmul(x, params.back().w) + params.back().b) * labels, {.axis = -1}));
}

TEST(TrainingLaunches, OfThreeLayersWithAdam) {
  const auto put = [](const auto& x) { return device_put(eval(x), gpu()); };
  Params params;
  const int sizes[] = {20, 16, 12, 10};
  for (int l = 0; l < 3; ++l)
    params.push_back({put(waves(sizes[l] * sizes[l + 1]).reshape({sizes[l], sizes[l + 1]})),
                      put(zeros<float>({sizes[l + 1]}))});
  const auto images = put(waves(160).reshape({8, 20})), labels = put(nn::one_hot(arange<int>(8), 10));
  const auto adam = optim::adam(1e-3);
  auto state = adam.init(params);
  const float before = loss(params, images, labels).item();
  for (int k = 0; k < 3; ++k)
    expect_launches(30, [&] {
      const auto g = grad(&loss)(params, images, labels);
      std::tie(params, state) = optim::step(adam, g, std::move(state), std::move(params));
    });
  EXPECT_LT(loss(params, images, labels).item(), before);
}

}  // namespace training_launches_test
