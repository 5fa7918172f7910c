// A recurrent network that learns to write, character by character: a text given by --text, or sentences of a
// little grammar that the program draws. --help lists the options.
#include <cmath>
#include <cstdio>
#include <nax/nax.hpp>
#include <string>

#include "support/command_line.hpp"
#include "support/text.hpp"

using nax::Array;
namespace nn = nax::nn;

struct Params {
  Array<float> embedding;  // (V, E)
  nn::LSTMParams<float> cell;
  Array<float> w, b;  // (H, V), (V,)
};

Params init_params(const nax::random::Key& key, std::int64_t characters, std::int64_t units) {
  const auto keys = nax::random::split(key, 3);
  return {nax::random::normal<float>(keys[0], {characters, 32}) * 0.3f, nn::lstm_params(keys[1], 32, units),
          nn::initializers::glorot_uniform(keys[2], {units, characters}), nax::zeros<float>({characters})};
}

// The mean negative logarithm of the probability of each next character; text is (time + 1, batch).
Array<float> loss(const Params& params, const Array<int>& text) {
  const auto now = nn::embedding(params.embedding, text(nax::slice(0, -1)));
  const auto next = text(nax::slice(1, nax::none));
  const auto step = [&](const nn::LSTMState<float>& state, const Array<float>& x) {
    return nn::lstm_cell(params.cell, state, x);
  };
  const auto start = nn::lstm_state(params.cell.recurrent.shape(0), {text.shape(1)});
  const auto h = nax::lax::scan(step, start, now).second;  // (time, batch, H)
  const auto log_p = nn::log_softmax(nax::matmul(h, params.w) + params.b);
  return -nax::mean(nax::take_along_axis(log_p, nax::expand_dims(next, -1)));
}

// A text of that many characters that begins with the first one.
std::string sample(const Params& params, const std::string& alphabet, std::int64_t length,
                   const nax::random::Key& key) {
  using Carry = std::pair<nn::LSTMState<float>, Array<int>>;
  const auto step = [&](const Carry& carry, const nax::random::Key& k) {
    const auto [state, h] =
        nn::lstm_cell(params.cell, carry.first, nn::embedding(params.embedding, carry.second));
    const Array<int> next = nax::random::categorical(k, nax::matmul(h, params.w) + params.b).astype<int>();
    return std::pair{Carry{state, next}, next};
  };
  const Carry start{nn::lstm_state(params.cell.recurrent.shape(0)), Array<int>(0)};
  std::string text;
  for (const int i : nax::lax::scan(step, start, nax::random::split(key, length)).second.to_vector())
    text += alphabet[static_cast<std::size_t>(i)];
  return text;
}

int main(int argc, char** argv) {
  examples::CommandLine args(argc, argv, "learns to write like a text, character by character");
  const std::string file = args.text("--text", "", "the text; without one, sentences of a little grammar");
  const std::int64_t steps = args.integer("--steps", 400, "of training", 1);
  const std::int64_t units = args.integer("--units", 128, "of the LSTM", 1);
  const std::int64_t time = args.integer("--time", 64, "characters of an example", 1);
  const std::int64_t batch = args.integer("--batch-size", 32, "examples of a step", 1);
  const double lr = args.number("--lr", "0.005", "learning rate");
  const std::int64_t seed = args.integer("--seed", 0, "of everything drawn");
  const std::int64_t length = args.integer("--sample", 300, "characters written at the end", 0);
  args.done();
  try {
    const auto [alphabet, all] = examples::load_text(file, static_cast<unsigned>(seed), time + 2);
    const auto optimizer = nax::optim::chain(nax::optim::clip_by_global_norm(1.0), nax::optim::adam(lr));
    auto key = nax::random::key(seed);
    Params params =
        init_params(nax::random::fold_in(key, 1), static_cast<std::int64_t>(alphabet.size()), units);
    auto state = optimizer.init(params);
    const auto step = [&](Params p, decltype(state) s, const Array<int>& text) {
      const auto [value, grads] = nax::value_and_grad(loss)(p, text);
      auto [next, after] = nax::optim::step(optimizer, grads, std::move(s), std::move(p));
      return std::tuple{value, std::move(next), std::move(after)};
    };
    const auto train = nax::jit(step, {.donate_argnums = {0, 1}});
    double mean = 0;
    for (std::int64_t k = 0; k < steps; ++k) {
      const auto starts = nax::random::randint(nax::random::fold_in(key, k + 2), {batch}, 0,
                                               static_cast<int>(all.size() - time));
      const Array<int> text = all(nax::expand_dims(nax::arange<int>(time + 1), 1) + starts);
      Array<float> value;
      std::tie(value, params, state) = train(std::move(params), std::move(state), text);
      mean = k == 0 ? value.item() : 0.95 * mean + 0.05 * value.item();
      if ((k + 1) % 100 == 0 || k + 1 == steps)
        std::printf("step %d  %.3f bits a character\n", static_cast<int>(k + 1), mean / std::log(2.0));
      std::fflush(stdout);
    }
    if (length > 0)
      std::printf("\n%s\n", sample(params, alphabet, length, nax::random::fold_in(key, 0)).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "char_lstm: %s\n", error.what());
    return 2;
  }
}
