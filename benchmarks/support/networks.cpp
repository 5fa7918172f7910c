// The side of nax in networks.sh: training steps, inference, and a token of a GPT-2. `networks FOLDER` writes
// of each network FOLDER/NAME.safetensors, its parameters, inputs and results, and of inference NAME.onnx;
// then it answers lines `NAME WAY` (turns.hpp).
#include <nax/modules/exporting/onnx.hpp>
#include <nax/nax.hpp>

#include "turns.hpp"

namespace {
using namespace nax;
using F = Array<float>;
using Images = F;

std::map<std::string, std::function<void()>> calls;
std::string folder;

// Files that the peers read.
template <class Net, class X, class Y>
struct Saved {
  Net net;
  X x;
  Y y;
  F result;
};
template <class Net, class X, class Y>
void save(const std::string& name, const Net& net, const X& x, const Y& y, const F& result) {
  io::save_safetensors(folder + "/" + name + ".safetensors", Saved<Net, X, Y>{net, x, y, result},
                       {.dotted = true});
}

// Steps that `step` computes from a state (parameters, optimiser's state), plain and under jit; the first
// losses are results.
template <class Net, class Optimizer, class Loss, class X, class Y>
void add_training(const std::string& name, const Net& net, const Optimizer& optimizer, const Loss& loss,
                  const X& x, const Y& y) {
  const auto step = optim::value_and_step(optimizer, loss);
  const auto run = [=](auto by) {
    return [=, params = net, state = optimizer.init(net)]() mutable {
      F value;
      std::tie(value, params, state) = by(std::move(params), std::move(state), x, y);
      return value;
    };
  };
  const auto losses = [](auto call) {
    std::vector<float> all;
    for (int i = 0; i < 4; ++i) all.push_back(call().item());
    return array(all);
  };
  const auto plain = run(step), fast = run(jit(step));
  const F results = losses(plain);
  if (!allclose(results, losses(fast), {.rtol = 1e-4})) throw ValueError(name + ": jit has other losses");
  save(name, net, x, y, results);
  calls[name + " plain"] = plain, calls[name + " jit"] = fast;
}

template <class Net>
void add_inference(const std::string& name, const Net& net, const F& x) {
  const auto call = [net](const F& a) { return net(a); };
  io::save_onnx(folder + "/" + name + ".onnx", call, x);
  save(name, net, x, 0, net(x));
  calls[name + " plain"] = [=] { static_cast<void>(F(call(x))); };
  calls[name + " jit"] = [=, fast = jit(call)] { static_cast<void>(fast(x)); };
}

nn::Conv<float> conv(const random::Key& key, std::int64_t in, std::int64_t out, std::int64_t size,
                     std::int64_t stride = 1, bool bias = false) {
  const std::int64_t side = size / 2;
  return nn::Conv<float>::make(
      key, {.in = in,
            .out = out,
            .kernel = {size, size},
            .bias = bias,
            .conv = {.strides = {stride, stride},
                     .padding = std::vector<lax::Padding::Pair>{{side, side}, {side, side}}}});
}

// ResNet-18: for images of 32 x 32 a first layer of 3 x 3, else of 7 x 7 with pooling.
struct Layer {
  nn::Conv<float> conv;
  nn::BatchNorm<float> norm;
  nn::BatchStats<float> stats;

  static Layer make(const random::Key& key, std::int64_t in, std::int64_t out, std::int64_t size,
                    std::int64_t stride = 1) {
    const auto norm = nn::BatchNorm<float>::make(out);
    Layer made{::conv(key, in, out, size, stride), norm, norm.stats()};
    made.conv.w = nn::initializers::he_normal(key, made.conv.w.shape());
    return made;
  }
  F operator()(const F& x, bool training) const {
    return norm(conv(x), stats, {.use_running_average = !training, .momentum = .9}).first;
  }
};
struct Block {
  Layer first, second;
  std::optional<Layer> shortcut;

  F operator()(const F& x, bool training) const {
    const F y = second(nn::relu(first(x, training)), training);
    return nn::relu(y + (shortcut ? (*shortcut)(x, training) : x));
  }
};
struct ResNet {
  Layer stem;
  std::vector<Block> blocks;
  nn::Linear<float> head;
  tree::Static<bool> training, small;

