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

Array<float> entropy(const Params& params, const Array<float>& images, const Array<float>& labels) {
  Array<float> x = images;
  for (std::size_t i = 0; i + 1 < params.size(); ++i) x = tanh(matmul(x, params[i].w) + params[i].b);
  return mean(nn::softmax_cross_entropy(matmul(x, params.back().w) + params.back().b, labels));
}

Array<float> of_linear(const Params& params, const Array<float>& images, const Array<float>& labels) {
  using nn::Activation;
  Array<float> x = images;
  for (std::size_t i = 0; i + 1 < params.size(); ++i)
    x = nn::linear(x, params[i].w, params[i].b, Activation::relu);
  return mean(nn::softmax_cross_entropy(nn::linear(x, params.back().w, params.back().b, Activation::identity),
                                        labels));
}

// Three steps with `put` arrays, each of so many launches; the losses before each.
template <class Loss, class Put>
std::vector<float> losses_of(const Loss& loss, const Put& put, std::int64_t launches) {
  Params params;
  const int sizes[] = {20, 16, 12, 10};
  for (int l = 0; l < 3; ++l)
    params.push_back({put(waves(sizes[l] * sizes[l + 1]).reshape({sizes[l], sizes[l + 1]})),
                      put(zeros<float>({sizes[l + 1]}))});
  const auto images = put(waves(160).reshape({8, 20})), labels = put(nn::one_hot(arange<int>(8), 10));
  const auto adam = optim::adam(1e-2);
  auto state = adam.init(params);
  std::vector<float> losses;
  for (int k = 0; k < 3; ++k) {
    losses.push_back(loss(params, images, labels).item());
    expect_launches(launches, [&] {
      const auto g = grad(loss)(params, images, labels);
      std::tie(params, state) = optim::step(adam, g, std::move(state), std::move(params));
    });
  }
  return losses;
}
template <class Loss>
void expect_trained(const Loss& loss, std::int64_t launches) {
  const auto on_host = losses_of(
      loss, [](const auto& x) { return eval(x); }, 0);
  const auto on_gpu = losses_of(
      loss, [](const auto& x) { return device_put(eval(x), gpu()); }, launches);
  for (std::size_t k = 0; k < on_host.size(); ++k) EXPECT_NEAR(on_gpu[k], on_host[k], 1e-4f) << k;
  EXPECT_LT(on_gpu.back(), on_gpu.front());
}

// Eight products, two activations, their derivatives, three gradients of biases and the step are 16; besides
// the last bias, log_softmax, the product with the labels, two sums and the sign, the seed, and two
// derivatives.
TEST(TrainingLaunches, OfThreeLayersWithAdam) { expect_trained(loss, 25); }

// Besides the 16: the last bias, the cross entropy, its mean and its derivative.
TEST(TrainingLaunches, OfThreeLayersWithCrossEntropyAndAdam) { expect_trained(entropy, 20); }

// Layers are one launch each, and their parameters' gradients one. Three forward, five back, two derivatives
// of activations; the cross entropy, its mean and its derivative; the step.
TEST(TrainingLaunches, OfThreeLinearLayersWithAdam) { expect_trained(of_linear, 14); }

// A layer of a GPT. Forward two norms, four projections, attention, two linear layers, the loss and its sum
// are 11: products add the residuals. Back the seed, the derivatives of the loss and the gelu, and two for
// each of six products, two norms and attention are 21: products and norms add their shares to those that
// were there before. The step is one.
TEST(TrainingLaunches, OfATransformerLayerWithAdam) {
  const auto trained = [](const auto& put, std::int64_t launches) {
    using Layer = nn::TransformerEncoderLayer<float>;
    Layer layer = tree::map(
        put, Layer::make(random::key(1),
                         {.features = 16, .heads = 2, .activation = nn::Activation::gelu, .pre_norm = true}));
    const auto x = put(waves(256).reshape({2, 8, 16})), y = put((waves(256) * 0.3f).reshape({2, 8, 16}));
    const auto loss = [](const Layer& f, const Array<float>& from, const Array<float>& to) {
      return mean(square(f(from, {.is_causal = true}) - to));
    };
    const auto adam = optim::adam(1e-2);
    auto state = adam.init(layer);
    std::vector<float> losses;
    for (int k = 0; k < 3; ++k) {
      losses.push_back(loss(layer, x, y).item());
      expect_launches(launches, [&] {
        const auto g = grad(loss)(layer, x, y);
        std::tie(layer, state) = optim::step(adam, g, std::move(state), std::move(layer));
      });
    }
    return losses;
  };
  const auto on_host = trained([](const auto& x) { return eval(x); }, 0);
  const auto on_gpu = trained([](const auto& x) { return device_put(eval(x), gpu()); }, 33);
  for (std::size_t k = 0; k < on_host.size(); ++k) EXPECT_NEAR(on_gpu[k], on_host[k], 1e-4f) << k;
  EXPECT_LT(on_gpu.back(), on_gpu.front());
}

