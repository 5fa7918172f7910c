#include <gtest/gtest.h>

#include <cmath>

#include "nax/nn/embedding.hpp"
#include "nax/nn/modules.hpp"
#include "nax/nn/policy.hpp"
#include "nax/nn/positions.hpp"
#include "nax/nn/resampling.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/manipulation/tiling.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/random.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/vjp.hpp"
#include "nax/transform/vmap.hpp"
#include "support/text_of.hpp"

namespace more_modules_test {
using namespace nax;
using F = Array<float>;
using D = Array<double>;

template <class T>
void expect_near(const Array<T>& got, const Array<T>& want, double tolerance = 1e-5) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = got.to_vector(), b = want.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}
template <class E, class Call>
void expect_text(const Call& call, const std::string& part) {
  EXPECT_NE(text_of<E>(call).find(part), std::string::npos) << text_of<E>(call);
}
D normal(int key, const Shape& shape) { return random::normal<double>(random::key(key), shape); }

TEST(ConvTranspose, IsTheTransposeOfConv) {
  struct Case {
    Shape in, kernel, strides, padding, dilation;
  };
  for (const Case& c : {Case{{9}, {3}, {2}, {1}, {1}}, Case{{8}, {4}, {3}, {0}, {1}},
                        Case{{7, 8}, {3, 2}, {2, 1}, {1, 0}, {1, 2}}}) {
    SCOPED_TRACE(to_string(c.in));
    Shape in{2}, kernel = c.kernel;
    for (const auto n : c.in) in.push_back(n);
    in.push_back(3), kernel.push_back(3), kernel.push_back(5);
    const D w = normal(1, kernel);
    std::vector<lax::Padding::Pair> pads;
    for (const auto p : c.padding) pads.push_back({p, p});
    const auto forward = [&](const D& x) -> D {
      return nn::conv(x, w, {.strides = c.strides, .padding = pads, .kernel_dilation = c.dilation});
    };
    const D x = normal(2, in);
    const auto [y, pull] = vjp(forward, x);
    const D g = normal(3, y.shape());
    Shape left;  // what output_padding has to add
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      const std::int64_t k = (c.kernel[i] - 1) * c.dilation[i] + 1;
      left.push_back((c.in[i] + 2 * c.padding[i] - k) % c.strides[i]);
    }
    const lax::Padding padding =
        nn::transposed_padding(c.kernel, c.padding, {.output_padding = left, .kernel_dilation = c.dilation});
    const nn::ConvTransposeOptions options{
        .strides = c.strides, .padding = padding, .kernel_dilation = c.dilation, .transpose_kernel = true};
    expect_near(D(nn::conv_transpose(g, w, options)), std::get<0>(pull(g)), 1e-12);
  }
  expect_text<ValueError>([] { nn::transposed_padding({3, 3}, {1}); }, "differ in length");
  const auto made = nn::ConvTranspose<float>::make(
      random::key(0), {.in = 3,
                       .out = 4,
                       .kernel = {4, 4},
                       .conv = {.strides = {2, 2}, .padding = nn::transposed_padding({4, 4}, {1, 1})}});
  EXPECT_EQ(made(ones({2, 5, 6, 3})).shape(), (Shape{2, 10, 12, 4}));
  EXPECT_EQ(made.w.shape(), (Shape{4, 4, 3, 4}));
}

TEST(InstanceNorm, IsGroupNormWithAGroupForEachChannel) {
  const F x = random::normal(random::key(1), {2, 4, 3, 6});
  const auto norm = nn::InstanceNorm<float>::make({.features = 6});
  expect_near(norm(x), nn::group_norm(x, norm.scale, norm.bias, {.num_groups = 6, .epsilon = 1e-5}));
  expect_text<ShapeError>([&] { norm(ones({2, 6})); }, "instance_norm: x must be (N, ..., C), shape (2, 6)");
}

TEST(PReLU, LearnsItsSlopes) {
  const F x = {{-2, 3}, {0, -1}};
  const auto one = nn::PReLU<float>::make();
  expect_near(one(x), F{{-0.5, 3}, {0, -0.25}});
  const nn::PReLU<float> each{F{0.5, 2}};
  expect_near(each(x), F(nn::prelu(x, each.slope)));
  const auto g = grad([&](const nn::PReLU<float>& m) { return F(sum(m(x))); })(each);
  expect_near(g.slope, F{-2, -1});
}