  static ResNet make(bool training, std::int64_t classes) {
    const auto keys = random::split(random::key(0), 32);
    std::int64_t k = 0, in = 64;
    ResNet net{Layer::make(keys[k++], 3, 64, training ? 3 : 7, training ? 1 : 2), {}, {}, training, training};
    for (std::int64_t stage = 0; stage < 4; ++stage)
      for (std::int64_t i = 0; i < 2; ++i) {
        const std::int64_t out = std::int64_t{64} << stage, stride = stage > 0 && i == 0 ? 2 : 1;
        Block block{Layer::make(keys[k++], in, out, 3, stride), Layer::make(keys[k++], out, out, 3), {}};
        if (in != out) block.shortcut = Layer::make(keys[k++], in, out, 1, stride);
        net.blocks.push_back(block), in = out;
      }
    net.head = nn::Linear<float>::make(keys[k++], {.in = in, .out = classes});
    return net;
  }
  F operator()(const F& images) const {
    F x = nn::relu(stem(images, *training));
    if (!*small)
      x = nn::max_pool(x, {3, 3},
                       {.strides = {2, 2}, .padding = std::vector<lax::Padding::Pair>{{1, 1}, {1, 1}}});
    for (const Block& block : blocks) x = block(x, *training);
    return head(mean(x, {.axis = {1, 2}}));
  }
};

// A U-Net of three levels.
struct Twice {
  nn::Conv<float> first, second;
  static Twice make(const random::Key& key, std::int64_t in, std::int64_t out) {
    const auto [a, b] = random::split(key);
    return {::conv(a, in, out, 3, 1, true), ::conv(b, out, out, 3, 1, true)};
  }
  F operator()(const F& x) const { return nn::relu(second(nn::relu(first(x)))); }
};
struct UNet {
  std::vector<Twice> down, rise;
  std::vector<nn::ConvTranspose<float>> up;
  nn::Conv<float> head;

  static UNet make(std::int64_t width) {
    const auto keys = random::split(random::key(2), 8);
    UNet net{{Twice::make(keys[0], 3, width), Twice::make(keys[1], width, 2 * width),
              Twice::make(keys[2], 2 * width, 4 * width)},
             {Twice::make(keys[3], 2 * width, width), Twice::make(keys[4], 4 * width, 2 * width)},
             {},
             ::conv(keys[5], width, 1, 1, 1, true)};
    for (std::int64_t i = 0; i < 2; ++i)
      net.up.push_back(nn::ConvTranspose<float>::make(
          keys[6 + i],
          {.in = (2 << i) * width, .out = (1 << i) * width, .kernel = {2, 2}, .conv = {.strides = {2, 2}}}));
    return net;
  }
  F operator()(const F& images) const {
    const F a = down[0](images), b = down[1](nn::max_pool(a, {2, 2}, {.strides = {2, 2}}));
    const F c = down[2](nn::max_pool(b, {2, 2}, {.strides = {2, 2}}));
    const F d = rise[1](concatenate({b, up[1](c)}, {.axis = 3}));
    return head(rise[0](concatenate({a, up[0](d)}, {.axis = 3})));
  }
};

// A GPT: nanoGPT's for a CPU, and GPT-2.
template <class T>
struct GptBlock {
  nn::LayerNorm<T> first_norm, second_norm;
  nn::MultiHeadAttention<T> attention;
  nn::Linear<T> wide, narrow;

  Array<T> mix(const Array<T>& x) const { return narrow(nn::gelu(wide(second_norm(x)))); }
};
template <class T>
struct Gpt {
  nn::Embedding<T> tokens, places;
  std::vector<GptBlock<T>> blocks;
  nn::LayerNorm<T> norm;

  static Gpt make(std::int64_t words, std::int64_t context, std::int64_t layers, std::int64_t features,
                  std::int64_t heads, bool bias) {
    const auto keys = random::split(random::key(3), 3 * layers + 2);
    const auto norm = nn::LayerNorm<T>::make({.features = features});
    Gpt net{nn::Embedding<T>::make(keys[0], {.count = words, .features = features}),
            nn::Embedding<T>::make(keys[1], {.count = context, .features = features}),
            {},
            norm};
    net.tokens.table = net.tokens.table * T(.1f);
    for (std::int64_t i = 0; i < layers; ++i)
      net.blocks.push_back(
          {norm, norm,
           nn::MultiHeadAttention<T>::make(keys[3 * i + 2],
                                           {.features = features, .heads = heads, .bias = bias}),
           nn::Linear<T>::make(keys[3 * i + 3], {.in = features, .out = 4 * features, .bias = bias}),
           nn::Linear<T>::make(keys[3 * i + 4], {.in = 4 * features, .out = features, .bias = bias})});
    return net;
  }
  Array<T> operator()(const Array<int>& text) const {
    Array<T> x = tokens(text) + places(arange<int>(static_cast<int>(text.shape(1))));
    for (const auto& block : blocks) {
      x = x + block.attention(block.first_norm(x), {.is_causal = true});
      x = x + block.mix(x);
    }
    return tokens.attend(norm(x));
  }
  // The logits of the token after `text` (1, T), which follows on those in the caches.
  using Caches = std::vector<nn::KeyValueCache<T>>;
  std::pair<Array<T>, Caches> next(const Array<int>& text, Caches caches) const {
    Array<T> x = tokens(text) + places(caches[0].length + arange<int>(static_cast<int>(text.shape(1))));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Array<T> y;
      std::tie(caches[i], y) = blocks[i].attention(std::move(caches[i]), blocks[i].first_norm(x));
      x = x + y;
      x = x + blocks[i].mix(x);
    }
    return {tokens.attend(norm(x)), std::move(caches)};
  }
};

