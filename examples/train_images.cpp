// Trains a multilayer perceptron on a folder (or bucket) of JPEGs, and says how much of the time it waited
// for them. Without --data it draws 2000 images first. --help lists the options.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nax/nax.hpp>
#include <vector>

#include "support/command_line.hpp"

using nax::Array;
using Images = Array<std::uint8_t>;

struct Options {
  std::string data, input, cache, trace;
  std::int64_t epochs, batch_size, size, threads, hidden;
};

Options read_options(int argc, char** argv) {
  examples::CommandLine args(argc, argv, "trains a multilayer perceptron on images");
  Options o;
  o.data = args.text("--data", "", "folder with a folder for each class, or s3://bucket/prefix");
  o.input =
      args.choice("--input", {"pipeline", "plain"}, "with threads, a cache and prefetching, or without");
  o.epochs = args.integer("--epochs", 3, "how often the images are gone through", 1);
  o.batch_size = args.integer("--batch-size", 64, "images a step", 1);
  o.size = args.integer("--size", 64, "height and width that images are resized to", 1, 4096);
  o.threads = args.integer("--threads", nax::num_threads(), "that decode", 1, 512);
  o.hidden = args.integer("--hidden", 512, "width of the hidden layers", 1);
  o.cache = args.text("--cache", "", "folder for decoded images; else they are kept in memory");
  o.trace = args.text("--trace", "", "file for a timeline");
  args.done();
  return o;
}

// 256 x 256 pixels of one of four classes: stripes that run one way or the other, of one colour or the other.
Images draw(int label, int number) {
  const nax::random::Key key = nax::random::fold_in(nax::random::key(7), number);
  const Array<float> noise = nax::random::normal<float>(key, {256, 256, 3});
  const float period = 20.f + static_cast<float>(number % 13);
  Array<float> along = nax::arange<float>(256).reshape({256, 1, 1});
  if (label % 2) along = along.reshape({1, 256, 1});
  const Array<float> colour = label / 2 ? Array<float>{1, .6f, .2f} : Array<float>{.2f, .6f, 1};
  const auto pixels = 128 + 60 * nax::sin(along * (6.2831853f / period)) * colour + 12 * noise;
  return Array<float>(nax::clip(pixels, 0, 255)).astype<std::uint8_t>();
}

std::string drawn_images() {
  const std::filesystem::path root = std::filesystem::temp_directory_path() / "nax_drawn_images";
  if (!std::filesystem::exists(root / "complete")) {
    std::printf("drawing 2000 images in %s\n", root.c_str());
    for (int i = 0; i < 2000; ++i) {
      const std::filesystem::path folder = root / ("class" + std::to_string(i % 4));
      std::filesystem::create_directories(folder);
      const auto bytes = nax::image::encode_jpeg(draw(i % 4, i));
      std::ofstream(folder / (std::to_string(i) + ".jpg"), std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    std::ofstream(root / "complete") << "2000\n";
  }
  return root;
}

struct Layer {
  Array<float> w, b;
};
using Params = std::vector<Layer>;

Array<float> predict(const Params& params, Array<float> x) {
  for (std::size_t i = 0; i + 1 < params.size(); ++i)
    x = nax::nn::relu(nax::matmul(x, params[i].w) + params[i].b);
  return nax::nn::log_softmax(nax::matmul(x, params.back().w) + params.back().b);
}

// Batches of (n, features) floats and labels.
auto batches_of(const nax::data::ImageFolder& images, const Options& options) {
  const bool plain = options.input == "plain";
  const auto augment = [](const nax::random::Key& key, const Images& image, int label) {
    const auto shown = nax::image::random_flip(key, image).astype<float>() / 255.f - 0.5f;
    return std::tuple{Array<float>(shown).reshape({-1}), label};
  };
  nax::data::Dataset<nax::data::ImageFolder::Element> elements = images;
  // Indices go through, so the threads of the map decode as well.
  if (!plain) elements = options.cache.empty() ? images.cache() : images.cache(options.cache);
  return elements.shuffle({.key = nax::random::key(1)})
      .map(augment, {.threads = plain ? 0 : static_cast<int>(options.threads), .key = nax::random::key(2)})
      .batch(options.batch_size, {.drop_remainder = true})
      .prefetch(plain ? 0 : 4);
}

void train(const Options& options) {
  const auto images = nax::data::image_folder(options.data.empty() ? drawn_images() : options.data,
                                              {.size = {options.size, options.size}});
  const auto classes = static_cast<std::int64_t>(images.classes().size());
  const std::int64_t sizes[] = {options.size * options.size * 3, options.hidden, options.hidden, classes};
  Params params;
  for (int i = 0; i < 3; ++i)
    params.push_back({nax::random::normal<float>(nax::random::key(10 + i), {sizes[i], sizes[i + 1]}) *
                          std::sqrt(2.f / static_cast<float>(sizes[i])),
                      nax::zeros<float>({sizes[i + 1]})});
  const auto loss = [=](const Params& p, const Array<float>& x, const Array<int>& y) {
    return -nax::mean(nax::sum(predict(p, x) * nax::nn::one_hot(y, classes), {.axis = -1}));
  };
  const auto optimizer = nax::optim::adam(1e-3);
  const auto step = nax::optim::value_and_step(optimizer, loss);
  auto state = optimizer.init(params);
  const auto epochs = batches_of(images, options);  // one dataset, so that its cache lasts
  for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    std::chrono::duration<double> waited{};
    double total = 0;
    std::int64_t seen = 0, steps = 0;
    auto batches = epochs.epoch(epoch).iterator();
    for (;;) {
      const auto asked = Clock::now();
      auto batch = batches.next();
      waited += Clock::now() - asked;
      if (!batch) break;
      Array<float> value;
      std::tie(value, params, state) =
          step(std::move(params), std::move(state), std::get<0>(*batch), std::get<1>(*batch));
      total += value.item();
      seen += std::get<1>(*batch).shape(0), ++steps;
    }
    const std::chrono::duration<double> seconds = Clock::now() - start;
    std::printf("epoch %d  %.2f s  %.0f images/s  waited for data %.1f %%  loss %.4f\n",
                static_cast<int>(epoch + 1), seconds.count(), static_cast<double>(seen) / seconds.count(),
                100 * waited / seconds, total / static_cast<double>(std::max<std::int64_t>(steps, 1)));
    std::fflush(stdout);
  }
}

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  try {
    if (options.trace.empty()) {
      train(options);
    } else {
      nax::profiler::trace(options.trace, [&] { train(options); });
      nax::profiler::summary();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_images: %s\n", error.what());
    return 2;
  }
}
