// Trains a multilayer perceptron on MNIST, the batch shared out over devices; linked with nax::mpi and
// started by mpirun, over those of all processes. --help lists the options.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nax/nax.hpp>
#include <vector>

#include "support/mnist.hpp"
#include "support/mnist_options.hpp"
#include "support/progress.hpp"

using examples::Activation;
using nax::Array, nax::slice;

struct Layer {
  Array<float> w, b;
};
using Params = std::vector<Layer>;

Params init_params(const nax::random::Key& key, const std::vector<std::int64_t>& sizes) {
  const auto keys = nax::random::split(key, {static_cast<std::int64_t>(sizes.size()) - 1});
  Params params;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
    params.push_back(
        {nax::random::normal<float>(keys[i], {sizes[i], sizes[i + 1]}) * std::sqrt(2.f / sizes[i]),
         nax::zeros<float>({sizes[i + 1]})});
  return params;
}

Array<float> predict(const Params& params, Array<float> x, Activation activation) {
  for (std::size_t i = 0; i + 1 < params.size(); ++i) {
    const auto& [w, b] = params[i];
    x = activation == Activation::relu ? nax::nn::linear(x, w, b, nax::nn::Activation::relu)
                                       : nax::eval(nax::tanh(nax::matmul(x, w) + b));
  }
  return nax::nn::log_softmax(nax::matmul(x, params.back().w) + params.back().b);
}

double accuracy(const Params& params, const Array<float>& images, const Array<int>& labels,
                Activation activation) {
  const std::int64_t n = images.shape(0), chunk = 5000;
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < n; i += chunk) {
    const auto device = params[0].w.device();
    const auto x = nax::device_put(images(slice(i, i + chunk)), device);
    const auto guess = nax::argmax(predict(params, x, activation), {.axis = -1});
    right += nax::sum(guess == nax::device_put(labels(slice(i, i + chunk)), device)).item();
  }
  return static_cast<double>(right) / static_cast<double>(n);
}

// Not part of the template below, so that its gradient is compiled once for all optimizers.
auto loss_with(Activation activation) {
  return [=](const Params& params, const Array<float>& x, const Array<float>& y) {
    return -nax::mean(nax::sum(predict(params, x, activation) * y, {.axis = -1}));
  };
}

