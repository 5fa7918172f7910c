// A residual network (He and others, 2015) on images of 32 x 32 pixels: ResNet-18 with a first layer for
// small images, and any --width.
//
//   resnet --data cifar-10-batches-bin --steps 15000          # the folder of CIFAR-10's binary files
//   resnet --width 8 --batch-size 64 --steps 300 --lr 0.05    # images that the program draws
//
// The second tells ten directions of stripes apart under noise: 95 % of the test images are right after 35 s
// of one core. The statistics of BatchNorm go into each step and come out of it, and are those of the whole
// batch on any number of devices.
#include <cstdio>
#include <filesystem>
#include <optional>

#include "support/training.hpp"

using nax::Array, nax::_, nax::slice;
namespace nn = nax::nn;
using Stats = nn::BatchStats<float>;

// A convolution without bias and the normalisation behind it.
struct Layer {
  nn::Conv<float> conv;
  nn::BatchNorm<float> norm;

  static Layer make(const nax::random::Key& key, std::int64_t in, std::int64_t out, std::int64_t size,
                    std::int64_t stride = 1) {
    Layer made{nn::Conv<float>::make(key, {.in = in,
                                           .out = out,
                                           .kernel = {size, size},
                                           .bias = false,
                                           .conv = {.strides = {stride, stride}}}),
               nn::BatchNorm<float>::make(out)};
    made.conv.w = nn::initializers::he_normal(key, made.conv.w.shape());
    return made;
  }
};

// Running statistics on their way through a network: each normalisation takes the next in line. In training
// they are of the whole batch, over all devices.
class Running {
 public:
  Running(const std::vector<Stats>& stats, bool training) : stats_(stats), training_(training) {}
  Array<float> operator()(const Layer& layer, const Array<float>& x) {
    nn::BatchNormOptions options{.use_running_average = !training_, .momentum = 0.9};
    if (training_) options.axis_name = "devices";
    auto [y, next] = layer.norm(layer.conv(x), stats_[next_.size()], options);
    next_.push_back(next);
    return y;
  }
  const std::vector<Stats>& next() const { return next_; }

 private:
  const std::vector<Stats>& stats_;
  std::vector<Stats> next_;
  bool training_;
};

struct Block {
  Layer first, second;
  std::optional<Layer> shortcut;  // where the shape changes

  Array<float> operator()(const Array<float>& x, Running& norm) const {
    const Array<float> y = norm(second, nn::relu(norm(first, x)));
    return nn::relu(y + (shortcut ? norm(*shortcut, x) : x));
  }
};

struct ResNet {
  Layer stem;
  std::vector<Block> blocks;
  nn::Linear<float> head;

  static ResNet make(const nax::random::Key& key, std::int64_t width) {
    const auto keys = nax::random::split(key, 32);
    std::int64_t k = 0, in = width;
    ResNet net{Layer::make(keys[k++], 3, width, 3), {}, {}};
    for (std::int64_t stage = 0; stage < 4; ++stage)
      for (std::int64_t i = 0; i < 2; ++i) {
        const std::int64_t out = width << stage, stride = stage > 0 && i == 0 ? 2 : 1;
        Block block{Layer::make(keys[k++], in, out, 3, stride), Layer::make(keys[k++], out, out, 3), {}};
        if (in != out) block.shortcut = Layer::make(keys[k++], in, out, 1, stride);
        net.blocks.push_back(block), in = out;
      }
    net.head = nn::Linear<float>::make(keys[k++], {.in = in, .out = 10});
    return net;
  }
  // The logits of images (N, 32, 32, 3).
  Array<float> operator()(const Array<float>& images, Running& norm) const {
    Array<float> x = nn::relu(norm(stem, images));
    for (const Block& block : blocks) x = block(x, norm);
    return head(nax::mean(x, {.axis = {1, 2}}));
  }
  std::vector<Stats> stats() const {  // of all normalisations, in the order of their calls
    std::vector<Stats> all = {stem.norm.stats()};
    for (const Block& block : blocks) {
      all.push_back(block.first.norm.stats()), all.push_back(block.second.norm.stats());
      if (block.shortcut) all.push_back(block.shortcut->norm.stats());
    }
    return all;
  }
};

struct Images {
  Array<std::uint8_t> pixels;  // (N, 32, 32, 3)
  Array<int> labels;
};

// Files of CIFAR-10: a label and 3 x 32 x 32 bytes for each image.
Images read_cifar(const std::vector<std::string>& paths) {
  std::vector<Array<std::uint8_t>> files;
  for (const std::string& path : paths)
    files.push_back(nax::fromfile<std::uint8_t>(path).reshape({-1, 3073}));
  const Array<std::uint8_t> rows = nax::concatenate(files);
  return {rows(_, slice(1, nax::none)).reshape({-1, 3, 32, 32}).transpose({0, 2, 3, 1}),
          rows(_, 0).astype<int>()};
}

