// The side of nax in quantize.sh: networks in float and by 8-bit integers. `quantized FOLDER` writes the
// float networks as FOLDER/NAME.onnx; then it
// answers lines `NAME float` and `NAME int8` (turns.hpp).

#include <nax/modules/exporting/onnx.hpp>
#include <nax/nax.hpp>

#include "turns.hpp"

namespace {
using namespace nax;
using F = Array<float>;
using Linear = nn::Linear<float>;

Linear linear(int seed, std::int64_t in, std::int64_t out) {
  return {random::normal<float>(random::key(seed), {in, out}) / std::sqrt(static_cast<float>(in)),
          random::normal<float>(random::key(seed + 1), {out}) * .1f};
}

// A layer of BERT.
struct Layer {
  Linear query, key, value, out, wide, narrow;
  nn::LayerNorm<float> first, second;

  static Layer make(int seed, std::int64_t e) {
    const auto norm = nn::LayerNorm<float>::make({.features = e});
    return {linear(seed, e, e),
            linear(seed + 2, e, e),
            linear(seed + 4, e, e),
            linear(seed + 6, e, e),
            linear(seed + 8, e, 4 * e),
            linear(seed + 10, 4 * e, e),
            norm,
            norm};
  }
  F operator()(const F& x) const {
    const auto heads = [&](const Linear& by) { return F(by(x).reshape({x.shape(0), x.shape(1), 12, 32})); };
    const F seen = nn::dot_product_attention(heads(query), heads(key), heads(value));
    const F y = first(F(x + out(F(seen.reshape(x.shape())))));
    return second(F(y + narrow(F(nn::gelu(wide(y), {.approximate = false})))));
  }
};
struct Encoder {
  std::vector<Layer> layers = {};

  static Encoder make() {
    Encoder made;
    for (int i = 0; i < 6; ++i) made.layers.push_back(Layer::make(100 * i, 384));
    return made;
  }
  F operator()(F x) const {
    for (const Layer& one : layers) x = one(x);
    return x;
  }
};
// Linear layers with relu between them.
struct Mlp {
  std::vector<Linear> layers = {};

  static Mlp make(const std::vector<std::int64_t>& widths) {
    Mlp made;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i)
      made.layers.push_back(linear(static_cast<int>(2 * i), widths[i], widths[i + 1]));
    return made;
  }
  F operator()(F x) const {
    for (std::size_t i = 0; i < layers.size(); ++i)
      x = layers[i](x, i + 1 < layers.size() ? nn::Activation::relu : nn::Activation::identity);
    return x;
  }
};

std::map<std::string, std::function<void()>> calls;

template <class Net>
void add(const std::string& folder, const std::string& name, const Net& net, const Shape& shape) {
  const F x = random::normal<float>(random::key(1), shape);
  io::save_onnx(
      folder + "/" + name + ".onnx", [&](const F& a) { return net(a); }, x);
  Net small = net;
  nn::quantize(small, {.keep_weights = false});
  const auto call = [x](const Net& by) {
    return [x, fast = jit([by](const F& a) { return by(a); })] { return fast(x); };
  };
  calls[name + " float"] = call(net), calls[name + " int8"] = call(small);
  const auto cosine = [](const F& a, const F& b) {
    return (sum(a * b) / sqrt(sum(square(a)) * sum(square(b)))).item();
  };
  std::cerr << name << ": cosine of int8 and float " << cosine(small(x), net(x)) << '\n';
}

}  // namespace

int main(int, char** argv) {
  const std::string folder = argv[1];
  set_num_threads(1);
  add(folder, "mlp_1x784_128_10", Mlp::make({784, 128, 10}), {1, 784});
  add(folder, "mlp_1x4096_4096_4096", Mlp::make({4096, 4096, 4096}), {1, 4096});
  add(folder, "mlp_128x784_1024_1024_10", Mlp::make({784, 1024, 1024, 10}), {128, 784});
  const Encoder encoder = Encoder::make();
  add(folder, "encoder_1x16", encoder, {1, 16, 384});
  add(folder, "encoder_32x64", encoder, {32, 64, 384});
  bench::answer(calls);
}
