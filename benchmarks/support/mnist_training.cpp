// nax's side of `compare.sh mnist`, the same program as peers/mnist_jax.py: says when the images are loaded,
// then trains one epoch for each line that it reads and answers with JSON.
//   mnist_training <hidden, as in 512,512> <devices> <images>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "../../examples/support/mnist.hpp"
#include "../rows/steps.hpp"
#include "clock.hpp"

namespace {

using bench::Params;
using nax::Array, nax::slice;

constexpr std::int64_t batch = 128;

double accuracy(const Params& params, const Array<float>& images, const Array<int>& labels) {
  Array<float> x = images;
  for (std::size_t i = 0; i + 1 < params.size(); ++i)
    x = nax::nn::relu(nax::matmul(x, params[i].w) + params[i].b);
  const auto guess = nax::argmax(nax::matmul(x, params.back().w) + params.back().b, {.axis = -1});
  return static_cast<double>(nax::sum(guess == labels).item()) / static_cast<double>(images.shape(0));
}

// Answers each line with what `step(rows)`, which returns a loss, did in an epoch.
template <class Step, class Trained>
void serve(const examples::Mnist& mnist, Step step, Trained trained) {
  const std::int64_t examples = mnist.train_images.shape(0), steps = examples / batch;
  std::int64_t epoch = 0;
  for (std::string line; std::getline(std::cin, line); ++epoch) {
    const auto order = nax::random::permutation(nax::random::key(epoch), examples);
    const double start = bench::now();
    double first_step = 0;
    std::vector<float> losses;
    for (std::int64_t k = 0; k < steps; ++k) {
      losses.push_back(step(order(slice(k * batch, (k + 1) * batch))));
      if (k == 0) first_step = bench::now() - start;
    }
    std::cout << "{\"seconds\": " << (bench::now() - start) << ", \"first_step\": " << first_step
              << ", \"losses\": [";
    for (std::size_t k = 0; k < losses.size(); ++k) std::cout << (k ? ", " : "") << losses[k];
    std::cout << "], \"accuracy\": " << accuracy(trained(), mnist.test_images, mnist.test_labels) << "}"
              << std::endl;
  }
}

void train_alone(const examples::Mnist& mnist, Params params) {
  const auto optimizer = nax::optim::sgd(0.05, {.momentum = 0.9});
  auto state = optimizer.init(params);
  const auto step = [&](const auto& rows) {
    Array<float> value;
    std::tie(value, params, state) = nax::optim::value_and_step(optimizer, bench::loss<bench::Relu>)(
        std::move(params), std::move(state), mnist.train_images(rows),
        nax::nn::one_hot(mnist.train_labels(rows), 10));
    return value.item();
  };
  serve(mnist, step, [&] { return params; });
}

void train_on(std::int64_t devices, const examples::Mnist& mnist, const Params& initial) {
  const auto optimizer = nax::optim::sgd(0.05, {.momentum = 0.9});
  using State = decltype(optimizer.init(initial));
  const auto update = nax::pmap(
      [=](Params params, State state, const Array<float>& x, const Array<float>& y) {
        Array<float> value;
        std::tie(value, params, state) =
            nax::optim::value_and_step(optimizer, bench::loss<bench::Relu>, {.axis_name = "devices"})(
                std::move(params), std::move(state), x, y);
        return std::tuple{params, state, nax::pmean(value, "devices")};
      },
      {.axis_name = "devices"});
  auto params = nax::device_put_replicated(initial, nax::devices());
  auto state = nax::device_put_replicated(optimizer.init(initial), nax::devices());
  const auto step = [&](const auto& rows) {
    Array<float> losses;
    std::tie(params, state, losses) =
        update(std::move(params), std::move(state), mnist.train_images(rows).reshape({devices, -1, 784}),
               nax::nn::one_hot(mnist.train_labels(rows), 10).reshape({devices, -1, 10}));
    return losses(0).item();
  };
  serve(mnist, step, [&] { return nax::tree::map([](const auto& p) { return p(0); }, params); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "mnist_training <hidden> <devices> <images>\n"), 2;
  std::vector<std::int64_t> sizes = {784};
  std::istringstream hidden(argv[1]);
  for (std::string width; std::getline(hidden, width, ',');) sizes.push_back(std::stoll(width));
  sizes.push_back(10);
  const std::int64_t devices = std::stoll(argv[2]);
  try {
    nax::set_cpu_device_count(static_cast<int>(devices));
    const examples::Mnist mnist = examples::load_mnist(argv[3]);
    std::cout.precision(9);
    std::cout << "{\"ready\": true}" << std::endl;
    if (devices == 1)
      train_alone(mnist, bench::initial_params(sizes));
    else
      train_on(devices, mnist, bench::initial_params(sizes));
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "mnist_training: %s\n", error.what()), 2;
  }
}
