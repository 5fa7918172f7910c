// Mixed precision: casts of trees, loss scales, and training in bfloat16 and half beside float.

#include <gtest/gtest.h>

#include "nax/nax.hpp"
#include "support/refusal.hpp"

namespace policy_test {
using namespace nax;
using F = Array<float>;

// A user's own module, a template of its element type.
template <class T = float>
struct Net {
  nn::Linear<T> first, second;
  std::vector<Array<T>> gains;
  Array<int> steps;
  float slope;

  Array<T> operator()(const Array<T>& x) const { return second(tanh(first(x)) * gains[0]); }
};
Net<> make() {
  const auto keys = random::split(random::key(0));
  return {nn::Linear<>::make(keys[0], {.in = 8, .out = 32}),
          nn::Linear<>::make(keys[1], {.in = 32, .out = 1}),
          {ones<float>({32})},
          Array<int>{3},
          0.5f};
}

TEST(Policy, CastsFloatingArrays) {
  const nn::Policy<bfloat16> policy;
  const Net<bfloat16> low = policy.cast_to_compute(make());
  EXPECT_EQ(low.first.w.dtype(), DType::bfloat16);
  EXPECT_EQ(low.gains[0].dtype(), DType::bfloat16);
  EXPECT_EQ(low.steps.to_vector(), std::vector<int>{3});
  EXPECT_EQ(low.slope, 0.5f);
  const Net<> back = policy.cast_to_params(low);
  EXPECT_EQ(back.first.w.to_vector(), low.first.w.astype<float>().to_vector());
  const auto parts = policy.cast_to_compute(std::tuple{F{1.f}, std::optional<F>(), Array<int>{2}, 0.25});
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(parts)>,
                     std::tuple<Array<bfloat16>, std::optional<Array<bfloat16>>, Array<int>, double>>);
  EXPECT_EQ(policy.cast_to_output(std::get<0>(parts)).dtype(), DType::float32);
}

// A user's own module with a size and settings.
template <class T, int width>
struct Sized {
  Array<T> w;
  tree::Static<double> rate = 0.25;
  tree::Static<std::string> name = "sized";
};

// Casts a module of floats to bfloat16, and runs both.
template <class Low, class Module, class... X>
void check_module(const Module& module, const X&... x) {
  const nn::Policy<bfloat16> policy;
  const auto low = policy.cast_to_compute(module);
  static_assert(std::is_same_v<decltype(low), const Low>);
  static_assert(std::is_same_v<decltype(policy.cast_to_params(low)), Module>);
  const auto got = policy.cast_to_output(low(policy.cast_to_compute(x)...));
  const auto want = module(x...);
  tree::for_each(
      [](const auto& a, const auto& b) {
        EXPECT_EQ(a.shape(), b.shape());
        EXPECT_LT(max(abs(a - b)).item(), 0.06f);
      },
      got, want);
}

TEST(Policy, CastsEveryModule) {
  using B = bfloat16;
  const auto key = random::key(0);
  const F x = random::normal<float>(random::key(1), {2, 5, 8});
  const auto image = x.reshape({2, 5, 4, 2});
  check_module<nn::Linear<B>>(nn::Linear<>::make(key, {.in = 8, .out = 3}), x);
  check_module<nn::Conv<B>>(nn::Conv<>::make(key, {.in = 2, .out = 3, .kernel = {3, 3}}), F(image));
  check_module<nn::LayerNorm<B>>(nn::LayerNorm<>::make({.features = 8, .epsilon = 1e-3}), x);
  check_module<nn::RMSNorm<B>>(nn::RMSNorm<>::make({.features = 8}), x);
  check_module<nn::GroupNorm<B>>(nn::GroupNorm<>::make({.features = 8, .groups = 2}), x);
  check_module<nn::BatchNorm<B>>(nn::BatchNorm<>::make(8), x, nn::BatchNorm<>::make(8).stats());
  check_module<nn::Dropout>(nn::Dropout{0.25}, x);
  check_module<nn::Embedding<B>>(nn::Embedding<>::make(key, {.count = 4, .features = 8}), Array<int>{2, 0});
  const auto lstm = nn::LSTM<>::make(key, {.in = 8, .units = 4});
  check_module<nn::LSTM<B>>(lstm, lstm.state({5}), x);
  const auto gru = nn::GRU<>::make(key, {.in = 8, .units = 4});
  check_module<nn::GRU<B>>(gru, gru.state({5}), x);
  check_module<nn::MultiHeadAttention<B>>(nn::MultiHeadAttention<>::make(key, {.features = 8, .heads = 2}),
                                          x);
  const auto f = [](const auto& y) { return tanh(y); };
  using Function = tree::Static<std::remove_const_t<decltype(f)>>;
  check_module<nn::Sequential<nn::LayerNorm<B>, Function, nn::Dropout>>(
      nn::sequential(nn::LayerNorm<>::make({.features = 8}), f, nn::Dropout{0.5}), x);
  const auto low = nn::Policy<bfloat16>().cast_to_compute(Sized<float, 3>{x});
  static_assert(std::is_same_v<decltype(low), const Sized<bfloat16, 3>>);
  EXPECT_EQ(*low.rate, 0.25);
  EXPECT_EQ(*low.name, "sized");
}

