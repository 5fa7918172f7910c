// One row of `devices.sh`: trains a multilayer perceptron on some devices of a platform, and prints as JSON
// how long epochs, steps and their parts take.
//   device_training --platform cpu --devices 2 --experiment mnist
//   device_training --platform cuda --step donated      one device, without pmap
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nax/nax.hpp>
#include <string>
#include <vector>

#include "../../examples/support/command_line.hpp"
#include "../../examples/support/mnist.hpp"
#include "clock.hpp"

namespace {

using nax::Array, nax::slice;

struct Layer {
  Array<float> w, b;
};
using Params = std::vector<Layer>;

Array<float> predict(const Params& params, Array<float> x) {
  for (std::size_t i = 0; i + 1 < params.size(); ++i)
    x = nax::nn::relu(nax::matmul(x, params[i].w) + params[i].b);
  return nax::nn::log_softmax(nax::matmul(x, params.back().w) + params.back().b);
}
Array<float> loss(const Params& params, const Array<float>& x, const Array<float>& y) {
  return -nax::mean(nax::sum(predict(params, x) * y, {.axis = -1}));
}

// Images as a network takes them, in rows, and the classes they belong to.
struct Images {
  Array<float> rows;
  Array<int> labels;
  std::int64_t classes;
};

// Noise with a stripe whose place is the class: something to learn, made by the program.
Images made_images(std::int64_t count, std::int64_t side, std::int64_t classes) {
  const auto [key_noise, key_labels] = nax::random::split(nax::random::key(0));
  const Array<int> labels = nax::random::randint(key_labels, {count}, 0, classes);
  Array<float> rows = nax::random::uniform<float>(key_noise, {count, side * side * 3});
  const std::int64_t stripe = side * side * 3 / classes;
  const Array<float> bright = nax::nn::one_hot(labels, classes);
  rows = rows.at(nax::_, slice(0, stripe * classes)).add(nax::repeat(bright, stripe, {.axis = 1}) * 0.5f);
  return {rows, labels, classes};
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times.empty() ? 0 : times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  examples::CommandLine args(argc, argv, "times training on some devices");
  const std::string platform = args.choice("--platform", {"cpu", "cuda"}, "where");
  const std::string experiment = args.choice("--experiment", {"mnist", "large"}, "which");
  const std::string how = args.choice("--step", {"pmap", "eager", "jit", "donated"}, "the call of a step");
  const std::string data = args.text("--data", "", "the folder of MNIST; images are made up without");
  const std::int64_t count = args.integer("--devices", 1, "how many", 1);
  const std::int64_t epochs = args.integer("--epochs", 3, "how many", 1);
  const std::int64_t batch = args.integer("--batch", 128, "images a step, on all devices together", 1);
  const std::int64_t images = args.integer("--images", 60000, "how many images are made up", 1);
  const std::int64_t side = args.integer("--side", 224, "of large images, in pixels", 1);
  const auto hidden = args.integers("--hidden", experiment == "mnist" ? "512,512" : "4096,4096,4096,4096",
                                    "the layers between", 1);
  args.done();
  try {
    if (platform == "cpu") nax::set_cpu_device_count(static_cast<int>(count));
    auto devices = nax::devices(platform);
    if (static_cast<std::int64_t>(devices.size()) < count) {
      std::printf("{\"present\": false}\n");
      return 0;
    }
    devices.resize(static_cast<std::size_t>(count));
    const Images all = [&]() -> Images {
      if (experiment == "large") return made_images(images, side, 10);
      if (data.empty()) {
        const Images square = made_images(images, 28, 10);
        return {square.rows(nax::_, slice(0, 784)), square.labels, 10};
      }
      const examples::Mnist mnist = examples::load_mnist(data);
      return {mnist.train_images, mnist.train_labels, 10};
    }();

    std::vector<std::int64_t> sizes = hidden;
    sizes.insert(sizes.begin(), all.rows.shape(1)), sizes.push_back(all.classes);
    Params initial;
    std::int64_t parameters = 0;
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      initial.push_back({nax::nn::initializers::he_normal(nax::random::key(static_cast<std::int64_t>(i)),
                                                          {sizes[i], sizes[i + 1]}),
                         nax::zeros<float>({sizes[i + 1]})});
      parameters += sizes[i] * sizes[i + 1] + sizes[i + 1];
    }
    const auto optimizer = nax::optim::sgd(0.01);
    const auto step = nax::optim::value_and_step(optimizer, loss, {.axis_name = "devices"});
    using State = decltype(optimizer.init(initial));
    const auto update = nax::pmap(
        [=](Params params, State state, const Array<float>& x, const Array<float>& y) {
          Array<float> value;
          std::tie(value, params, state) = step(std::move(params), std::move(state), x, y);
          return std::tuple{params, state, nax::pmean(value, "devices")};
        },
        {.axis_name = "devices", .devices = devices});
    if (how != "pmap" && count != 1) throw nax::ValueError("--step " + how + " is of one device");
    auto params = nax::device_put_replicated(initial, devices);
    auto state = nax::device_put_replicated(optimizer.init(initial), devices);

    // The step on one device by itself; all of its arrays without the axis of devices.
    const auto alone = nax::optim::value_and_step(optimizer, loss);
    const auto recorded = nax::jit(alone), donating = nax::jit(alone, {.donate_argnums = {0, 1}});
    Params own = nax::device_put(initial, devices[0]);
    State own_state = nax::device_put(optimizer.init(initial), devices[0]);
    const auto step_alone = [&](const Array<float>& rows, const Array<float>& labels) {
      const auto x = nax::device_put(rows(0), devices[0]), y = nax::device_put(labels(0), devices[0]);
      Array<float> value;
      if (how == "eager")
        std::tie(value, own, own_state) = alone(std::move(own), std::move(own_state), x, y);
      else if (how == "jit")
        std::tie(value, own, own_state) = recorded(own, own_state, x, y);
      else
        std::tie(value, own, own_state) = donating(std::move(own), std::move(own_state), x, y);
      return value.item();
    };

    // Times the mean of such gradients alone.
    const auto reduce = nax::pmap([](const Params& p) { return nax::pmean(p, "devices"); },
                                  {.axis_name = "devices", .devices = devices});
    std::vector<double> reductions;
    for (int i = 0; i < 4 && count > 1; ++i) {
      const double start = bench::now();
      nax::block_until_ready(reduce(params));
      reductions.push_back(bench::now() - start);
    }

    const std::int64_t examples = all.rows.shape(0), steps = examples / batch, each = batch / count;
    if (steps == 0 || each == 0) throw nax::ValueError("--batch does not go with --images and --devices");
    std::vector<double> seconds, step_times, data_times;
    double last = 0;
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
      const auto order = nax::random::permutation(nax::random::key(epoch), examples);
      const double start = bench::now();
      double sum = 0;
      for (std::int64_t k = 0; k < steps; ++k) {
        const double begin = bench::now();
        const auto rows = order(slice(k * each * count, (k + 1) * each * count));
        const auto x = all.rows(rows).reshape({count, each, -1});
        const auto y = nax::nn::one_hot(all.labels(rows), all.classes).reshape({count, each, -1});
        const double ready = bench::now();
        if (how == "pmap") {
          Array<float> losses;
          std::tie(params, state, losses) = update(std::move(params), std::move(state), x, y);
          sum += losses(0).item();
        } else {
          sum += step_alone(x, y);
        }
        data_times.push_back(ready - begin), step_times.push_back(bench::now() - ready);
      }
      seconds.push_back(bench::now() - start);
      last = sum / static_cast<double>(steps);
    }
    std::vector<double> later(seconds.begin() + (seconds.size() > 1), seconds.end());
    std::printf(
        "{\"present\": true, \"first_epoch\": %.6g, \"later_epochs\": %.6g, \"step\": %.6g, \"data\": %.6g, "
        "\"all_reduce\": %.6g, \"images_per_second\": %.6g, \"loss\": %.6g, \"parameters\": %lld, \"batch\": "
        "%lld, "
        "\"images\": %lld}\n",
        seconds[0], median(later), median(step_times), median(data_times), median(reductions),
        static_cast<double>(steps * each * count) / median(later), last, static_cast<long long>(parameters),
        static_cast<long long>(each * count), static_cast<long long>(examples));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "device_training: %s\n", error.what());
    return 2;
  }
}