// Gratings of ten directions, of any phase, width and colour, under noise.
Images draw_gratings(const nax::random::Key& key, std::int64_t n) {
  const auto keys = nax::random::split(key, 5);
  const Array<int> labels = nax::random::randint<int>(keys[0], {n}, 0, 10);
  const Array<float> angle = labels.astype<float>().reshape({n, 1, 1}) * (3.14159265f / 10);
  const Array<float> phase = nax::random::uniform<float>(keys[1], {n, 1, 1}) * 6.2831853f;
  const Array<float> step = nax::random::uniform<float>(keys[2], {n, 1, 1}, {.minval = 0.5, .maxval = 1.2});
  const Array<float> at = nax::arange<float>(32), down = at.reshape({1, 32, 1}),
                     across = at.reshape({1, 1, 32});
  const Array<float> wave =
      nax::sin((across * nax::cos(angle) + down * nax::sin(angle)) * step + phase).reshape({n, 32, 32, 1});
  const Array<float> colour =
      nax::random::uniform<float>(keys[3], {n, 1, 1, 3}, {.minval = -60, .maxval = 60});
  const Array<float> noise = nax::random::normal<float>(keys[4], {n, 32, 32, 3}) * 50.f;
  return {Array<float>(nax::clip(128.f + wave * colour + noise, 0, 255)).astype<std::uint8_t>(), labels};
}

int main(int argc, char** argv) {
  examples::Training options{.steps = 200, .batch_size = 128, .lr = 0.1};
  std::int64_t width = 64;
  std::string data;
  CLI::App app("a residual network on small images");
  options.add_to(app);
  app.add_option("--width", width, "channels of the first stage; ResNet-18 has 64")
      ->check(CLI::PositiveNumber);
  app.add_option("--data", data,
                 "folder of data_batch_1.bin ... and test_batch.bin; without, images are drawn");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto devices = options.open();
    examples::Log log(options.log);
    const auto keys = nax::random::split(nax::random::key(options.seed), 4);
    Images images, test;
    if (data.empty()) {
      images = draw_gratings(nax::random::key(1), 5000), test = draw_gratings(nax::random::key(2), 1000);
    } else {
      std::vector<std::string> paths;
      for (int i = 1; i <= 5; ++i)
        if (const std::string path = data + "/data_batch_" + std::to_string(i) + ".bin";
            i == 1 || std::filesystem::exists(path))
          paths.push_back(path);
      images = read_cifar(paths), test = read_cifar({data + "/test_batch.bin"});
    }
    const Array<float> middle = {0.491f, 0.482f, 0.447f}, spread = {0.247f, 0.243f, 0.262f};
    const auto normalised = [=](const Array<std::uint8_t>& x) {
      return nax::image::normalise(x, middle, spread);
    };
    // Training images are moved by up to four pixels and mirrored, each by its own key.
    const auto augment = [=](const nax::random::Key& key, const Array<std::uint8_t>& image,
                             const Array<int>& label) {
      const auto [place, side] = nax::random::split(key);
      const auto wide = nax::pad(image, {{4, 4}, {4, 4}, {0, 0}});
      const auto moved = nax::image::random_crop(place, wide, {32, 32});
      return std::tuple{normalised(data.empty() ? moved : nax::image::random_flip(side, moved)), label};
    };
    auto batches = nax::data::from_arrays(std::tuple{images.pixels, images.labels})
                       .shuffle({.key = keys[0]})
                       .map(augment, {.key = keys[1]})
                       .batch(options.batch_size, {.drop_remainder = true})
                       .repeat()
                       .prefetch(2)
                       .iterator();

    const auto loss = [](const ResNet& net, const Array<float>& x, const Array<int>& y,
                         const std::vector<Stats>& stats) {
      Running norm(stats, true);
      const Array<float> value = nax::mean(nn::softmax_cross_entropy_with_integer_labels(net(x, norm), y));
      return std::pair{value, norm.next()};
    };
    const auto optimizer = nax::optim::chain(
        nax::optim::add_decayed_weights(5e-4),
        nax::optim::sgd(nax::optim::cosine_decay_schedule(options.lr, options.steps + 1), {.momentum = 0.9}));
    const auto step = nax::optim::value_and_step(optimizer, loss, {.axis_name = "devices"});
    const ResNet first = ResNet::make(keys[2], width);
    examples::OnDevices train(
        devices, std::tuple{first, optimizer.init(first), first.stats()},
        [=](auto state, const Array<float>& x, const Array<int>& y) {
          auto& [net, memory, stats] = state;
          auto [value, next_net, next_memory] = step(std::move(net), std::move(memory), x, y, stats);
          return std::pair{std::tuple{next_net, next_memory, value.second}, value.first};
        });
    double mean = 0;
    for (std::int64_t k = 0; k < options.steps; ++k) {
      const auto [x, y] = *batches.next();
      const double value = train(x, y);
      log.write({{"step", k + 1}, {"loss", value}});
      mean = k == 0 ? value : 0.95 * mean + 0.05 * value;
      if ((k + 1) % 50 == 0)
        std::printf("step %ld  loss %.4f\n", static_cast<long>(k + 1), mean), std::fflush(stdout);
    }

    const auto [net, memory, stats] = train.state();
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < test.labels.size(); i += 500) {
      Running norm(stats, false);
      const Array<float> logits = net(normalised(test.pixels(slice(i, i + 500))), norm);
      right += nax::sum(nax::argmax(logits, {.axis = -1}) == test.labels(slice(i, i + 500))).item();
    }
    std::printf("test accuracy: %.4f\n",
                static_cast<double>(right) / static_cast<double>(test.labels.size()));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resnet: %s\n", error.what());
    return 2;
  }
}
