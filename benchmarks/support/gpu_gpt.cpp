// gpu_gpt [layers [texts]]: seconds of a training step of a GPT (nanoGPT's form: 384 features, 6 heads, 64
// texts of 256 characters) with Adam on the first GPU, a line of JSON each: called as it is, under jit, and
// with TF32. gpu_day_gpt.py has rows of the same names.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nax/nax.hpp>
#include <tuple>
#include <utility>
#include <vector>

using namespace nax;

namespace {

struct Block {
  nn::LayerNorm<float> first_norm, second_norm;
  nn::MultiHeadAttention<float> attention;
  nn::Linear<float> wide, narrow;

  static Block make(const random::Key& key, std::int64_t features, std::int64_t heads) {
    const auto keys = random::split(key, 3);
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
  nn::Embedding<float> characters, places;
  std::vector<Block> blocks;
  nn::LayerNorm<float> norm;

  Array<float> operator()(const Array<int>& text) const {
    Array<float> x = characters(text) + places(arange<int>(text.shape(1)));
    for (const Block& b : blocks) {
      x = x + b.attention(b.first_norm(x), {.is_causal = true});
      x = x + b.mix(x);
    }
    return characters.attend(norm(x));
  }
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Twenty steps behind five.
void time_steps(const char* name, std::int64_t layers, std::int64_t texts, bool records) {
  constexpr std::int64_t features = 384, heads = 6, context = 256, letters = 64;
  const auto keys = random::split(random::key(1), layers + 2);
  Gpt gpt{nn::Embedding<float>::make(keys[0], {.count = letters, .features = features}),
          nn::Embedding<float>::make(keys[1], {.count = context, .features = features}),
          {},
          nn::LayerNorm<float>::make({.features = features})};
  for (std::int64_t i = 0; i < layers; ++i) gpt.blocks.push_back(Block::make(keys[i + 2], features, heads));
  const auto loss = [](const Gpt& g, const Array<int>& rows) {
    const Array<int> now = rows(_, slice(0, -1)), next = rows(_, slice(1, none));
    return mean(nn::softmax_cross_entropy_with_integer_labels(g(now), next));
  };
  const auto adam = optim::adam(1e-3);
  auto state = adam.init(gpt);
  const auto step = [&](Gpt p, decltype(state) s, const Array<int>& rows) {
    const auto [value, g] = value_and_grad(loss)(p, rows);
    std::tie(p, s) = optim::step(adam, g, std::move(s), std::move(p));
    return std::tuple{std::move(p), std::move(s), value};
  };
  const auto recorded = jit(step, {.donate_argnums = {0, 1}});
  const Array<int> rows = random::randint(random::key(9), {texts, context + 1}, 0, static_cast<int>(letters));
  Array<float> value;
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i)
      std::tie(gpt, state, value) = records ? recorded(std::move(gpt), std::move(state), rows)
                                            : step(std::move(gpt), std::move(state), rows);
    return value.item();
  };
  const float first = run(5);
  const double begin = now();
  const float last = run(20);
  std::printf("{\"step\": \"%s\", \"seconds\": %.9g, \"losses\": [%.4f, %.4f]}\n", name, (now() - begin) / 20,
              static_cast<double>(first), static_cast<double>(last));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t layers = argc > 1 ? std::atoll(argv[1]) : 6, texts = argc > 2 ? std::atoll(argv[2]) : 64;
  set_default_device(devices("cuda")[0]);
  time_steps("float32", layers, texts, false);
  time_steps("float32, jit", layers, texts, true);
  set_matmul_precision("tensorfloat32");
  time_steps("TF32", layers, texts, false);
  time_steps("TF32, jit", layers, texts, true);
}