// Gradients of half types take two launches more than those of float, 31.
TEST(TrainingLaunches, OfATransformerLayerOfBfloat16) {
  using Layer = nn::TransformerEncoderLayer<bfloat16>;
  const auto put = [](const auto& x) { return device_put(eval(x), gpu()); };
  const Layer layer = tree::map(
      put, Layer::make(random::key(1),
                       {.features = 16, .heads = 2, .activation = nn::Activation::gelu, .pre_norm = true}));
  const auto x = put(waves(256).reshape({2, 8, 16}).astype<bfloat16>());
  const auto loss = [](const Layer& f, const Array<bfloat16>& from) {
    return sum(f(from, {.is_causal = true}));
  };
  expect_launches(33, [&] { grad(loss)(layer, x); });
}

// A weight that three products share: each adds its share to the sum of the ones before.
TEST(TrainingLaunches, OfAWeightThatIsUsedAgain) {
  const auto check = [&]<class T>(std::type_identity<T>, double tolerance) {
    using A = Array<T>;
    const auto loss = [](const A& w, const A& x) {
      A h = x;
      for (int k = 0; k < 3; ++k) h = tanh(matmul(h, w));
      return A(sum(h * x));
    };
    const auto w = [] { return eval(waves(16).template astype<T>().reshape({4, 4})); };
    const auto x = [] { return eval(waves(24).template astype<T>().reshape({2, 3, 4})); };
    expect_same([&](auto put) { return grad(loss)(put(w()), put(x())); }, tolerance);
    expect_same([&](auto put) { return grad(loss)(put(w()), A(put(x())(0))); }, tolerance);
    expect_same(
        [&](auto put) {
          return vmap(grad(loss), {.in_axes = {none, 0}})(put(w()), put(x()));
        },
        tolerance);
    expect_same([&](auto put) { return grad(loss)(put(w()).T(), put(x())); }, tolerance);
    expect_same(
        [&](auto put) {
          const auto both = [&](const A& a) { return A(sum(square(grad(loss)(a, put(x()))))); };
          return grad(both)(put(w()));
        },
        10 * tolerance);
  };
  check(std::type_identity<double>(), 1e-12);
  check(std::type_identity<float>(), 1e-4);
  check(std::type_identity<nax::half>(), 2e-2);
  const auto loss = [](const Array<float>& w, const Array<float>& x) {
    Array<float> h = x;
    for (int k = 0; k < 3; ++k) h = matmul(h, w);
    return sum(h);
  };
  const auto w = device_put(eval(waves(16).reshape({4, 4})), gpu()),
             x = device_put(eval(waves(12).reshape({3, 4})), gpu());
  // Three products, the sum and its derivative, and five products.
  expect_launches(10, [&] { grad(loss)(w, x); });
}

// Cotangents that are numbers meet arrays: as sums, at inputs without axes, and in functions that take
// arrays.
TEST(TrainingLaunches, NumbersMeetArrays) {
  using A = Array<float>;
  const auto check = [](const auto& f, const auto& make) {
    expect_same([&](auto put) { return grad([&](const A& x) { return A(f(x)); })(put(make())); }, 1e-5);
  };
  const auto line = [] { return waves(6); };
  const auto number = [] { return A(waves(3)(1)); };
  const auto entropy_of = [](const A& x) {
    return nn::softmax_cross_entropy(x.reshape({2, 3}), A(nn::softmax(x.reshape({2, 3}) * 2.f)));
  };
  check([&](const A& x) { return mean(entropy_of(x)) + sum(entropy_of(x) * 2.f); }, line);
  check(
      [&](const A& x) {
        const A e = entropy_of(x);
        return mean(e) + sum(e * e) - sum(e);
      },
      line);
  check([](const A& x) { return -x; }, number);
  check([](const A& x) { return x * 3.f + x; }, number);
  check([](const A& x) { return -(x * x) * 0.5f - x; }, number);
  check([](const A& x) { return -mean(x) + dot(x, x) - x(2); }, line);
  check([](const A& x) { return 2.f * max(x) - mean(square(x)); }, line);
  check([](const A& x) { return -mean(x.astype<double>()).astype<float>(); }, line);
  check([](const A& x) { return nax::checkpoint([](const A& y) { return A(-mean(y)); })(x) * 2.f; }, line);
  expect_same(
      [](auto put) {
        return grad([](const Array<nax::half>& x) { return Array<nax::half>(-mean(x * x)); })(
            put(waves(6).astype<nax::half>()));
      },
      1e-3);
  expect_same([&](auto put) { return hessian([](const A& x) { return A(-mean(x * x * x)); })(put(line())); },
              1e-5);
  expect_same(
      [&](auto put) {
        return vmap(grad([](const A& x) { return A(-mean(x * x)); }))(put(waves(6).reshape({2, 3})));
      },
      1e-5);
}

}  // namespace training_launches_test
