// A transformer that learns to write like a text, character by character, in the form of nanoGPT
// (github.com/karpathy/nanoGPT): 6 layers, 384 features, 6 heads, 256 characters of context.
//
//   gpt --text shakespeare.txt
//   gpt --text shakespeare.txt --layers 4 --features 128 --heads 4 --block 64 --batch-size 12
//       --steps 2000 --dropout 0
//
// The second, nanoGPT's configuration for a CPU, takes 76 s of one core for the million characters of "tiny
// Shakespeare", and has a loss of 1.81 on the tenth that is held back (nanoGPT: 1.88). With --steps 200 it
// has 2.53; peers/gpt.py, the same in JAX, 2.54. It differs from nanoGPT in its first weights, in biases of
// its norms, and in attention without dropout. Writing uses a cache of keys and values.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "support/text.hpp"
#include "support/training.hpp"

using nax::Array, nax::_, nax::slice;
using nax::random::Key, nax::random::fold_in;
namespace nn = nax::nn;
using Cache = nn::KeyValueCache<float>;

// Zeroes features at random while there is a key, in training.
struct Noise {
  std::optional<Key> key;
  double rate = 0;
  Array<float> operator()(const Array<float>& x, std::int64_t place) const {
    return key && rate > 0 ? Array<float>(nn::dropout(fold_in(*key, place), rate, x)) : x;
  }
};

struct Block {
  nn::LayerNorm<float> first_norm, second_norm;
  nn::MultiHeadAttention<float> attention;
  nn::Linear<float> wide, narrow;

  static Block make(const Key& key, std::int64_t features, std::int64_t heads) {
    const auto keys = nax::random::split(key, 3);
    const auto norm = nn::LayerNorm<float>::make({.features = features});
    return {
        norm, norm,
        nn::MultiHeadAttention<float>::make(keys[0], {.features = features, .heads = heads, .bias = false}),
        nn::Linear<float>::make(keys[1], {.in = features, .out = 4 * features, .bias = false}),
        nn::Linear<float>::make(keys[2], {.in = 4 * features, .out = features, .bias = false})};
  }
  Array<float> mix(const Array<float>& x) const { return narrow(nn::gelu(wide(second_norm(x)))); }
};

struct Gpt {
  nn::Embedding<float> characters, places;  // the first is the last layer as well
  std::vector<Block> blocks;
  nn::LayerNorm<float> norm;

  std::int64_t context() const { return places.table.shape(0); }

  // The logits of each next character: text (B, T) to (B, T, characters).
  Array<float> operator()(const Array<int>& text, const Noise& noise = {}) const {
    Array<float> x = noise(characters(text) + places(nax::arange<int>(text.shape(1))), 0);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto place = static_cast<std::int64_t>(2 * i);
      x = x + noise(blocks[i].attention(blocks[i].first_norm(x), {.is_causal = true}), place + 1);
      x = x + noise(blocks[i].mix(x), place + 2);
    }
    return characters.attend(norm(x));
  }
  // The logits of the character after `text` (T,), which follows on those in the caches, one a block.
  Array<float> next(std::vector<Cache>& caches, const Array<int>& text) const {
    Array<float> x = characters(text) + places(caches[0].length + nax::arange<int>(text.shape(0)));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Array<float> y;
      std::tie(caches[i], y) = blocks[i].attention(std::move(caches[i]), blocks[i].first_norm(x));
      x = x + y;
      x = x + blocks[i].mix(x);
    }
    return characters.attend(norm(x(-1)));
  }
};

// Characters of the model's own, after the first one of the alphabet. Where the context is full the last half
// of it is read again.
std::string write(const Gpt& gpt, const std::string& alphabet, std::int64_t length, float temperature,
                  const Key& key) {
  std::vector<int> all = {0};
  std::vector<Cache> caches;
  std::int64_t read = 0;  // characters in the caches
  for (std::int64_t k = 0; k < length; ++k) {
    std::size_t fresh = 1;
    if (caches.empty() || read == gpt.context()) {
      caches.clear();
      for (const Block& block : gpt.blocks) caches.push_back(block.attention.cache(gpt.context()));
      fresh = std::min(all.size(), static_cast<std::size_t>(gpt.context() + 1) / 2);
      read = 0;
    }
    read += static_cast<std::int64_t>(fresh);
    const Array<int> text =
        nax::array(std::vector<int>(all.end() - static_cast<std::ptrdiff_t>(fresh), all.end()));
    const Array<float> logits = gpt.next(caches, text) / temperature;
    all.push_back(nax::random::categorical(fold_in(key, k), logits).item());
  }
  std::string text;
  for (const int i : all) text += alphabet[static_cast<std::size_t>(i)];
  return text;
}