TEST(Embedding, LeavesThePaddingsRow) {
  const auto table =
      nn::Embedding<float>::make(random::key(1), {.count = 5, .features = 2, .padding_idx = -1});
  EXPECT_EQ(table.table(4).to_vector(), (std::vector<float>{0, 0}));
  const Array<int> at = {0, 4, 4, 2, 2};
  const auto g = grad([&](const nn::Embedding<float>& m) { return F(sum(m(at))); })(table);
  EXPECT_EQ(F(g.table(_, 0)).to_vector(), (std::vector<float>{1, 0, 2, 0, 0}));
  expect_text<IndexError>([&] { nn::embedding(table.table, at, {.padding_idx = 5}); },
                          "padding_idx 5 is out of bounds for a table of 5 rows");
}

TEST(Embedding, KnowsThePaddingByAllItsNumbers) {
  const auto gradient = [](const auto& numbers, std::int64_t rows, std::int64_t padding) {
    const auto loss = [&](const F& t) { return F(sum(nn::embedding(t, numbers, {.padding_idx = padding}))); };
    return grad(loss)(zeros<float>({rows, 1}));
  };
  EXPECT_EQ(gradient(Array<std::uint8_t>{43, 1}, 300, 299)(43, 0).item(), 1);
  EXPECT_EQ(gradient(Array<int>{-1, 1, 2}, 3, -1).to_vector(), (std::vector<float>{0, 1, 0}));
  EXPECT_EQ(gradient(Array<int>{-3, 0, 1}, 3, 0).to_vector(), (std::vector<float>{0, 1, 0}));
}

TEST(EmbeddingBag, SumsMeansAndMaxima) {
  const D table = {{1, -1}, {2, 5}, {4, -3}, {8, 0}};
  const Array<int> bags = {{0, 2, 3}, {3, 3, 1}, {3, 3, 3}};
  const auto bag = [&](const char* mode, std::optional<std::int64_t> padding) {
    return nn::embedding_bag(table, bags, {.mode = mode, .padding_idx = padding});
  };
  expect_near(bag("sum", {}), D{{13, -4}, {18, 5}, {24, 0}});
  expect_near(bag("sum", 3), D{{5, -4}, {2, 5}, {0, 0}});
  expect_near(bag("mean", 3), D{{2.5, -2}, {2, 5}, {0, 0}});
  expect_near(bag("max", 3), D{{4, -1}, {2, 5}, {0, 0}});
  expect_near(bag("max", {}), D{{8, 0}, {8, 5}, {8, 0}});
  const D weights = {{1, 2, 3}, {0, 1, -1}, {1, 1, 1}};
  expect_near(nn::embedding_bag(table, bags, {.mode = "sum", .weights = weights}),
              D{{33, -7}, {6, -5}, {24, 0}});
  expect_near(grad([&](const D& t) { return D(sum(nn::embedding_bag(t, bags, {.mode = "max"}))); })(table),
              D{{0, 0}, {0, 1}, {0, 0}, {3, 2}});
  expect_near(vmap([&](const Array<int>& b) { return nn::embedding_bag(table, b); })(bags), bag("mean", {}));
  EXPECT_EQ(nn::embedding_bag(table, Array<int>(zeros<int>({2, 0})), {.mode = "max"}).shape(), (Shape{2, 2}));
  expect_text<ValueError>([&] { bag("median", {}); }, "not 'median'");
  expect_text<ValueError>([&] { nn::embedding_bag(table, bags, {.weights = weights}); },
                          "weights need the mode 'sum', not 'mean'");
  const auto module =
      nn::EmbeddingBag<float>::make(random::key(1), {.count = 4, .features = 2, .mode = "sum"});
  expect_near(module(bags), nn::embedding_bag(module.table, bags, {.mode = "sum"}));
}

