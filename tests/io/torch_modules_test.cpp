#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "nax/io/torch.hpp"
#include "nax/nn/modules.hpp"
#include "nax/random.hpp"

// Further modules filled from files as PyTorch names and lays out their parameters.
namespace torch_modules_test {
using namespace nax;
using A = Array<float>;
using State = std::map<std::string, A>;

A draw(int seed, const Shape& shape) { return random::normal<float>(random::key(seed), shape); }
void expect_close(const A& a, const A& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_LT(A(max(abs(a - b))).item(), 2e-5f);
}
template <class Module>
io::LoadReport load(const State& state, Module& module) {
  const std::string path =
      testing::TempDir() + "nax_torch_modules_" + std::to_string(::getpid()) + ".safetensors";
  io::save_safetensors(path, state, {.dotted = true});
  const io::LoadReport report = io::load_torch(path, module);
  std::filesystem::remove(path);
  EXPECT_TRUE(report.missing.empty() && report.left.empty());
  return report;
}

// out[s i + k - p] += x[i] w[k], PyTorch's ConvTranspose1d.
A transposed_by_hand(const A& x, const A& w, const A& b, std::int64_t s, std::int64_t p, std::int64_t extra) {
  const std::int64_t n = x.shape(1), kernel = w.shape(2), out = (n - 1) * s - 2 * p + kernel + extra;
  A y = zeros({x.shape(0), out, w.shape(1)}) + b;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < kernel; ++k)
      if (const std::int64_t o = s * i + k - p; o >= 0 && o < out)
        y = y.at(_, o).add(A(matmul(A(x(_, i)), A(w(_, _, k)))));
  return y;
}

TEST(LoadTorchModules, TransposedConvolutions) {
  const State state = {{"weight", draw(1, {3, 5, 4})}, {"bias", draw(2, {5})}};
  const A x = draw(3, {2, 6, 3});
  for (const bool kept : {false, true}) {  // the kernel as the convolution's whose transpose it is
    auto conv = nn::ConvTranspose<float>::make(
        random::key(0), {.in = kept ? 5 : 3,
                         .out = kept ? 3 : 5,
                         .kernel = {4},
                         .bias = false,
                         .conv = {.strides = {2},
                                  .padding = nn::transposed_padding({4}, {1}, {.output_padding = {1}}),
                                  .transpose_kernel = kept}});
    conv.b = zeros({5});
    load(state, conv);
    expect_close(conv(x), transposed_by_hand(x, state.at("weight"), state.at("bias"), 2, 1, 1));
  }
}

TEST(LoadTorchModules, NormsSlopesAndBags) {
  auto norm = nn::InstanceNorm<float>::make({.features = 3});
  load({{"weight", draw(1, {3})}, {"bias", draw(2, {3})}}, norm);
  expect_close(norm.scale, draw(1, {3}));
  auto prelu = nn::PReLU<float>::make({.features = 3});
  load({{"weight", draw(1, {3})}}, prelu);
  expect_close(prelu.slope, draw(1, {3}));
  auto bag = nn::EmbeddingBag<float>::make(random::key(0), {.count = 4, .features = 3});
  load({{"weight", draw(1, {4, 3})}}, bag);
  expect_close(bag.table, draw(1, {4, 3}));
}

TEST(LoadTorchModules, RecurrentLayersBothWaysAndStacked) {
  State state;
  int seed = 0;
  for (const std::string end : {"l0", "l0_reverse", "l1", "l1_reverse"}) {
    const std::int64_t in = end.starts_with("l0") ? 3 : 4;
    state["weight_ih_" + end] = draw(++seed, {2, in});
    state["weight_hh_" + end] = draw(++seed, {2, 2});
    state["bias_ih_" + end] = draw(++seed, {2});
    state["bias_hh_" + end] = draw(++seed, {2});
  }
  auto deep = nn::Stacked<nn::Bidirectional<nn::RNN<float>>>::make(random::key(0),
                                                                   {.in = 3, .units = 2, .layers = 2});
  const auto report = load(state, deep);
  EXPECT_EQ(report.matched[3], "layers[0].backward.cell.input");
  const A x = draw(50, {5, 1, 3});
  A y = x;
  for (const std::string layer : {"l0", "l1"}) {
    const auto run = [&](const std::string& end, bool reverse) {
      A h = zeros({1, 2});
      std::vector<A> all(5);
      for (int t = 0; t < 5; ++t) {
        const int at = reverse ? 4 - t : t;
        h = tanh(matmul(A(y(at)), state.at("weight_ih_" + end).T()) + state.at("bias_ih_" + end) +
                 matmul(h, state.at("weight_hh_" + end).T()) + state.at("bias_hh_" + end));
        all[static_cast<std::size_t>(at)] = h;
      }
      return A(stack(all));
    };
    y = concatenate({run(layer, false), run(layer + "_reverse", true)}, {.axis = -1});
  }
  expect_close(deep(deep.state({1}), x).second, y);
  auto both = nn::Bidirectional<nn::GRU<float>>::make(random::key(0), {.in = 3, .units = 2});
  State gru;
  for (const std::string end : {"l0", "l0_reverse"}) {
    gru["weight_ih_" + end] = draw(++seed, {6, 3}), gru["weight_hh_" + end] = draw(++seed, {6, 2});
    gru["bias_ih_" + end] = draw(++seed, {6}), gru["bias_hh_" + end] = draw(++seed, {6});
  }
  load(gru, both);
  expect_close(*both.backward.cell.recurrent_bias, gru.at("bias_hh_l0_reverse"));
  for (const std::string end : {"l0", "l0_reverse"}) gru.erase("bias_ih_" + end), gru.erase("bias_hh_" + end);
  auto plain = nn::Bidirectional<nn::GRU<float>>::make(random::key(0), {.in = 3, .units = 2, .bias = false});
  EXPECT_EQ(load(gru, plain).matched.size(), 4u);
}

}  // namespace torch_modules_test
