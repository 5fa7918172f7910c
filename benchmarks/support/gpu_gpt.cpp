// gpu_gpt [layers [texts]]: seconds of a training step of a GPT (nanoGPT's form: 384 features, 6 heads, 64
// texts of 256 characters) with Adam on the first GPU, a line of JSON each: called as it is, under jit, with
// TF32, and in bfloat16 by a Policy; and of GPT-2 of 124 million parameters, 8 texts of 1024 words.
// gpu_day_gpt.py has rows of the same names.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nax/nax.hpp>
#include <tuple>
#include <utility>
#include <vector>

using namespace nax;

namespace {

template <class T>
struct Block {
  nn::LayerNorm<T> first_norm, second_norm;
  nn::MultiHeadAttention<T> attention;
  nn::Linear<T> wide, narrow;

  static Block make(const random::Key& key, std::int64_t features, std::int64_t heads) {
    const auto keys = random::split(key, 3);
    const auto norm = nn::LayerNorm<T>::make({.features = features});
    return {norm, norm,
            nn::MultiHeadAttention<T>::make(keys[0], {.features = features, .heads = heads, .bias = false}),
            nn::Linear<T>::make(keys[1], {.in = features, .out = 4 * features, .bias = false}),
            nn::Linear<T>::make(keys[2], {.in = 4 * features, .out = features, .bias = false})};
  }
  Array<T> mix(const Array<T>& x) const { return narrow(nn::gelu(wide(second_norm(x)))); }
};

template <class T>
struct Gpt {
  nn::Embedding<T> characters, places;
  std::vector<Block<T>> blocks;
  nn::LayerNorm<T> norm;

  Array<T> operator()(const Array<int>& text) const {
    Array<T> x = characters(text) + places(arange<int>(text.shape(1)));
    for (const Block<T>& b : blocks) {
      x = x + b.attention(b.first_norm(x), {.is_causal = true});
      x = x + b.mix(x);
    }
    return characters.attend(norm(x));
  }
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Sizes {
  std::int64_t layers, texts, features, heads, context, letters;
};

// Twenty steps behind five; parameters are float.
template <class Compute>
void time_steps(const char* name, const Sizes& sizes, bool records) {
  const auto [layers, texts, features, heads, context, letters] = sizes;
  const auto keys = random::split(random::key(1), layers + 2);
  Gpt<float> gpt{nn::Embedding<float>::make(keys[0], {.count = letters, .features = features}),
                 nn::Embedding<float>::make(keys[1], {.count = context, .features = features}),
                 {},
                 nn::LayerNorm<float>::make({.features = features})};
  for (std::int64_t i = 0; i < layers; ++i)
    gpt.blocks.push_back(Block<float>::make(keys[i + 2], features, heads));
  const auto loss = [](const Gpt<float>& g, const Array<int>& rows) {
    const Array<int> now = rows(_, slice(0, -1)), next = rows(_, slice(1, none));
    const auto logits = nn::Policy<Compute>().cast_to_compute(g)(now);
    return mean(nn::softmax_cross_entropy_with_integer_labels(logits, next).template astype<float>());
  };
  const auto adam = optim::adam(1e-3);
  auto state = adam.init(gpt);
  const auto step = [&](Gpt<float> p, decltype(state) s, const Array<int>& rows) {
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
  const double seconds = (now() - begin) / 20;
  std::printf("{\"step\": \"%s\", \"seconds\": %.9g, \"tokens\": %.6g, \"losses\": [%.4f, %.4f]}\n", name,
              seconds, static_cast<double>(texts * context) / seconds, static_cast<double>(first),
              static_cast<double>(last));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t layers = argc > 1 ? std::atoll(argv[1]) : 6, texts = argc > 2 ? std::atoll(argv[2]) : 64;
  const Sizes sizes{layers, texts, 384, 6, 256, 64};
  const Sizes gpt2 = layers > 1 ? Sizes{12, 8, 768, 12, 1024, 50304} : Sizes{1, 1, 32, 2, 16, 64};
  set_default_device(devices("cuda")[0]);
  time_steps<float>("float32", sizes, false);
  time_steps<float>("float32, jit", sizes, true);
  set_matmul_precision("tensorfloat32");
  time_steps<float>("TF32", sizes, false);
  time_steps<float>("TF32, jit", sizes, true);
  time_steps<bfloat16>("bfloat16, jit", sizes, true);
  time_steps<bfloat16>("GPT-2 124M, bfloat16, jit", gpt2, true);
}
