#include "nax/nn/modules.hpp"

#include <gtest/gtest.h>

#include "nax/io/safetensors.hpp"
#include "nax/nn/activations.hpp"
#include "nax/nn/losses.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/optim.hpp"
#include "nax/random.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/text_of.hpp"

namespace modules_test {
using namespace nax;
using F = Array<float>;

void expect_near(const F& got, const F& want, float tolerance = 1e-5f) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = got.to_vector(), b = want.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

template <class T>
std::vector<std::string> names(const T& module) {
  std::vector<std::string> all;
  tree::for_each_with_path([&](const std::string& path, const auto&) { all.push_back(path); }, module);
  return all;
}

struct Net {
  nn::Conv<float> conv;
  nn::GroupNorm<float> norm;
  nn::Dropout dropout;
  nn::Linear<float> head;

  F operator()(const random::Key& key, const F& x) const {
    const F hidden = nn::relu(norm(conv(x)));
    return head(dropout(key, F(mean(hidden, {.axis = {1, 2}}))));
  }
};
Net net(int seed) {
  const auto keys = random::split(random::key(seed), 2);
  return {nn::Conv<float>::make(keys[0], {.in = 2, .out = 8, .kernel = {3, 3}, .conv = {.strides = {2, 2}}}),
          nn::GroupNorm<float>::make({.features = 8, .groups = 4}),
          {.rate = 0.25},
          nn::Linear<float>::make(keys[1], {.in = 8, .out = 3})};
}

TEST(Modules, AreTreesOfTheirParameters) {
  const Net n = net(0);
  EXPECT_EQ(names(n), (std::vector<std::string>{".conv.w", ".conv.b", ".norm.scale", ".norm.bias", ".head.w",
                                                ".head.b"}));
  EXPECT_EQ(n.conv.w.shape(), (Shape{3, 3, 2, 8}));
  EXPECT_EQ(n.head.w.shape(), (Shape{8, 3}));
  EXPECT_EQ(names(nn::Linear<float>::make(random::key(0), {.in = 2, .out = 3, .bias = false})).size(), 1u);
  const std::string path = testing::TempDir() + "nax_modules.safetensors";
  io::save_safetensors(path, n);
  Net other = net(1);
  EXPECT_EQ(io::load_safetensors(path, other).matched[0], "conv.w");
  EXPECT_EQ(other.head.w.to_vector(), n.head.w.to_vector());
  EXPECT_EQ(*other.dropout.rate, 0.25);
}

TEST(Modules, EqualTheirFunctions) {
  const auto key = random::key(3);
  const F x = random::normal(key, {4, 6, 6, 2});
  const Net n = net(0);
  expect_near(n.conv(x), nn::conv(x, n.conv.w, {.strides = {2, 2}}) + *n.conv.b);
  EXPECT_EQ(n.conv(x).shape(), (Shape{4, 3, 3, 8}));
  const F rows = random::normal(key, {5, 8});
  expect_near(n.head(rows), nn::linear(rows, n.head.w, *n.head.b));
  expect_near(nn::LayerNorm<float>::make({.features = 8})(rows), nn::standardize(rows));
  expect_near(nn::RMSNorm<float>::make({.features = 8, .epsilon = 0.5})(rows),
              nn::rms_norm(rows, ones({8}), {.epsilon = 0.5}));
  expect_near(nn::GroupNorm<float>::make({.features = 8, .groups = 2})(rows),
              nn::group_norm(rows, ones({8}), zeros({8}), {.num_groups = 2, .epsilon = 1e-5}));
  const nn::Dropout half;
  expect_near(half(key, rows), nn::dropout(key, 0.5, rows));
  expect_near(half(rows), rows);
  expect_near(half(key, rows * 2.f + 1.f), nn::dropout(key, 0.5, F(rows * 2.f + 1.f)));
  expect_near(half(rows * 2.f + 1.f), F(rows * 2.f + 1.f));
  const auto table = nn::Embedding<float>::make(key, {.count = 10, .features = 4});
  const Array<int> at = {{1, 2}, {9, 0}};
  EXPECT_EQ(table(at).shape(), (Shape{2, 2, 4}));
  expect_near(table(at)(1, 0), table.table(9));
  EXPECT_EQ(table.attend(table(at)).shape(), (Shape{2, 2, 10}));
  EXPECT_NE(text_of<ValueError>([&] {
              nn::Conv<float>::make(key,
                                    {.in = 3, .out = 4, .kernel = {1}, .conv = {.feature_group_count = 2}});
            }).find("2 groups must divide 3 and 4 channels"),
            std::string::npos);
}

TEST(Modules, BatchNormTakesItsStateAndGivesTheNext) {
  const F x = random::normal(random::key(3), {64, 3}) * 2.f + 5.f;
  const auto norm = nn::BatchNorm<float>::make(3);
  EXPECT_EQ(names(norm).size(), 2u);
  auto stats = norm.stats();
  F y;
  for (int i = 0; i < 200; ++i) std::tie(y, stats) = norm(x, stats, {.momentum = 0.9});
  expect_near(mean(y, {.axis = 0}), zeros({3}));
  expect_near(stats.mean, mean(x, {.axis = 0}), 1e-4f);
  expect_near(norm(x, stats, {.use_running_average = true}).first, y, 1e-3f);
}

TEST(Modules, RecurrentLayersStepThroughTheFirstAxis) {
  const auto key = random::key(5);
  const F x = random::normal(key, {4, 2, 3});
  const auto lstm = nn::LSTM<float>::make(key, {.in = 3, .units = 5});
  const auto [state, outputs] = lstm(lstm.state({2}), x);
  auto want = lstm.state({2});
  F last;
  for (int t = 0; t < 4; ++t) std::tie(want, last) = nn::lstm_cell(lstm.cell, want, F(x(t)));
  EXPECT_EQ(outputs.shape(), (Shape{4, 2, 5}));
  expect_near(outputs(3), last);
  expect_near(state.c, want.c);
  const auto gru = nn::GRU<float>::make(key, {.in = 3, .units = 5});
  F h = gru.state({2});
  for (int t = 0; t < 4; ++t) h = nn::gru_cell(gru.cell, h, F(x(t))).first;
  expect_near(gru(gru.state({2}), x).first, h);
}

TEST(Modules, AttentionSharesHeadsOfKeys) {
  const auto key = random::key(5);
  const F x = random::normal(key, {2, 6, 8});
  const auto heads =
      nn::MultiHeadAttention<float>::make(key, {.features = 8, .heads = 4, .key_value_heads = 2});
  EXPECT_EQ(heads.params.query.shape(), (Shape{8, 4, 2}));
  EXPECT_EQ(heads.params.key.shape(), (Shape{8, 2, 2}));
  const F y = heads(x, {.is_causal = true});
  EXPECT_EQ(y.shape(), x.shape());
  // Later elements change nothing.
  expect_near(heads(F(x(_, slice(0, 3))), {.is_causal = true}), y(_, slice(0, 3)));
  expect_near(heads.attend(x, x), heads(x));
  EXPECT_NE(text_of<ValueError>([&] {
              nn::MultiHeadAttention<float>::make(key, {.features = 8, .heads = 3});
            }).find("3 heads must divide 8 features"),
            std::string::npos);
}

TEST(Modules, TrainUnderGradAndGivePerExampleGradients) {
  const auto key = random::key(7);
  const F x = random::normal(key, {6, 6, 6, 2});
  const Array<int> labels = {0, 1, 2, 0, 1, 2};
  Net n = net(2);
  const auto loss = [&](const Net& m, const F& images, const Array<int>& classes) -> F {
    return mean(nn::softmax_cross_entropy_with_integer_labels(m(key, images), classes));
  };
  const auto adam = optim::adam(0.02);
  auto state = adam.init(n);
  const float first = loss(n, x, labels).item();
  for (int step = 0; step < 30; ++step) {
    const auto grads = grad(loss)(n, x, labels);
    const auto [updates, next] = adam.update(grads, state, n);
    n = optim::apply_updates(n, updates);
    state = next;
  }
  EXPECT_LT(loss(n, x, labels).item(), 0.7f * first);

  const auto model = nn::sequential(
      nn::Linear<float>::make(key, {.in = 4, .out = 8}), [](const F& h) { return nn::relu(h); },
      nn::Linear<float>::make(key, {.in = 8, .out = 1}));
  const auto square_loss = [](const auto& m, const F& row) -> F { return sum(square(m(row))); };
  const F rows = random::normal(key, {5, 4});
  const auto each = vmap(grad(square_loss), {.in_axes = {none, 0}})(model, rows);
  for (int i = 0; i < 5; ++i) {
    const auto one = grad(square_loss)(model, F(rows(i)));
    expect_near(std::get<0>(each.layers).w(i), std::get<0>(one.layers).w);
    expect_near((*std::get<2>(each.layers).b)(i), *std::get<2>(one.layers).b);
  }
  EXPECT_EQ(names(model),
            (std::vector<std::string>{".layers[0].w", ".layers[0].b", ".layers[2].w", ".layers[2].b"}));
}

}  // namespace modules_test
