#include <gtest/gtest.h>

#include <nax/nax.hpp>

// Layers with PyTorch's gelu.
namespace torch_settings_test {
using namespace nax;
using F = Array<float>;

void expect_near(const F& a, const F& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_LT(max(abs(a - b)).item(), 2e-6f) << a << b;
}

TEST(Linear, AppliesEveryActivation) {
  const F x = random::normal(random::key(1), {3, 4}), w = random::normal(random::key(2), {4, 5}),
          b = random::normal(random::key(3), {5});
  const F z = nn::linear(x, w, b);
  using nn::Activation;
  expect_near(nn::linear(x, w, b, Activation::identity), z);
  expect_near(nn::linear(x, w, b, Activation::relu), nn::relu(z));
  expect_near(nn::linear(x, w, b, Activation::gelu), nn::gelu(z));
  expect_near(nn::linear(x, w, b, Activation::gelu_tanh), nn::gelu(z));
  expect_near(nn::linear(x, w, b, Activation::gelu_exact), nn::gelu(z, {.approximate = false}));
  EXPECT_GT(F(max(abs(nn::gelu(z) - nn::gelu(z, {.approximate = false})))).item(), 1e-5f);
  const auto slope = [&](Activation activation) {
    return jit(grad([=](const F& x) { return F(sum(nn::linear(x, w, b, activation))); }))(x);
  };
  const F want =
      grad([&](const F& x) { return F(sum(nn::gelu(F(nn::linear(x, w, b)), {.approximate = false}))); })(x);
  expect_near(slope(Activation::gelu_exact), want);
}

// Parameters cos(0), cos(1), ... in PyTorch's layouts, as PyTorch tests its own layers.
F cosines(const Shape& shape) {
  std::int64_t n = 1;
  for (const auto extent : shape) n *= extent;
  return F(cos(arange<float>(static_cast<float>(n)))).reshape(shape);
}

TEST(Transformer, GivesPyTorchsNumbersWithGelu) {
  const F w = cosines({12, 4}), b = cosines({12});
  const auto part = [&](int i) { return F(w(slice(4 * i, 4 * i + 4)).T()).reshape({4, 2, 2}); };
  const auto bias = [&](int i) { return F(b(slice(4 * i, 4 * i + 4))).reshape({2, 2}); };
  const nn::MultiHeadParams<float> heads{part(0), part(1), part(2), F(cosines({4, 4}).T()).reshape({2, 2, 4}),
                                         bias(0), bias(1), bias(2), cosines({4})};
  const nn::LayerNorm<float> norm{cosines({4}), cosines({4}), 1e-5};
  const nn::Linear<float> wide{F(cosines({16, 4}).T()), cosines({16})},
      narrow{F(cosines({4, 16}).T()), cosines({4})};
  nn::TransformerEncoderLayer<float> layer{{heads}, norm, norm, wide, narrow};
  layer.settings = detail::TransformerSettings{.activation = nn::Activation::gelu_exact};
  expect_near(layer(F{{{20, 30, 40, 50}}}), F{{{2.2498150f, 0.1310062f, -0.7021989f, 0.1778680f}}});
  expect_near(layer(F{{{.1f, -.2f, .3f, .1f}, {.5f, .4f, -.3f, .2f}}}),
              F{{{2.4184482f, 0.0376599f, -0.6093363f, -0.0471398f},
                 {2.4260759f, 0.0394475f, -0.6039673f, -0.0490858f}}});
}

}  // namespace torch_settings_test
