#include <gtest/gtest.h>

#include <nax/io/torch.hpp>
#include <nax/nax.hpp>

// Small models of random weights that PyTorch and transformers wrote (goldens/make_torch.py): what they
// compute is what PyTorch computes.
namespace torch_models_test {
using namespace nax;
using A = Array<float>;
using I = Array<int>;

std::string golden(const std::string& name) { return NAX_GOLDENS_DIR "/torch_" + name + ".safetensors"; }
struct Call {
  A x, y;
};
struct Calls {
  Call bert, gpt2, llama, resnet;
};
template <class F>
void expect_output(Call Calls::*call, const F& compute) {
  Calls calls;
  io::load_safetensors(golden("outputs"), calls);
  const A expected = (calls.*call).y, found = compute((calls.*call).x);
  ASSERT_EQ(found.shape(), expected.shape());
  EXPECT_LT(max(abs(found - expected)).item(), 1e-5f * max(abs(expected)).item());
}
// Replaces each of these parts of names.
io::TorchNames renamed(std::vector<std::pair<std::string, std::string>> parts) {
  return [parts](std::string name) {
    for (const auto& [part, other] : parts)
      if (const std::size_t at = name.find(part); at != std::string::npos)
        name.replace(at, part.size(), other);
    return name;
  };
}
nn::Linear<float> linear(std::int64_t in, std::int64_t out, bool bias = true) {
  return nn::Linear<float>::make(random::key(0), {.in = in, .out = out, .bias = bias});
}
nn::LayerNorm<float> norm(double epsilon) {
  return nn::LayerNorm<float>::make({.features = 8, .epsilon = epsilon});
}
nn::Embedding<float> rows(std::int64_t count) {
  return nn::Embedding<float>::make(random::key(0), {.count = count, .features = 8});
}
I places(const I& ids) { return arange<int>(static_cast<int>(ids.shape(1))); }

// ---- BERT

struct BertLayer {
  nn::MultiHeadAttention<float> attention =
      nn::MultiHeadAttention<float>::make(random::key(0), {.features = 8, .heads = 2});
  nn::LayerNorm<float> attention_norm = norm(1e-12);
  nn::Linear<float> up = linear(8, 12), down = linear(12, 8);
  nn::LayerNorm<float> last_norm = norm(1e-12);
  A operator()(const A& x) const {
    const A y = attention_norm(x + attention(x));
    return last_norm(y + down(nn::gelu(up(y), {.approximate = false})));
  }
};
struct Bert {
  nn::Embedding<float> words = rows(12), positions = rows(6), types = rows(2);
  nn::LayerNorm<float> first_norm = norm(1e-12);
  std::vector<BertLayer> layers = std::vector<BertLayer>(2);
  A operator()(const I& ids) const {
    A x = first_norm(words(ids) + positions(places(ids)) + types(zeros_like(ids)));
    for (const BertLayer& layer : layers) x = layer(x);
    return x;
  }
};
TEST(TorchModels, Bert) {
  Bert net;
  io::load_torch(golden("bert"), net,
                 {.rename = renamed({{"embeddings.word_embeddings", "words"},
                                     {"embeddings.position_embeddings", "positions"},
                                     {"embeddings.token_type_embeddings", "types"},
                                     {"embeddings.LayerNorm", "first_norm"},
                                     {"encoder.layer", "layers"},
                                     {"attention.self", "attention"},
                                     {"attention.output.dense", "attention.out"},
                                     {"attention.output.LayerNorm", "attention_norm"},
                                     {"intermediate.dense", "up"},
                                     {"output.dense", "down"},
                                     {"output.LayerNorm", "last_norm"}})});
  expect_output(&Calls::bert, [&](const A& x) { return net(x.astype<int>()); });
}

// ---- GPT-2

struct GptAttention {
  nn::Linear<float> c_attn = linear(8, 24), c_proj = linear(8, 8);
  A operator()(const A& x) const {
    const Shape heads = {x.shape(0), x.shape(1), 2, 4};
    const A all = c_attn(x);
    const auto part = [&](std::int64_t i) {
      return A(all(ellipsis, slice(8 * i, 8 * i + 8)).reshape(heads));
    };
    return c_proj(
        nn::dot_product_attention(part(0), part(1), part(2), {.is_causal = true}).reshape(x.shape()));
  }
};
struct GptMlp {
  nn::Linear<float> c_fc = linear(8, 32), c_proj = linear(32, 8);
};
struct GptLayer {
  nn::LayerNorm<float> ln_1 = norm(1e-5), ln_2 = norm(1e-5);
  GptAttention attn;
  GptMlp mlp;
};
struct Gpt {
  nn::Embedding<float> wte = rows(12), wpe = rows(6);
  std::vector<GptLayer> h = std::vector<GptLayer>(2);
  nn::LayerNorm<float> ln_f = norm(1e-5);
  A operator()(const I& ids) const {
    A x = wte(ids) + wpe(places(ids));
    for (const GptLayer& layer : h) {
      x = x + layer.attn(layer.ln_1(x));
      x = x + layer.mlp.c_proj(nn::gelu(layer.mlp.c_fc(layer.ln_2(x))));
    }
    return ln_f(x);
  }
};
TEST(TorchModels, Gpt2) {
  Gpt net;
  io::load_torch(golden("gpt2"), net,
                 {.layout = {{"c_attn", io::in_out}, {"c_proj", io::in_out}, {"c_fc", io::in_out}}});
  expect_output(&Calls::gpt2, [&](const A& x) { return net(x.astype<int>()); });
  EXPECT_THROW(io::load_torch(golden("gpt2"), net), IoError);  // a square c_proj may lie either way
}

// ---- Llama

// Turns pairs of the first and second half of each head by an angle that grows with the place.
A turned(const A& x) {  // (B, T, N, H)
  const std::int64_t half = x.shape(3) / 2;
  const A rates = power(10000.f, -arange<float>(static_cast<float>(half)) / static_cast<float>(half));
  const A angles = A(arange<float>(static_cast<float>(x.shape(1)))).reshape({-1, 1, 1}) * rates;
  const A a = x(ellipsis, slice(0, half)), b = x(ellipsis, slice(half, 2 * half));
  return concatenate({A(a * cos(angles) - b * sin(angles)), A(b * cos(angles) + a * sin(angles))},
                     {.axis = -1});
}
struct LlamaAttention {
  nn::Linear<float> q_proj = linear(8, 8, false), k_proj = linear(8, 4, false), v_proj = linear(8, 4, false),
                    o_proj = linear(8, 8, false);
  A operator()(const A& x) const {
    const auto heads = [&](const A& y) { return A(y.reshape({x.shape(0), x.shape(1), -1, 4})); };
    const A y = nn::dot_product_attention(turned(heads(q_proj(x))), turned(heads(k_proj(x))),
                                          heads(v_proj(x)), {.is_causal = true});
    return o_proj(y.reshape(x.shape()));
  }
};
struct LlamaMlp {
  nn::Linear<float> gate_proj = linear(8, 12, false), up_proj = linear(8, 12, false),
                    down_proj = linear(12, 8, false);
  A operator()(const A& x) const { return down_proj(nn::silu(gate_proj(x)) * up_proj(x)); }
};
struct LlamaLayer {
  nn::RMSNorm<float> input_layernorm = nn::RMSNorm<float>::make({.features = 8, .epsilon = 1e-6}),
                     post_attention_layernorm = input_layernorm;
  LlamaAttention self_attn;
  LlamaMlp mlp;
};
struct Llama {
  nn::Embedding<float> embed_tokens = rows(12);
  std::vector<LlamaLayer> layers = std::vector<LlamaLayer>(2);
  nn::RMSNorm<float> norm = nn::RMSNorm<float>::make({.features = 8, .epsilon = 1e-6});
  nn::Linear<float> lm_head = linear(8, 12, false);
  A operator()(const I& ids) const {
    A x = embed_tokens(ids);
    for (const LlamaLayer& layer : layers) {
      x = x + layer.self_attn(layer.input_layernorm(x));
      x = x + layer.mlp(layer.post_attention_layernorm(x));
    }
    return lm_head(norm(x));
  }
};
TEST(TorchModels, Llama) {
  Llama net;
  io::load_torch(golden("llama"), net, {.rename = {{"model.", ""}}});
  expect_output(&Calls::llama, [&](const A& x) { return net(x.astype<int>()); });
}

// ---- ResNet

// Statistics of batch norm stand beside its parameters, as bn1.running_mean beside bn1.weight.
struct Norm {
  nn::BatchNorm<float> norm;
  nn::BatchStats<float> stats;
  static Norm make(std::int64_t features) {
    const auto norm = nn::BatchNorm<float>::make(features);
    return {norm, norm.stats()};
  }
  A operator()(const A& x) const { return norm(x, stats, {.use_running_average = true}).first; }
};
nn::Conv<float> conv(std::int64_t in, std::int64_t out, std::int64_t extent, std::int64_t stride) {
  const std::int64_t pad = extent / 2;
  return nn::Conv<float>::make(random::key(0),
                               {.in = in,
                                .out = out,
                                .kernel = {extent, extent},
                                .bias = false,
                                .conv = {.strides = {stride, stride}, .padding = {{pad, pad}, {pad, pad}}}});
}
struct Shortcut {
  nn::Conv<float> conv;
  Norm bn;
};
struct Block {
  nn::Conv<float> conv1, conv2;
  Norm bn1, bn2;
  std::optional<Shortcut> downsample;
  static Block make(std::int64_t in, std::int64_t out, std::int64_t stride) {
    Block made{conv(in, out, 3, stride), conv(out, out, 3, 1), Norm::make(out), Norm::make(out), {}};
    if (in != out) made.downsample = Shortcut{conv(in, out, 1, stride), Norm::make(out)};
    return made;
  }
  A operator()(const A& x) const {
    const A y = bn2(conv2(nn::relu(bn1(conv1(x)))));
    return nn::relu(y + (downsample ? downsample->bn(downsample->conv(x)) : x));
  }
};
struct ResNet {
  nn::Conv<float> conv1 = conv(3, 4, 3, 2);
  Norm bn1 = Norm::make(4);
  std::vector<Block> layer1 = {Block::make(4, 4, 1)}, layer2 = {Block::make(4, 8, 2)};
  nn::Linear<float> fc = linear(8, 5);
  A operator()(const A& x) const {
    const A y =
        nn::max_pool(nn::relu(bn1(conv1(x))), {3, 3}, {.strides = {2, 2}, .padding = {{1, 1}, {1, 1}}});
    return fc(mean(layer2[0](layer1[0](y)), {.axis = {1, 2}}));
  }
};
TEST(TorchModels, ResNet) {
  ResNet net;
  // bn1.weight is bn1.norm.weight here, bn1.running_mean is bn1.stats.running_mean.
  const auto rename = [](std::string name) {
    const auto replace = [&](const std::string& part, const std::string& other) {
      if (const std::size_t at = name.find(part); at != std::string::npos)
        name.replace(at, part.size(), other);
    };
    replace("downsample.0", "downsample.conv");
    replace("downsample.1", "downsample.bn");
    if (const std::size_t at = name.find("bn"); at != std::string::npos) {
      const std::size_t dot = name.find('.', at);
      name.insert(dot, name.find("running") != std::string::npos ? ".stats" : ".norm");
    }
    return name;
  };
  io::load_torch(golden("resnet"), net, {.rename = rename});
  expect_output(&Calls::resnet, [&](const A& x) { return net(transpose(x, {0, 2, 3, 1})); });
}

}  // namespace torch_models_test
