#pragma once

#include <map>
#include <nax/modules/data/tokenizer.hpp>
#include <nax/nax.hpp>
#include <string>
#include <vector>

#include "config.hpp"

// BERT and the like (MiniLM), read from a folder of Hugging Face: config.json, tokenizer.json,
// model.safetensors.
namespace examples {

using nax::Array, nax::_;
namespace nn = nax::nn;

struct BertLayer {
  nn::MultiHeadAttention<float> attention;
  nn::LayerNorm<float> attention_norm;
  nn::Linear<float> up, down;
  nn::LayerNorm<float> last_norm;

  Array<float> operator()(const Array<float>& x, const Array<bool>& mask) const {
    const Array<float> y = attention_norm(x + attention(x, {.mask = mask}));
    return last_norm(y + down(nn::gelu(up(y), {.approximate = false})));
  }
};

struct Bert {
  nn::Embedding<float> words, places, types;
  nn::LayerNorm<float> norm;
  std::vector<BertLayer> layers;

  // Of tokens (B, T) the features (B, T, features).
  Array<float> operator()(const Array<int>& ids, const Array<bool>& mask) const {
    const Array<bool> seen = mask.reshape({mask.shape(0), 1, 1, mask.shape(1)});
    const Array<int> place = nax::arange<int>(static_cast<int>(ids.shape(1)));
    Array<float> x = norm(words(ids) + places(place) + types(nax::zeros_like(ids)));
    for (const BertLayer& layer : layers) x = layer(x, seen);
    return x;
  }
  // Of texts the mean features of their tokens (B, features).
  Array<float> embed(const nax::data::TokenBatch& texts) const {
    const Array<float> weights = texts.mask.astype<float>();
    const Array<float> sums = nax::einsum("btf,bt->bf", (*this)(texts.ids, texts.mask), weights);
    return sums / nax::sum(weights, {.axis = 1, .keepdims = true});
  }
};

inline Bert read_bert(const std::string& folder) {
  const nax::io::Json config = nax::io::read_json(folder + "/config.json");
  const std::int64_t features = whole_number(config, "hidden_size");
  const double epsilon = real_number(config, "layer_norm_eps", 1e-12);
  const auto key = nax::random::key(0);
  const auto norm = nn::LayerNorm<float>::make({.features = features, .epsilon = epsilon});
  const auto table = [&](const char* count) {
    return nn::Embedding<float>::make(key, {.count = whole_number(config, count), .features = features});
  };
  const std::int64_t wide = whole_number(config, "intermediate_size");
  const auto attention = nn::MultiHeadAttention<float>::make(
      key, {.features = features, .heads = whole_number(config, "num_attention_heads"), .bias = true});
  const BertLayer layer = {attention, norm, nn::Linear<float>::make(key, {features, wide}),
                           nn::Linear<float>::make(key, {wide, features}), norm};
  Bert bert = {
      table("vocab_size"), table("max_position_embeddings"), table("type_vocab_size"), norm,
      std::vector<BertLayer>(static_cast<std::size_t>(whole_number(config, "num_hidden_layers")), layer)};
  // The file's names and those of the fields above; the longer ones first.
  const std::vector<std::pair<std::string, std::string>> names = {
      {"bert.", ""},
      {"embeddings.word_embeddings", "words"},
      {"embeddings.position_embeddings", "places"},
      {"embeddings.token_type_embeddings", "types"},
      {"embeddings.LayerNorm", "norm"},
      {"encoder.layer", "layers"},
      {"attention.self", "attention"},
      {"attention.output.dense", "attention.out"},
      {"attention.output.LayerNorm", "attention_norm"},
      {"intermediate.dense", "up"},
      {"output.dense", "down"},
      {"output.LayerNorm", "last_norm"}};
  const auto renamed = [&](std::string name) {
    for (const auto& [part, other] : names)
      if (const std::size_t at = name.find(part); at != std::string::npos)
        name.replace(at, part.size(), other);
    return name;
  };
  // Files may hold a pooler or heads of tasks, too.
  const auto report =
      nax::io::load_torch(folder + "/model.safetensors", bert, {.strict = false, .rename = renamed});
  if (!report.missing.empty())
    throw nax::ValueError(folder + "/model.safetensors: lacks " + report.missing.front());
  return bert;
}

}  // namespace examples