TEST(AdaptivePooling, TakesPyTorchsWindows) {
  const D x = normal(1, {2, 7, 5, 3});
  const D avg = nn::adaptive_avg_pool(x, {3, 4}), most = nn::adaptive_max_pool(x, {3, 4});
  ASSERT_EQ(avg.shape(), (Shape{2, 3, 4, 3}));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      const D window = x(_, slice(i * 7 / 3, (i * 7 + 7 + 2) / 3), slice(j * 5 / 4, (j * 5 + 5 + 3) / 4));
      expect_near(D(avg(_, i, j)), D(mean(window, {.axis = {1, 2}})), 1e-6);
      expect_near(D(most(_, i, j)), D(max(window, {.axis = {1, 2}})), 0);
    }
  expect_near(nn::adaptive_avg_pool(x, {1, 1}), D(mean(x, {.axis = {1, 2}, .keepdims = true})), 1e-6);
  expect_near(nn::adaptive_max_pool(x, {14, 5}), D(repeat(x, 2, {.axis = 1})), 0);
  const D g = grad([](const D& a) { return D(sum(nn::adaptive_max_pool(a, {2, 2}))); })(x);
  EXPECT_NEAR(D(sum(g)).item(), 2 * 2 * 2 * 3, 1e-12);
  expect_text<ValueError>([&] { nn::adaptive_avg_pool(x, {0, 1}); }, "the size must be at least 1: (0, 1)");
  expect_text<ShapeError>([&] { nn::adaptive_max_pool(D(ones<double>({3})), {2}); },
                          "shape (3,) has no axes");
}

