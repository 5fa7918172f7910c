// Modules and initializers of each floating type.

#include <gtest/gtest.h>

#include <functional>

#include "nax/nax.hpp"

namespace half_modules_test {
using namespace nax;

const random::Key key = random::key(3);

template <class T>
void check(const std::string& what, const std::function<Array<T>(const Array<T>&)>& f, const Shape& shape) {
  const Array<T> x = random::normal(random::key(1), shape).template astype<T>();
  const Array<double> y = f(x).template astype<double>();
  for (const double v : y.to_vector()) ASSERT_TRUE(std::isfinite(v)) << what;
  EXPECT_GT(max(abs(y)).item(), 1e-3) << what;
}

template <class T>
void check_modules() {
  const auto apply = [](const auto& layer) { return [=](const Array<T>& x) { return Array<T>(layer(x)); }; };
  check<T>("Linear", apply(nn::Linear<T>::make(key, {.in = 4, .out = 5})), {3, 4});
  check<T>("Conv", apply(nn::Conv<T>::make(key, {.in = 4, .out = 5, .kernel = {3, 3}})), {2, 6, 6, 4});
  check<T>("ConvTranspose", apply(nn::ConvTranspose<T>::make(key, {.in = 4, .out = 5, .kernel = {2, 2}})),
           {2, 6, 6, 4});
  check<T>("PReLU", apply(nn::PReLU<T>::make()), {3, 4});
  check<T>("LayerNorm", apply(nn::LayerNorm<T>::make({.features = 8})), {3, 8});
  check<T>("RMSNorm", apply(nn::RMSNorm<T>::make({.features = 8})), {3, 8});
  check<T>("GroupNorm", apply(nn::GroupNorm<T>::make({.features = 8, .groups = 2})), {2, 3, 8});
  check<T>("InstanceNorm", apply(nn::InstanceNorm<T>::make({.features = 8})), {2, 3, 8});
  check<T>("MultiHeadAttention", apply(nn::MultiHeadAttention<T>::make(key, {.features = 8, .heads = 2})),
           {2, 5, 8});
  const nn::TransformerOptions wide{.features = 8, .heads = 2, .hidden = 16};
  check<T>("TransformerEncoderLayer", apply(nn::TransformerEncoderLayer<T>::make(key, wide)), {2, 5, 8});
  const auto decoder = nn::TransformerDecoderLayer<T>::make(key, wide);
  check<T>("TransformerDecoderLayer", [&](const Array<T>& x) { return decoder(x, x); }, {2, 5, 8});
  const auto last = [](const auto& layer) {
    return [=](const Array<T>& x) { return Array<T>(layer(layer.state({2}), x).second); };
  };
  const nn::RecurrentOptions steps{.in = 4, .units = 5};
  check<T>("RNN", last(nn::RNN<T>::make(key, steps)), {6, 2, 4});
  check<T>("LSTM", last(nn::LSTM<T>::make(key, steps)), {6, 2, 4});
  check<T>("GRU", last(nn::GRU<T>::make(key, steps)), {6, 2, 4});
  const auto table = nn::Embedding<T>::make(key, {.count = 7, .features = 4});
  EXPECT_EQ(table(Array<int>{1, 2}).shape(), (Shape{2, 4}));
  const auto bags = nn::EmbeddingBag<T>::make(key, {.count = 7, .features = 4});
  EXPECT_EQ(bags.table.shape(), (Shape{7, 4}));
  const auto linear = nn::Linear<T>::make(key, {.in = 4, .out = 5});
  check<T>("WeightNorm", apply(nn::WeightNorm<nn::Linear<T>>::make(linear)), {3, 4});
  check<T>("LoRA", apply(nn::LoRA<T>::make(key, linear, {.rank = 2})), {3, 4});
  const auto norm = nn::BatchNorm<T>::make(4);
  check<T>("BatchNorm", [&](const Array<T>& x) { return norm(x, norm.stats()).first; }, {6, 4});
}

template <class T>
void check_initializers() {
  const auto near = [](const Array<T>& draws, double deviation) {
    EXPECT_NEAR(nax::std(draws.template astype<double>()).item(), deviation, 0.1 * deviation);
  };
  const Shape shape = {64, 32};
  near(nn::initializers::glorot_uniform<T>(key, shape), std::sqrt(2. / 96));
  near(nn::initializers::glorot_normal<T>(key, shape), std::sqrt(2. / 96));
  near(nn::initializers::he_uniform<T>(key, shape), std::sqrt(2. / 64));
  near(nn::initializers::he_normal<T>(key, shape), std::sqrt(2. / 64));
  near(nn::initializers::lecun_uniform<T>(key, shape), std::sqrt(1. / 64));
  near(nn::initializers::lecun_normal<T>(key, shape), std::sqrt(1. / 64));
  near(nn::initializers::variance_scaling<T>(key, shape, 1, nn::initializers::Mode::fan_in,
                                             nn::initializers::Distribution::normal),
       std::sqrt(1. / 64));
  near(nn::initializers::normal<T>(key, shape), .01);
  near(nn::initializers::truncated_normal<T>(key, shape), .0088);
  near(nn::initializers::uniform<T>(key, shape), .01 / std::sqrt(12.));
  near(nn::initializers::orthogonal<T>(key, shape), std::sqrt(1. / 64));
}

TEST(Modules, AreMadeOfEachFloatingType) {
  check_modules<half>();
  check_modules<bfloat16>();
  check_modules<float>();
  check_modules<double>();
}
TEST(Initializers, DrawEachFloatingType) {
  check_initializers<half>();
  check_initializers<bfloat16>();
  check_initializers<float>();
  check_initializers<double>();
}

}  // namespace half_modules_test