int main(int argc, char** argv) {
  examples::Training options{.steps = 5000, .batch_size = 64, .lr = 1e-3};
  std::int64_t layers = 6, features = 384, heads = 6, block = 256, length = 500;
  double dropout = 0.2;
  float temperature = 0.8f;
  std::string file, checkpoints;
  CLI::App app("learns to write like a text, character by character");
  options.add_to(app);
  app.add_option("--text", file, "the text; without one, sentences of a little grammar");
  app.add_option("--layers", layers)->check(CLI::Range(1, 100));
  app.add_option("--features", features, "width of the layers")->check(CLI::PositiveNumber);
  app.add_option("--heads", heads, "of attention")->check(CLI::PositiveNumber);
  app.add_option("--block", block, "characters of context")->check(CLI::PositiveNumber);
  app.add_option("--dropout", dropout, "share of features zeroed in training")->check(CLI::Range(0., 0.99));
  app.add_option("--sample", length, "characters written at the end")->check(CLI::NonNegativeNumber);
  app.add_option("--temperature", temperature, "of sampling")->check(CLI::PositiveNumber);
  app.add_option("--checkpoints", checkpoints, "folder to save to every 250 steps, and to resume from");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto devices = options.open();
    const auto [alphabet, text] =
        examples::load_text(file, static_cast<unsigned>(options.seed), 20 * (block + 1));
    const std::int64_t trained = text.size() * 9 / 10;  // the rest is held back
    const auto keys = nax::random::split(nax::random::key(options.seed), 4);
    const auto draw = [&](const Array<int>& from, const Key& key) {  // (batch, block + 1)
      const Array<int> starts =
          nax::random::randint<int>(key, {options.batch_size, 1}, 0, static_cast<int>(from.size() - block));
      return Array<int>(from(starts + nax::arange<int>(block + 1)));
    };
    const auto loss_of = [](const Gpt& gpt, const Array<int>& rows, const Noise& noise) -> Array<float> {
      const Array<int> now = rows(_, slice(0, -1)), next = rows(_, slice(1, nax::none));
      return nax::mean(nn::softmax_cross_entropy_with_integer_labels(gpt(now, noise), next));
    };
    // `place` (1,) differs from step to step and from device to device.
    const auto loss = [=, key = keys[0]](const Gpt& gpt, const Array<int>& rows, const Array<int>& place) {
      return loss_of(gpt, rows, {fold_in(key, place(0).item()), dropout});
    };

    // Adam with weight decay of the matrices, nanoGPT's numbers.
    const auto rate = nax::optim::warmup_cosine_decay_schedule(
        0, options.lr, std::min<std::int64_t>(100, options.steps / 2), options.steps + 1,
        {.end_value = options.lr / 10});
    const auto decays = [](const std::string& path) { return path.find("norm") == std::string::npos; };
    const auto optimizer =
        nax::optim::chain(nax::optim::clip_by_global_norm(1.0), nax::optim::scale_by_adam({.b2 = 0.99}),
                          nax::optim::masked(nax::optim::add_decayed_weights(0.1), decays),
                          nax::optim::scale_by_learning_rate(rate));
    const auto step = nax::optim::value_and_step(optimizer, loss, {.axis_name = "devices"});

    const auto first_keys = nax::random::split(keys[1], layers + 2);
    Gpt first{nn::Embedding<float>::make(
                  first_keys[0], {.count = static_cast<std::int64_t>(alphabet.size()), .features = features}),
              nn::Embedding<float>::make(first_keys[1], {.count = block, .features = features}),
              {},
              nn::LayerNorm<float>::make({.features = features})};
    for (std::int64_t i = 0; i < layers; ++i)
      first.blocks.push_back(Block::make(first_keys[i + 2], features, heads));
    std::pair state{first, optimizer.init(first)};
    std::int64_t done = 0;
    std::optional<nax::io::Checkpoints> saved;
    if (!checkpoints.empty()) {
      saved.emplace(checkpoints, nax::io::CheckpointsOptions{.keep = 2, .every = 250, .async = true});
      done = saved->restore(state).value_or(0);
    }
    std::printf("%zu characters, %ld parameters\n", alphabet.size(),
                static_cast<long>(nax::tree::ravel(first).first.size()));

    examples::Log log(options.log);
    examples::OnDevices train(devices, state, [=](auto now, const Array<int>& rows, const Array<int>& place) {
      auto [value, gpt, memory] = step(std::move(now.first), std::move(now.second), rows, place);
      return std::pair{std::pair{gpt, memory}, value};
    });
    for (std::int64_t k = done; k < options.steps; ++k) {
      const auto places = nax::arange<int>(options.devices) + static_cast<int>(k * options.devices);
      const double value = train(draw(text(slice(0, trained)), fold_in(keys[2], k)), Array<int>(places));
      log.write({{"step", k + 1}, {"loss", value}});
      if ((k + 1) % 250 != 0 && k + 1 != options.steps) continue;
      state = train.state();
      double held = 0;
      for (std::int64_t i = 0; i < 20; ++i)
        held +=
            loss_of(state.first, draw(text(slice(trained, nax::none)), fold_in(keys[3], i)), {}).item() / 20;
      std::printf("step %ld  loss %.4f  held back %.4f\n", static_cast<long>(k + 1), value, held);
      std::fflush(stdout);
      if (saved) saved->save(k + 1, state);
    }
    if (length > 0)
      std::printf("\n%s\n", write(train.state().first, alphabet, length, temperature, keys[3]).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpt: %s\n", error.what());
    return 2;
  }
}