// An infinite element is in the windows that have it alone; of equal ones each takes its part of the
// gradient.
TEST(AdaptivePooling, ReadsItsWindowsAlone) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto line = [](const F& x) { return x.reshape({1, x.size(), 1}); };
  const F x = line(F{inf, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(nn::adaptive_avg_pool(x, {4}).to_vector(), (std::vector<float>{inf, 2.5f, 4.5f, 6.5f}));
  EXPECT_EQ(nn::adaptive_avg_pool(x, {3}).to_vector(), (std::vector<float>{inf, 3.5f, 6}));
  EXPECT_EQ(nn::adaptive_max_pool(x, {3}).to_vector(), (std::vector<float>{inf, 5, 7}));
  EXPECT_EQ(nn::adaptive_max_pool(Array<int>(line(F{4, -9, -7}).astype<int>()), {2}).to_vector(),
            (std::vector<int>{4, -7}));
  const F g = grad([](const F& a) {
    return F(sum(nn::adaptive_max_pool(a, {2}) * F{1, 10}.reshape({1, 2, 1})));
  })(line(F{0, 0, 0, 3, 3}));
  EXPECT_EQ(g.to_vector(), (std::vector<float>{1.f / 3, 1.f / 3, 1.f / 3, 5, 5}));
  const auto large = nn::adaptive_avg_pool(full<nax::half>({1, 9, 1}, nax::half(30'000)), {2});
  EXPECT_EQ(static_cast<float>(large(0, 0, 0).item()), 30'000);
  EXPECT_EQ(nn::upsample(line(F{inf, 1, 2, 3}), {2}, {.method = "linear"}).to_vector(),
            (std::vector<float>{inf, inf, inf, 1.25f, 1.75f, 2.25f, 2.75f, 3}));
}

TEST(Upsample, GivesPyTorchsNumbers) {
  const F x = F{{1, 2}, {3, 4}}.reshape({1, 2, 2, 1});
  const auto up = [&](const nn::UpsampleOptions& o) { return nn::upsample(x, {2, 2}, o).reshape({4, 4}); };
  expect_near(up({}), F{{1, 1, 2, 2}, {1, 1, 2, 2}, {3, 3, 4, 4}, {3, 3, 4, 4}});
  expect_near(up({.method = "linear"}),
              F{{1, 1.25, 1.75, 2}, {1.5, 1.75, 2.25, 2.5}, {2.5, 2.75, 3.25, 3.5}, {3, 3.25, 3.75, 4}});
  const float a = 1.f / 3;
  expect_near(
      up({.method = "linear", .align_corners = true}),
      F{{1, 1 + a, 2 - a, 2}, {2 - a, 2, 2 + a, 3 - a}, {2 + a, 3 - a, 3, 3 + a}, {3, 3 + a, 4 - a, 4}});
  expect_near(nn::upsample(F{{1}, {3}}.reshape({1, 2, 1}), {3}, {.method = "linear"}).reshape({6}),
              F{1, 1, 1 + 2 * a, 1 + 4 * a, 3, 3});
  const F g = grad([](const F& v) { return F(sum(nn::upsample(v, {2, 2}, {.method = "linear"}))); })(x);
  expect_near(g, F(ones({1, 2, 2, 1}) * 4.f));
  expect_text<ValueError>([&] { up({.method = "cubic"}); }, "not 'cubic'");
}

TEST(PixelShuffle, MovesChannelsToPixels) {
  const F x = arange<float>(16).reshape({1, 1, 2, 8});
  const F y = nn::pixel_shuffle(x, 2);
  ASSERT_EQ(y.shape(), (Shape{1, 2, 4, 2}));
  for (int c = 0; c < 2; ++c)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j) EXPECT_EQ(F(y(0, i, j, c)).item(), 8 * (j / 2) + 4 * c + 2 * i + j % 2);
  expect_near(nn::pixel_unshuffle(y, 2), x);
  expect_text<ShapeError>([&] { nn::pixel_shuffle(x, 3); }, "with r = 3, shape (1, 1, 2, 8)");
}

TEST(Positions, AreSinesRotationsAndSlopes) {
  const D p = nn::sinusoidal_positions<double>(3, 4);
  expect_near(D(p(2)), D{std::sin(2.), std::cos(2.), std::sin(0.02), std::cos(0.02)}, 1e-12);
  expect_near(D(nn::sinusoidal_positions<double>(3, 4, {.interleaved = false})(2)),
              D{std::sin(2.), std::sin(0.02), std::cos(2.), std::cos(0.02)}, 1e-12);
  expect_text<ValueError>([] { nn::sinusoidal_positions(2, 3); }, "must be even, got 3");

  const D x = normal(1, {2, 5, 3, 4});
  const D turned = nn::apply_rope(x), pairs = nn::apply_rope(x, {.interleaved = true});
  for (int t = 0; t < 5; ++t) {
    const double c0 = std::cos(t), s0 = std::sin(t), c1 = std::cos(t * 0.01), s1 = std::sin(t * 0.01);
    const auto at = [&](const D& a, int i) { return D(a(0, t, 1, i)).item(); };
    EXPECT_NEAR(at(turned, 0), at(x, 0) * c0 - at(x, 2) * s0, 1e-12);
    EXPECT_NEAR(at(turned, 2), at(x, 2) * c0 + at(x, 0) * s0, 1e-12);
    EXPECT_NEAR(at(turned, 3), at(x, 3) * c1 + at(x, 1) * s1, 1e-12);
    EXPECT_NEAR(at(pairs, 0), at(x, 0) * c0 - at(x, 1) * s0, 1e-12);
    EXPECT_NEAR(at(pairs, 3), at(x, 3) * c1 + at(x, 2) * s1, 1e-12);
  }
  // Later positions, one by one or given by the batch.
  const D later = nn::apply_rope(D(x(_, slice(2, 5))), {.positions = Array<int>{2, 3, 4}});
  expect_near(later, D(turned(_, slice(2, 5))), 1e-12);
  const Array<int> each = {{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}};
  expect_near(nn::apply_rope(x, {.positions = each}), turned, 1e-12);
  expect_near(vmap([](const D& a) { return nn::apply_rope(a); })(x), turned, 1e-12);
  // Products depend on distances alone, and turning back is the transpose.
  const D first = nn::apply_rope(x, {.positions = Array<int>{7, 7, 7, 7, 7}}),
          second = nn::apply_rope(x, {.positions = Array<int>{9, 9, 9, 9, 9}});
  const D near = nn::apply_rope(x, {.positions = Array<int>{2, 2, 2, 2, 2}});
  expect_near(D(sum(first * second, {.axis = -1})), D(sum(x * near, {.axis = -1})), 1e-12);
  const D g = grad([&](const D& a) { return D(sum(square(nn::apply_rope(a)))); })(x);
  expect_near(g, D(x * 2.0), 1e-12);
  const D part = nn::apply_rope(x, {.features = 2});
  expect_near(D(part(ellipsis, slice(2, 4))), D(x(ellipsis, slice(2, 4))), 0);
  expect_text<ValueError>([&] { nn::apply_rope(x, {.features = 6}); }, "6 features of 4");

  expect_near(nn::alibi_slopes<double>(4), D{0.25, 0.0625, 1. / 64, 1. / 256});
  expect_near(nn::alibi_slopes<double>(6),
              D{0.25, 0.0625, 1. / 64, 1. / 256, 0.5, 0.125});  // every other one of 8
  const D bias = nn::alibi_bias<double>(2, 2, 3);
  expect_near(bias, D(D{{{-1, 0, -1}, {-2, -1, 0}}, {{-1, 0, -1}, {-2, -1, 0}}} *
                      nn::alibi_slopes<double>(2).reshape({2, 1, 1}))
                        .reshape({1, 2, 2, 3}));
}

TEST(Positions, CountInIntegers) {
  const auto bias = nn::alibi_bias<bfloat16>(1, 1, 1024);
  const auto last = F(bias.astype<float>())(0, 0, 0, slice(1018, none)).to_vector();
  const float slope = 1.f / 256;
  EXPECT_EQ(last, (std::vector<float>{-5 * slope, -4 * slope, -3 * slope, -2 * slope, -slope, 0}));
  expect_text<ValueError>([&] { nn::sinusoidal_positions(-1, 4); },
                          "the length must not be negative, got -1");
}

TEST(Recurrent, RunsBothWaysAndInLayers) {
  const auto key = random::key(5);
  const F x = random::normal(key, {4, 2, 3});
  const auto rnn = nn::RNN<float>::make(key, {.in = 3, .units = 5});
  F h = rnn.state({2});
  for (int t = 0; t < 4; ++t)
    h = tanh(matmul(F(x(t)), rnn.cell.input) + matmul(h, rnn.cell.recurrent) + *rnn.cell.bias);
  expect_near(rnn(rnn.state({2}), x).first, h);
  expect_near(rnn(rnn.state({2}), F(x(slice(0, 1)))).first,
              nn::rnn_cell(nn::rnn_params(key, 3, 5), rnn.state({2}), F(x(0))).first);

  using Both = nn::Bidirectional<nn::LSTM<float>>;
  const auto both = Both::make(key, {.in = 3, .units = 5});
  const auto [last, y] = both(both.state({2}), x);
  ASSERT_EQ(y.shape(), (Shape{4, 2, 10}));
  expect_near(F(y(_, _, slice(0, 5))), both.forward(both.forward.state({2}), x).second);
  expect_near(F(y(0, _, slice(5, 10))), last.second.h);

  const auto deep = nn::Stacked<Both>::make(key, {.in = 3, .units = 5, .layers = 3});
  EXPECT_EQ(deep.layers[2].forward.cell.input.shape(), (Shape{10, 20}));
  const auto [states, z] = deep(deep.state({2}), x);
  EXPECT_EQ(states.size(), 3u);
  F by_hand = x;
  for (const Both& layer : deep.layers) by_hand = layer(layer.state({2}), by_hand).second;
  expect_near(z, by_hand);
  expect_near(deep(key, 0.0, deep.state({2}), x).second, z);
  EXPECT_GT(F(max(abs(deep(key, 0.5, deep.state({2}), x).second - z))).item(), 1e-3);
  const auto g = grad([&](const auto& m) { return F(sum(square(m(m.state({2}), x).second))); })(deep);
  EXPECT_GT(F(sum(abs(g.layers[0].backward.cell.input))).item(), 0);
  expect_text<ValueError>([&] { deep(std::vector{deep.layers[0].state({2})}, x); }, "1 states for 3 layers");
}

// Parameters cos(0), cos(1), ... in PyTorch's layouts, as PyTorch tests its own layers.
F cosines(const Shape& shape) {
  std::int64_t n = 1;
  for (const auto extent : shape) n *= extent;
  return F(cos(arange<float>(static_cast<float>(n)))).reshape(shape);
}
nn::MultiHeadParams<float> cosine_heads() {
  const F w = cosines({12, 4}), b = cosines({12});
  const auto part = [&](int i) { return F(w(slice(4 * i, 4 * i + 4)).T()).reshape({4, 2, 2}); };
  const auto bias = [&](int i) { return F(b(slice(4 * i, 4 * i + 4))).reshape({2, 2}); };
  return {part(0), part(1), part(2), F(cosines({4, 4}).T()).reshape({2, 2, 4}),
          bias(0), bias(1), bias(2), cosines({4})};
}
nn::LayerNorm<float> cosine_norm() { return {cosines({4}), cosines({4}), 1e-5}; }

TEST(Transformer, GivesPyTorchsNumbers) {
  using Encoder = nn::TransformerEncoderLayer<float>;
  const nn::Linear<float> wide{F(cosines({16, 4}).T()), cosines({16})},
      narrow{F(cosines({4, 16}).T()), cosines({4})};
  const Encoder layer{{cosine_heads()}, cosine_norm(), cosine_norm(), wide, narrow};
  expect_near(layer(F{{{20, 30, 40, 50}}}), F{{{2.258703f, 0.127985f, -0.697881f, 0.170862f}}});
  expect_near(layer(F{{{1, 2, 3, 4}, {5, 6, 7, 8}}}), F{{{2.272644f, 0.119035f, -0.691669f, 0.153486f},
                                                         {2.272644f, 0.119035f, -0.691669f, 0.153486f}}});
  const nn::TransformerDecoderLayer<float> decoder{
      {cosine_heads()}, {cosine_heads()}, cosine_norm(), cosine_norm(), cosine_norm(), wide, narrow};
  expect_near(decoder(F{{{20, 30, 40, 50}}}, F{{{60, 70, 80, 90}}}),
              F{{{2.314351f, 0.094805f, -0.671322f, 0.101977f}}});
}

TEST(Transformer, HasNormsBeforeDropoutAndACache) {
  const auto key = random::key(4);
  const F x = random::normal(key, {2, 5, 8});
  const auto layer = nn::TransformerEncoderLayer<float>::make(
      key, {.features = 8, .heads = 2, .activation = nn::Activation::gelu, .pre_norm = true, .dropout = 0.5});
  EXPECT_EQ(layer.wide.w.shape(), (Shape{8, 32}));
  const F a = x + layer.attention(layer.attention_norm(x), {.is_causal = true});
  const F want = a + layer.narrow(F(nn::gelu(layer.wide(layer.hidden_norm(a)))));
  expect_near(layer(x, {.is_causal = true}), want);
  EXPECT_GT(F(max(abs(layer(key, x, {.is_causal = true}) - want))).item(), 1e-2);
  auto cache = layer.cache(6, 2);
  F y;
  std::tie(cache, y) = layer(std::move(cache), F(x(_, slice(0, 3))));
  expect_near(y, F(want(_, slice(0, 3))));
  std::tie(cache, y) = layer(std::move(cache), F(x(_, slice(3, 5))));
  expect_near(y, F(want(_, slice(3, 5))));

  const auto decoder =
      nn::TransformerDecoderLayer<float>::make(key, {.features = 8, .heads = 2, .pre_norm = true});
  const F memory = random::normal(random::key(9), {2, 3, 8});
  const F z = decoder(x, memory);
  // Later elements change nothing, the memory does.
  expect_near(decoder(F(x(_, slice(0, 3))), memory), F(z(_, slice(0, 3))));
  EXPECT_GT(F(max(abs(decoder(x, F(memory + 1.f)) - z))).item(), 1e-3);
  const auto loss = [&](const auto& m, const F& row) {
    return F(sum(square(m(expand_dims(row, 0), F(memory(slice(0, 1)))))));
  };
  const auto each = vmap(grad(loss), {.in_axes = {none, 0}})(decoder, x);
  const auto one = grad(loss)(decoder, F(x(1)));
  expect_near(F(each.wide.w(1)), one.wide.w, 1e-4);
}

TEST(WeightNorm, KeepsTheLayerAndTrainsItsLengths) {
  const auto key = random::key(2);
  const auto linear = nn::Linear<float>::make(key, {.in = 4, .out = 3});
  auto norm = nn::WeightNorm<nn::Linear<float>>::make(linear);
  const F x = random::normal(key, {5, 4});
  expect_near(norm(x), linear(x));
  norm.length = norm.length * 2.f;
  expect_near(norm(x), F(linear(x) * 2.f));
  // Gradients of directions are orthogonal to them.
  const auto g = grad([&](const auto& m) { return F(sum(sin(m(x)))); })(norm);
  expect_near(F(sum(g.layer.w * linear.w, {.axis = 0})), zeros({3}));
  expect_text<ShapeError>([&] { nn::weight_norm(linear.w, ones({4})); }, "shapes (4,) and (4, 3)");
}

TEST(SpectralNorm, DividesByTheLargestSingularValue) {
  const auto key = random::key(2);
  const nn::SpectralNorm<nn::Linear<float>> norm{{F{{3, 0}, {0, 1}, {0, 0}}, F{0, 0}}};
  F u = norm.stats(key), y;
  for (int i = 0; i < 30; ++i) std::tie(y, u) = norm(F{{1, 1, 1}}, u);
  expect_near(y, F{{1, 1.f / 3}});
  const auto g = grad([&](const auto& m) { return F(sum(m(F{{1, 1, 1}}, u).first)); })(norm);
  expect_near(g.layer.w, F{{-1.f / 9, 1.f / 3}, {1.f / 3, 1.f / 3}, {1.f / 3, 1.f / 3}}, 1e-4);
  expect_text<ShapeError>([&] { nn::spectral_norm(norm.layer.w, ones({3})); }, "shapes (3,) and (3, 2)");
}

TEST(LoRA, TrainsTheChangeAlone) {
  const auto key = random::key(2);
  const auto linear = nn::Linear<float>::make(key, {.in = 4, .out = 3});
  auto lora = nn::LoRA<float>::make(key, linear, {.rank = 2, .alpha = 6});
  const F x = random::normal(key, {5, 4});
  expect_near(lora(x), linear(x));
  lora.b = random::normal(key, {2, 3});
  expect_near(lora(x), F(linear(x) + matmul(matmul(x, lora.a), lora.b) * 3.f));
  expect_near(lora.merged()(x), lora(x));
  const auto g = grad([&](const auto& m) { return F(sum(square(m(x)))); })(lora);
  expect_near(g.base.w, zeros({4, 3}), 0);
  EXPECT_GT(F(sum(abs(g.a))).item(), 0);
  expect_text<ValueError>([&] { nn::LoRA<float>::make(key, linear, {.rank = 0}); }, "at least 1, got 0");
}

TEST(MoE, SumsTheChosenExperts) {
  const F logits = {{1, 3, 2}, {0, 0, -5}};
  const float e = std::exp(1.f);
  expect_near(nn::top_k_gates(logits, 2), F{{0, e / (1 + e), 1 / (1 + e)}, {0.5, 0.5, 0}});
  expect_near(nn::load_balance_loss(F(zeros({4, 4})), 4), F(1.f));
  const auto key = random::key(2);
  const auto keys = random::split(key, 4);
  nn::MoE<nn::Linear<float>> moe{nn::Linear<float>::make(keys[3], {.in = 4, .out = 3})};
  for (int i = 0; i < 3; ++i) moe.experts.push_back(nn::Linear<float>::make(keys[i], {.in = 4, .out = 2}));
  const F x = random::normal(key, {6, 4});
  const F y = moe(x), gates = nn::top_k_gates(moe.gate(x), 2);
  F want = zeros({6, 2});
  for (int i = 0; i < 3; ++i)
    want = want + gates(_, slice(i, i + 1)) * moe.experts[static_cast<std::size_t>(i)](x);
  expect_near(y, want);
  const auto g =
      grad([&](const auto& m) { return F(sum(square(m(x))) + nn::load_balance_loss(m.gate(x), 2)); })(moe);
  EXPECT_GT(F(sum(abs(g.gate.w))).item(), 0);
  moe.experts.pop_back();
  expect_text<ShapeError>([&] { moe(x); }, "the gate has 3 logits for 2 experts");
}

template <class Model, class Call>
void expect_jitted(const Model& model, const Call& call, const F& x) {
  const auto loss = [&](const Model& m, const F& a) { return F(sum(square(call(m, a)))); };
  expect_near(jit(call)(model, x), F(call(model, x)));
  const auto want = grad(loss)(model, x), got = jit(grad(loss))(model, x);
  tree::map([](const auto& a, const auto& b) { return expect_near(a, b, 1e-3), a; }, got, want);
}

TEST(MoreModules, AreRecordedByJit) {
  const auto key = random::key(6);
  const auto plain = [](const auto& m, const F& x) { return F(m(x)); };
  const F rows = random::normal(key, {2, 5, 8}), image = random::normal(key, {2, 4, 4, 8});
  const auto linear = nn::Linear<float>::make(key, {.in = 8, .out = 6});
  expect_jitted(nn::TransformerEncoderLayer<float>::make(key, {.features = 8, .heads = 2}), plain, rows);
  expect_jitted(nn::WeightNorm<nn::Linear<float>>::make(linear), plain, rows);
  expect_jitted(nn::LoRA<float>::make(key, linear, {.rank = 2}), plain, rows);
  nn::MoE<nn::Linear<float>> moe{nn::Linear<float>::make(key, {.in = 8, .out = 2}), {linear, linear}};
  moe.experts[1].w = moe.experts[1].w * 2.f;
  expect_jitted(moe, plain, rows);
  expect_jitted(nn::InstanceNorm<float>::make({.features = 8}), plain, image);
  expect_jitted(nn::PReLU<float>::make({.features = 8}), plain, image);
  expect_jitted(
      nn::ConvTranspose<float>::make(key, {.in = 8, .out = 2, .kernel = {3, 3}, .conv = {.strides = {2, 2}}}),
      plain, image);
  using Both = nn::Stacked<nn::Bidirectional<nn::GRU<float>>>;
  expect_jitted(
      Both::make(key, {.in = 8, .units = 3, .layers = 2}),
      [](const Both& m, const F& x) { return F(m(m.state({5}), x).second); }, rows);
  expect_jitted(
      linear,
      [](const auto& m, const F& x) {
        const F y = nn::upsample(nn::pixel_shuffle(x, 2), {2, 2}, {.method = "linear"});
        const F z = nn::adaptive_max_pool(nn::adaptive_avg_pool(y, {5, 7}), {3, 2});
        return F(m(nn::apply_rope(F(repeat(z, 4, {.axis = -1})))));
      },
      image);
}

// In bfloat16 a module computes what it does in float, by and large.
template <class Low, class Module, class... X>
void check_low(const Module& module, const X&... x) {
  const nn::Policy<bfloat16> policy;
  const auto low = policy.cast_to_compute(module);
  static_assert(std::is_same_v<decltype(low), const Low>);
  tree::for_each(
      [](const auto& a, const auto& b) {
        ASSERT_EQ(a.shape(), b.shape());
        EXPECT_LT(max(abs(a - b)).item(), 0.1f);
      },
      policy.cast_to_output(low(policy.cast_to_compute(x)...)), module(x...));
}

TEST(MoreModules, ComputeInHalfPrecision) {
  using B = bfloat16;
  const auto key = random::key(6);
  const F rows = random::normal(key, {2, 5, 8}), image = random::normal(key, {2, 4, 4, 8});
  const auto linear = nn::Linear<float>::make(key, {.in = 8, .out = 6});
  check_low<nn::ConvTranspose<B>>(nn::ConvTranspose<float>::make(key, {.in = 8, .out = 2, .kernel = {3, 3}}),
                                  image);
  check_low<nn::InstanceNorm<B>>(nn::InstanceNorm<float>::make({.features = 8}), image);
  check_low<nn::PReLU<B>>(nn::PReLU<float>::make(), image);
  check_low<nn::EmbeddingBag<B>>(nn::EmbeddingBag<float>::make(key, {.count = 4, .features = 8}),
                                 Array<int>{{0, 1}, {2, 3}});
  using Deep = nn::Stacked<nn::Bidirectional<nn::RNN<float>>>;
  const auto deep = Deep::make(key, {.in = 8, .units = 3, .layers = 2});
  check_low<nn::Stacked<nn::Bidirectional<nn::RNN<B>>>>(deep, deep.state({5}), rows);
  const nn::TransformerOptions transformer{.features = 8, .heads = 2};
  check_low<nn::TransformerEncoderLayer<B>>(nn::TransformerEncoderLayer<float>::make(key, transformer), rows);
  check_low<nn::TransformerDecoderLayer<B>>(nn::TransformerDecoderLayer<float>::make(key, transformer), rows,
                                            rows);
  check_low<nn::WeightNorm<nn::Linear<B>>>(nn::WeightNorm<nn::Linear<float>>::make(linear), rows);
  const nn::SpectralNorm<nn::Linear<float>> spectral{linear};
  check_low<nn::SpectralNorm<nn::Linear<B>>>(spectral, rows, spectral.stats(key));
  check_low<nn::LoRA<B>>(nn::LoRA<float>::make(key, linear, {.rank = 2}), rows);
  const nn::MoE<nn::Linear<float>> moe{nn::Linear<float>::make(key, {.in = 8, .out = 2}), {linear, linear}};
  check_low<nn::MoE<nn::Linear<B>, B>>(moe, rows);
  check_low<nn::Upsample>(nn::Upsample{Shape{2, 2}, nn::UpsampleOptions{.method = "linear"}}, image);
  check_low<nn::PixelShuffle>(nn::PixelShuffle{2}, image);
  check_low<nn::AdaptiveAvgPool>(nn::AdaptiveAvgPool{Shape{3, 3}}, image);
  check_low<nn::AdaptiveMaxPool>(nn::AdaptiveMaxPool{Shape{3, 3}}, image);
  expect_near(nn::apply_rope(rows.astype<B>().reshape({2, 5, 2, 4})).astype<float>(),
              nn::apply_rope(rows.reshape({2, 5, 2, 4})), 0.05);
}

}  // namespace more_modules_test
