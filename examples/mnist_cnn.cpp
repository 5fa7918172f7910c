// Trains a small convolutional network on MNIST: two convolutions, each with pooling, and two dense layers.
// --help lists the options.
#include <chrono>
#include <cstdio>
#include <nax/nax.hpp>

#include "support/command_line.hpp"
#include "support/mnist.hpp"
#include "support/progress.hpp"

using nax::Array, nax::slice;
namespace nn = nax::nn;

struct Layer {
  Array<float> w, b;
};
struct Params {
  Layer conv1, conv2, dense1, dense2;
};

Params init_params(const nax::random::Key& key) {
  const auto keys = nax::random::split(key, 4);
  const auto layer = [&](std::int64_t i, const nax::Shape& shape) {
    return Layer{nn::initializers::he_normal(keys[i], shape), nax::zeros<float>({shape.back()})};
  };
  return {layer(0, {3, 3, 1, 16}), layer(1, {3, 3, 16, 32}), layer(2, {7 * 7 * 32, 128}),
          layer(3, {128, 10})};
}

// 28 x 28 -> 14 x 14 -> 7 x 7 -> 10
Array<float> predict(const Params& params, const Array<float>& images) {
  const auto stage = [](const Array<float>& x, const Layer& layer) {
    const Array<float> y = nn::conv(x, layer.w, {.padding = "SAME"});
    return nax::eval(nn::relu(nn::max_pool(y, {2, 2}, {.strides = {2, 2}}) + layer.b));
  };
  Array<float> x = images.reshape({-1, 28, 28, 1});
  x = stage(stage(x, params.conv1), params.conv2).reshape({images.shape(0), -1});
  x = nn::linear(x, params.dense1.w, params.dense1.b, nn::Activation::relu);
  return nn::log_softmax(nax::matmul(x, params.dense2.w) + params.dense2.b);
}

double accuracy(const Params& params, const Array<float>& images, const Array<int>& labels) {
  const std::int64_t n = images.shape(0), chunk = 1000;
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < n; i += chunk) {
    const auto guess = nax::argmax(predict(params, images(slice(i, i + chunk))), {.axis = -1});
    right += nax::sum(guess == labels(slice(i, i + chunk))).item();
  }
  return static_cast<double>(right) / static_cast<double>(n);
}

int main(int argc, char** argv) {
  examples::CommandLine args(argc, argv, "trains a convolutional network on MNIST");
  const std::int64_t epochs = args.integer("--epochs", 3, "how often all examples are seen", 1);
  const std::int64_t batch = args.integer("--batch-size", 64, "examples of a step", 1);
  const double lr = args.number("--lr", "0.003", "the first learning rate; it falls to 0 along a cosine");
  const std::int64_t seed = args.integer("--seed", 0, "of parameters and order");
  const std::int64_t most = args.integer("--examples", 60000, "train on the first so many", 1);
  const std::string data = args.text("--data", "", "folder with the four files of MNIST");
  const std::string platform = args.choice("--platform", {"cpu", "cuda"}, "of the device that trains");
  args.done();
  try {
    if (nax::local_device_count(platform) == 0) throw nax::ValueError("--platform: no device of " + platform);
    examples::Mnist mnist = examples::load_mnist(data);
    nax::set_default_device(nax::local_devices(platform)[0]);
    for (Array<float>* const images : {&mnist.train_images, &mnist.test_images})
      *images = nax::device_put(*images, nax::default_device());
    for (Array<int>* const labels : {&mnist.train_labels, &mnist.test_labels})
      *labels = nax::device_put(*labels, nax::default_device());
    const std::int64_t examples = std::min(most, mnist.train_images.shape(0)), steps = examples / batch;
    if (steps == 0) throw nax::ValueError("--batch-size is larger than the training set");
    const auto loss = [](const Params& params, const Array<float>& x, const Array<int>& y) {
      return -nax::mean(nax::sum(predict(params, x) * nn::one_hot(y, 10), {.axis = -1}));
    };
    const auto optimizer = nax::optim::adam(nax::optim::cosine_decay_schedule(lr, epochs * steps));
    const auto [init_key, shuffle_key] = nax::random::split(nax::random::key(seed));
    Params params = init_params(init_key);
    auto state = optimizer.init(params);
    double test = 0;
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
      const auto start = std::chrono::steady_clock::now();
      examples::ProgressBar bar(epoch + 1, steps);
      const auto order = nax::random::permutation(nax::random::fold_in(shuffle_key, epoch), examples);
      double total = 0;
      for (std::int64_t k = 0; k < steps; ++k) {
        const auto rows = order(slice(k * batch, (k + 1) * batch));
        const auto [value, grads] =
            nax::value_and_grad(loss)(params, mnist.train_images(rows), mnist.train_labels(rows));
        std::tie(params, state) = nax::optim::step(optimizer, grads, std::move(state), std::move(params));
        total += value.item();
        bar.show(k + 1, value.item());
      }
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      bar.clear();
      test = accuracy(params, mnist.test_images, mnist.test_labels);
      std::printf("epoch %d  %.2f s  loss %.4f  test %.4f\n", static_cast<int>(epoch + 1), seconds.count(),
                  total / static_cast<double>(steps), test);
      std::fflush(stdout);
    }
    std::printf("test accuracy: %.4f\n", test);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mnist_cnn: %s\n", error.what());
    return 2;
  }
}
