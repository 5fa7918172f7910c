// Text that a GPT-2 of Hugging Face goes on with, token by token: keys and values of what it has read are
// kept, and the next token is drawn from the likeliest ones.
//
//   generate --model gpt2 --prompt "The meaning of life" --tokens 60 --temperature 0.8 --top-p 0.9
//
// The folder holds config.json, tokenizer.json and model.safetensors. Without --model a small one with random
// weights is read, which knows nothing. --temperature 0 takes the likeliest token each time.
#include <cstdio>
#include <nax/modules/data/tokenizer.hpp>
#include <nax/nax.hpp>

#include "support/command_line.hpp"
#include "support/config.hpp"

using nax::Array, nax::_, nax::slice;
namespace nn = nax::nn;

// As transformers names and stores the weights.
struct FileAttention {
  nn::Linear<float> c_attn, c_proj;
};
struct FileMlp {
  nn::Linear<float> c_fc, c_proj;
};
struct FileBlock {
  nn::LayerNorm<float> ln_1, ln_2;
  FileAttention attn;
  FileMlp mlp;
};
struct FileGpt {
  nn::Embedding<float> wte, wpe;
  std::vector<FileBlock> h;
  nn::LayerNorm<float> ln_f;
};

struct Gpt {
  FileGpt file;
  std::vector<nn::MultiHeadAttention<float>> attention;
  using Caches = std::vector<nn::KeyValueCache<float>>;

  Caches caches(std::int64_t slots) const {
    Caches all;
    for (const auto& one : attention) all.push_back(one.cache(slots, 1));
    return all;
  }
  // The logits of the token after `tokens` (1, T), which follow on those in the caches.
  std::pair<Caches, Array<float>> operator()(Caches caches, const Array<int>& tokens) const {
    Array<float> x =
        file.wte(tokens) + file.wpe(caches[0].length + nax::arange<int>(static_cast<int>(tokens.shape(1))));
    for (std::size_t i = 0; i < attention.size(); ++i) {
      const FileBlock& block = file.h[i];
      Array<float> y;
      std::tie(caches[i], y) = attention[i](std::move(caches[i]), block.ln_1(x));
      x = x + y;
      x = x + block.mlp.c_proj(nn::gelu(block.mlp.c_fc(block.ln_2(x))));
    }
    return {std::move(caches), file.wte.attend(file.ln_f(Array<float>(x(_, -1))))};
  }
};

Gpt read_gpt(const std::string& folder, std::int64_t& context) {
  const nax::io::Json config = nax::io::read_json(folder + "/config.json");
  const auto whole = [&](const char* key) { return examples::whole_number(config, key); };
  const std::int64_t n = whole("n_embd"), heads = whole("n_head"), width = n / heads;
  context = whole("n_positions");
  const auto key = nax::random::key(0);
  const auto linear = [&](std::int64_t in, std::int64_t out) {
    return nn::Linear<float>::make(key, {in, out});
  };
  const auto norm = nn::LayerNorm<float>::make(
      {.features = n, .epsilon = examples::real_number(config, "layer_norm_epsilon", 1e-5)});
  const FileBlock block = {
      norm, norm, {linear(n, 3 * n), linear(n, n)}, {linear(n, 4 * n), linear(4 * n, n)}};
  Gpt gpt;
  gpt.file = {nn::Embedding<float>::make(key, {whole("vocab_size"), n}),
              nn::Embedding<float>::make(key, {context, n}),
              std::vector<FileBlock>(static_cast<std::size_t>(whole("n_layer")), block), norm};
  const auto report = nax::io::load_torch(
      folder + "/model.safetensors", gpt.file,
      {.strict = false,  // masks may lie there, too
       .rename = {{"transformer.", ""}},
       .layout = {{"c_attn", nax::io::in_out}, {"c_proj", nax::io::in_out}, {"c_fc", nax::io::in_out}}});
  if (!report.missing.empty())
    throw nax::ValueError(folder + "/model.safetensors: lacks " + report.missing.front());
  for (const FileBlock& one : gpt.file.h) {
    auto attention = nn::MultiHeadAttention<float>::make(key, {.features = n, .heads = heads, .bias = true});
    const Array<float> w = one.attn.c_attn.w.reshape({n, 3, heads, width}),
                       b = one.attn.c_attn.b->reshape({3, heads, width});
    auto& p = attention.params;
    p.query = w(_, 0), p.key = w(_, 1), p.value = w(_, 2);
    p.query_bias = b(0), p.key_bias = b(1), p.value_bias = b(2);
    p.out = one.attn.c_proj.w.reshape({heads, width, n}), p.out_bias = one.attn.c_proj.b;
    gpt.attention.push_back(std::move(attention));
  }
  return gpt;
}

int main(int argc, char** argv) {
  examples::CommandLine args(argc, argv, "goes on with a text");
  const std::string folder = args.text("--model", EXAMPLE_MODELS "/gpt2", "folder of the model"),
                    prompt = args.text("--prompt", "The quick brown", "where the text begins");
  const std::int64_t tokens = args.integer("--tokens", 20, "how many to write"),
                     seed = args.integer("--seed", 0, "of the draws");
  const double temperature = args.number("--temperature", "0", "of the draws; 0: the likeliest"),
               top_p =
                   args.number("--top-p", "1", "draws from the fewest tokens whose probabilities reach this");
  args.done();
  try {
    const nax::data::Tokenizer tokenizer = nax::data::Tokenizer::load(folder);
    std::int64_t context = 0;
    const Gpt gpt = read_gpt(folder, context);
    const std::vector<int> begin = tokenizer.encode(prompt);
    const auto length = static_cast<std::int64_t>(begin.size());
    if (length == 0 || length + tokens > context)
      throw nax::ValueError("--prompt and --tokens: " + std::to_string(length) + " + " +
                            std::to_string(tokens) + " tokens for a context of " + std::to_string(context));
    const Array<int> made = nn::generate(gpt, gpt.caches(length + tokens), nax::array(begin, {1, length}),
                                         {.steps = tokens,
                                          .key = nax::random::key(static_cast<std::uint64_t>(seed)),
                                          .sampling = {.temperature = temperature, .top_p = top_p},
                                          .end = tokenizer.id("<|endoftext|>")});
    std::vector<int> all = begin;
    for (std::int64_t i = 0; i < made.size(); ++i) all.push_back(made(0, i).item());
    std::printf("%s\n", tokenizer.decode(all).c_str());
  } catch (const nax::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