template <class Optimizer>
void train(const Optimizer& optimizer, const examples::MnistOptions& options, const examples::Mnist& mnist,
           std::ostream& log) {
  const auto loss = loss_with(options.activation);
  // A step on one device: the gradients of its share of the batch, their mean over all devices, the update.
  const auto step = nax::optim::value_and_step(optimizer, loss, {.axis_name = "devices"});
  using State = decltype(optimizer.init(Params()));
  // The first devices of each process; those that belong to this one.
  auto devices = nax::devices(options.platform), own = nax::local_devices(options.platform);
  std::erase_if(devices, [&](nax::Device device) { return device.ordinal >= options.devices; });
  own.resize(static_cast<std::size_t>(options.devices));
  const auto update = nax::pmap(
      [=](Params params, State state, const Array<float>& x, const Array<float>& y) {
        Array<float> value;  // given away, params and state are written over
        std::tie(value, params, state) = step(std::move(params), std::move(state), x, y);
        return std::tuple{params, state, nax::pmean(value, "devices")};
      },
      {.axis_name = "devices", .devices = devices});

  const auto [init_key, shuffle_key] = nax::random::split(nax::random::key(options.seed));
  std::vector<std::int64_t> sizes = options.hidden;
  sizes.insert(sizes.begin(), 784), sizes.push_back(10);
  const Params initial = init_params(init_key, sizes);
  // A copy on each device. Results of update stay on their device, so nothing is copied between the steps.
  auto params = nax::device_put_replicated(initial, own);
  auto state = nax::device_put_replicated(optimizer.init(initial), own);

  const std::int64_t examples = mnist.train_images.shape(0), steps = examples / options.batch_size;
  if (steps == 0) throw nax::ValueError("--batch-size is larger than the training set");
  // This process' rows of a batch, as pmap takes them: the leading axis counts the devices.
  const std::int64_t share = options.batch_size / nax::distributed::process_count(),
                     first = nax::distributed::process_index() * share;
  const auto shared_out = [=](const Array<float>& images, const Array<int>& labels) {
    const auto rows = slice(first, first + share);
    return std::tuple{Array<float>(images(rows)).reshape({options.devices, -1, 784}),
                      Array<float>(nax::nn::one_hot(labels(rows), 10)).reshape({options.devices, -1, 10})};
  };
  const auto pipeline = nax::data::from_arrays(std::tuple{mnist.train_images, mnist.train_labels})
                            .shuffle({.key = shuffle_key})
                            .batch(options.batch_size, {.drop_remainder = true})
                            .map(shared_out)
                            .prefetch_to(own);
  double test_accuracy = 0;
  for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    examples::ProgressBar bar(epoch + 1, steps);
    const auto order = nax::random::permutation(nax::random::fold_in(shuffle_key, epoch), examples);
    auto ahead = pipeline.epoch(epoch).iterator();
    double total = 0;
    for (std::int64_t k = 0; k < steps; ++k) {
      Array<float> x, y;
      if (options.pipeline) {
        std::tie(x, y) = *ahead.next();
      } else {
        const auto rows = order(slice(k * options.batch_size, (k + 1) * options.batch_size));
        std::tie(x, y) = shared_out(mnist.train_images(rows), mnist.train_labels(rows));
      }
      Array<float> losses;  // the same on all devices
      std::tie(params, state, losses) = update(std::move(params), std::move(state), x, y);
      const float value = losses(0).item();
      if (!std::isfinite(value)) throw nax::ValueError("the loss is not finite any more; try a smaller --lr");
      log << "{\"step\": " << epoch * steps + k + 1 << ", \"loss\": " << value << "}\n";
      bar.show(k + 1, value);
      total += value;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    bar.clear();

    const Params one = nax::tree::map([](const auto& p) { return p(0); }, params);
    const double train_accuracy = accuracy(one, mnist.train_images, mnist.train_labels, options.activation);
    test_accuracy = accuracy(one, mnist.test_images, mnist.test_labels, options.activation);
    std::printf("epoch %d  %.2f s  loss %.4f  train %.4f  test %.4f\n", static_cast<int>(epoch + 1),
                seconds.count(), total / static_cast<double>(steps), train_accuracy, test_accuracy);
    std::fflush(stdout);
    log << "{\"epoch\": " << epoch + 1 << ", \"seconds\": " << seconds.count()
        << ", \"train_accuracy\": " << train_accuracy << ", \"test_accuracy\": " << test_accuracy << "}"
        << std::endl;
  }
  std::printf("test accuracy: %.4f\n", test_accuracy);
  if (options.save.empty() || nax::distributed::process_index() != 0) return;
  const Params one = nax::tree::map([](const auto& p) { return p(0); }, params);
  if (options.save.ends_with(".safetensors"))
    nax::io::save_safetensors(options.save, one);
  else
    nax::io::save(options.save, one);
}

int main(int argc, char** argv) {
  const auto options = examples::read_mnist_options(argc, argv);
  std::ofstream log;  // writes nowhere unless opened
  log.precision(9);
  try {
    if (options.platform == "cpu") nax::set_cpu_device_count(static_cast<int>(options.devices));
    nax::distributed::initialize();
    if (!options.log.empty() && nax::distributed::process_index() == 0) log.open(options.log);
    if (!log) throw nax::IoError("--log: cannot write " + options.log);
    if (options.batch_size % (options.devices * nax::distributed::process_count()) != 0)
      throw nax::ValueError("--batch-size does not divide by the devices of all processes");
    if (const int count = nax::local_device_count(options.platform); count < options.devices)
      throw nax::ValueError("--platform " + options.platform + " has " + std::to_string(count) +
                            " devices here");
    const examples::Mnist mnist = examples::load_mnist(options.data);
    if (options.adam)
      train(nax::optim::adam(options.lr), options, mnist, log);
    else
      train(nax::optim::sgd(options.lr, {.momentum = options.momentum}), options, mnist, log);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mnist_mlp: %s\n", error.what());
    return 2;
  }
}