// A token after `read` others.
template <class T>
void add_decoding(const std::string& name, const Gpt<T>& net, const Array<int>& token,
                  typename Gpt<T>::Caches caches) {
  calls[name] = [=, length = caches[0].length]() mutable {
    for (auto& cache : caches) cache.length = length;
    Array<T> logits;
    std::tie(logits, caches) = net.next(token, std::move(caches));
  };
}

void add_gpt2() {
  constexpr std::int64_t read = 128, slots = 256, layers = 12, heads = 12, width = 64;
  const auto net = Gpt<float>::make(50257, 1024, layers, heads * width, heads, true);
  Gpt<float>::Caches caches;
  const Array<bool> filled = arange<int>(slots).reshape({1, slots, 1, 1}) < static_cast<int>(read);
  const auto draw = [&](std::int64_t seed) {
    const F all =
        random::normal<float>(random::key(static_cast<std::uint64_t>(seed)), {1, slots, heads, width});
    return F(where(filled, all, 0));
  };
  for (std::int64_t i = 0; i < layers; ++i)
    caches.push_back({draw(2 * i), draw(2 * i + 1), array(static_cast<int>(read))});
  const Array<int> token = {{42}};
  const F logits = net.next(token, caches).first;
  save("gpt2_token", net, token, caches, logits);
  using Pairs = std::vector<std::pair<F, F>>;
  Pairs pairs;
  for (const auto& cache : caches) pairs.push_back({cache.key, cache.value});
  io::save_onnx(
      folder + "/gpt2_token.onnx",
      [=, length = caches[0].length](const Array<int>& text, const Pairs& kept) {
        Gpt<float>::Caches in;
        for (const auto& [key, value] : kept) in.push_back({key, value, length});
        auto [y, out] = net.next(text, std::move(in));
        Pairs next;
        for (const auto& cache : out) next.push_back({cache.key, cache.value});
        return std::pair{y, next};
      },
      std::tuple{token, pairs});
  add_decoding("gpt2_token plain", net, token, caches);
  const nn::Policy<bfloat16> policy;
  const Gpt<bfloat16> low = policy.cast_to_compute(net);
  const Gpt<bfloat16>::Caches short_ones = policy.cast_to_compute(caches);
  const F rough = low.next(token, short_ones).first.astype<float>();
  const float cosine = (sum(logits * rough) / sqrt(sum(square(logits)) * sum(square(rough)))).item();
  if (!(cosine > .999f))
    throw ValueError("gpt2_token: cosine of bfloat16 and float " + std::to_string(cosine));
  add_decoding("gpt2_token bfloat16", low, token, short_ones);
}

void add(const std::string& name) {
  const auto normal = [](const Shape& shape) { return random::normal<float>(random::key(9), shape); };
  const auto classes = [](const auto& net, const F& x, const Array<int>& y) -> F {
    return mean(nn::softmax_cross_entropy_with_integer_labels(net(x), y));
  };
  if (name == "resnet18_step") {
    const auto optimizer = optim::chain(optim::add_decayed_weights(5e-4), optim::sgd(.05, {.momentum = .9}));
    add_training(name, ResNet::make(true, 10), optimizer, classes, normal({8, 32, 32, 3}), arange<int>(8));
  } else if (name == "resnet18") {
    add_inference(name, ResNet::make(false, 1000), normal({8, 224, 224, 3}));
  } else if (name == "unet_step") {
    const auto loss = [](const UNet& net, const F& x, const F& y) -> F { return mean(square(net(x) - y)); };
    add_training(name, UNet::make(32), optim::adam(1e-3), loss, normal({4, 64, 64, 3}),
                 normal({4, 64, 64, 1}));
  } else if (name == "gpt_step") {
    const auto decays = [](const std::string& path) { return path.find("norm") == std::string::npos; };
    const auto optimizer = optim::chain(optim::clip_by_global_norm(1.0), optim::scale_by_adam({.b2 = .99}),
                                        optim::masked(optim::add_decayed_weights(.1), decays),
                                        optim::scale_by_learning_rate(1e-3));
    const auto loss = [](const Gpt<float>& net, const Array<int>& x, const Array<int>& y) -> F {
      return mean(nn::softmax_cross_entropy_with_integer_labels(net(x), y));
    };
    const Array<int> text = random::randint<int>(random::key(4), {12, 65}, 0, 65);
    add_training(name, Gpt<float>::make(65, 64, 4, 128, 4, false), optimizer, loss,
                 Array<int>(text(_, slice(0, 64))), Array<int>(text(_, slice(1, 65))));
  } else if (name == "gpt2_token") {
    add_gpt2();
  } else {
    throw ValueError("networks: no network " + name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  folder = argv[1];
  set_num_threads(1);
  for (int i = 2; i < argc; ++i) add(argv[i]);
  bench::answer(calls);
}