// Losses of 60 steps with float32 masters.
template <class Compute>
std::vector<float> losses() {
  const nn::Policy<Compute> policy;
  const F x = random::normal<float>(random::key(1), {64, 8});
  const F y = sin(sum(x, {.axis = 1, .keepdims = true}));
  Net<> net = make();
  auto scale = optim::dynamic_loss_scale({.initial = 1024, .period = 20});
  const auto opt = optim::adam(1e-2);
  auto state = opt.init(net);
  std::vector<float> all;
  for (int step = 0; step < 60; ++step) {
    const auto loss = [&](const Net<>& masters) {
      const auto out = policy.cast_to_compute(masters)(policy.cast_to_compute(x));
      const F error = mean(square(policy.cast_to_output(out) - y));
      return std::pair{F(scale.scale(error)), error};
    };
    const auto [value, scaled] = value_and_grad(loss)(net);
    const auto grads = scale.unscale(scaled);
    all.push_back(value.second.item());
    const Array<bool> finite = optim::all_finite(grads);
    const auto [updates, next] = opt.update(grads, state, net);
    state = optim::select_tree(finite, next, state);
    net = optim::select_tree(finite, optim::apply_updates(net, updates), net);
    scale = scale.adjust(finite);
  }
  return all;
}

TEST(Policy, HalfPrecisionFollowsTheLossOfFloat) {
  const auto want = losses<float>(), bf = losses<bfloat16>(), fp = losses<half>();
  EXPECT_LT(want.back(), want.front() / 5);
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(bf[i], want[i], 1e-2) << i;
    EXPECT_NEAR(fp[i], want[i], 1e-2) << i;
  }
}

TEST(LossScale, HalvesAtInfinityAndDoublesAfterGoodSteps) {
  auto scale = optim::dynamic_loss_scale({.initial = 8, .period = 3, .least = 2});
  const auto after = [&](std::vector<float> gradient) {
    scale = scale.adjust(optim::all_finite(std::tuple{array(gradient), Array<int>{1}}));
    return scale.loss_scale.item();
  };
  EXPECT_EQ(after({1, 2}), 8);
  EXPECT_EQ(after({1, 2}), 8);
  EXPECT_EQ(after({1, 2}), 16);
  EXPECT_EQ(after({1, 2}), 16);
  EXPECT_EQ(after({1, INFINITY}), 8);  // and counts again
  EXPECT_EQ(after({1, 2}), 8);
  EXPECT_EQ(after({1, 2}), 8);
  EXPECT_EQ(after({1, 2}), 16);
  EXPECT_EQ(after({NAN, 2}), 8);
  EXPECT_EQ(after({NAN, 2}), 4);
  EXPECT_EQ(after({NAN, 2}), 2);
  EXPECT_EQ(after({NAN, 2}), 2);
}

TEST(LossScale, ScalesAndUnscales) {
  const optim::StaticLossScale scale{256.f};
  const auto tree = std::tuple{F{1, 2}, Array<half>{half(0.5f)}, Array<int>{7}};
  const auto [a, b, c] = scale.scale(tree);
  EXPECT_EQ(a.to_vector(), (std::vector<float>{256, 512}));
  EXPECT_EQ(static_cast<float>(b.item()), 128.f);
  EXPECT_EQ(c.item(), 7);
  EXPECT_EQ(std::get<0>(scale.unscale(std::tuple{a, b, c})).to_vector(), (std::vector<float>{1, 2}));
  // A gradient below half's smallest number survives.
  const auto loss = [](const F& x) { return F((x.astype<half>() * half(1e-4f)).astype<float>() * 1e-6f); };
  const optim::StaticLossScale large{65536.f};
  const F kept = grad([&](const F& x) { return F(large.scale(loss(x))); })(F(1.f));
  EXPECT_EQ(grad(loss)(F(1.f)).item(), 0.f);
  EXPECT_NEAR(large.unscale(kept).item(), 1e-10f, 1e-12f);
  EXPECT_NE(refusal<ValueError>([] { optim::dynamic_loss_scale({.period = 0}); }).find("period"),
            std::string::npos);
}

}  // namespace policy_test
