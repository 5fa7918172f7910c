// Weights of 8-bit integers: the sums beside plain ones, errors beside floats, and what else may be done with
// a quantised model.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "nax/nax.hpp"
#include "support/refusal.hpp"
#include "support/with_threads.hpp"

namespace quantize_test {
using namespace nax;
using F = Array<float>;
using Layer = nn::Linear<float>;

constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();

F draw(int seed, const Shape& shape) { return random::normal<float>(random::key(seed), shape); }
Layer layer(std::int64_t in, std::int64_t out, int seed = 0) {
  return {draw(seed, {in, out}), draw(seed + 1, {out})};
}
Layer quantized(Layer made, const nn::QuantizeOptions& options = {}) {
  nn::quantize(made, options);
  return made;
}

// Integers and their scale, of a line of floats.
struct Line {
  std::vector<int> codes;
  float scale = 0;
  explicit Line(const std::vector<float>& x) {
    float most = 0;
    for (const float v : x) most = std::max(most, std::abs(v));
    scale = most / 127;
    for (const float v : x)
      codes.push_back(most > 0 ? static_cast<int>(std::nearbyint(v * (127 / most))) : 0);
  }
};
F reference(const F& x, const F& w) {
  std::vector<Line> rows, columns;
  for (std::int64_t i = 0; i < x.shape(0); ++i) rows.emplace_back(x(i).to_vector());
  for (std::int64_t j = 0; j < w.shape(1); ++j) columns.emplace_back(F(w(_, j)).to_vector());
  std::vector<float> y;
  for (const Line& row : rows)
    for (const Line& column : columns) {
      std::int64_t sum = 0;
      for (std::size_t l = 0; l < row.codes.size(); ++l) sum += row.codes[l] * column.codes[l];
      y.push_back(static_cast<float>(sum) * (column.scale * row.scale));
    }
  return array(y).reshape({x.shape(0), w.shape(1)});
}
void expect_same(const F& a, const F& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.to_vector(), b.to_vector());
}
double cosine(const F& a, const F& b) {
  const auto x = a.astype<double>(), y = b.astype<double>();
  return (sum(x * y) / sqrt(sum(x * x) * sum(y * y))).item();
}
// Of the error's power to the signal's.
double noise(const F& got, const F& want) {
  const auto x = got.astype<double>(), y = want.astype<double>();
  return (sum(square(x - y)) / sum(square(y))).item();
}

TEST(Quantize, SumsAreThoseOfPlainIntegers) {
  for (const auto& [m, k, n] : std::vector<std::tuple<int, int, int>>{{1, 1, 1},
                                                                      {1, 4, 16},
                                                                      {1, 784, 10},
                                                                      {2, 7, 5},
                                                                      {3, 15, 64},
                                                                      {5, 33, 70},
                                                                      {6, 64, 65},
                                                                      {7, 5, 80},
                                                                      {8, 16, 129},
                                                                      {13, 100, 96},
                                                                      {33, 129, 47},
                                                                      {97, 31, 33},
                                                                      {200, 68, 112}}) {
    const F x = draw(m, {m, k});
    Layer made{draw(n + 1, {k, n})};
    nn::quantize(made);
    expect_same(made(x), reference(x, made.w));
  }
}
TEST(Quantize, LargestSumsDoNotSaturate) {
  const F w = full({1000, 18}, -2.f), x = full({7, 1000}, 3.f);
  const F y = quantized({w})(x);
  for (const float v : y.to_vector()) EXPECT_FLOAT_EQ(v, -6000);
  for (const float v : quantized({F(-w)})(F(-x)).to_vector()) EXPECT_FLOAT_EQ(v, -6000);
}
TEST(Quantize, BiasAndActivationFollow) {
  const Layer plain = layer(20, 37), made = quantized(plain);
  const F x = draw(5, {9, 20}), z = reference(x, plain.w) + *plain.b;
  const auto near = [](const F& a, const F& b) { EXPECT_LT(max(abs(a - b)).item(), 2e-5f); };
  near(made(x), z);
  near(made(x, nn::Activation::relu), nn::relu(z));
  near(made(x, nn::Activation::gelu), nn::gelu(z));
  near(made(x, nn::Activation::gelu_exact), nn::gelu(z, {.approximate = false}));
  const Layer bare = quantized({plain.w});
  near(bare(x, nn::Activation::relu), nn::relu(reference(x, plain.w)));
}
TEST(Quantize, ErrorsAreThoseOfEightBits) {
  for (const std::int64_t k : {16, 384, 1536}) {
    const Layer plain = layer(k, 96), made = quantized(plain);
    const F x = draw(7, {40, k});
    const double error = noise(made(x), plain(x));
    EXPECT_LT(error, 4e-4) << k;
    EXPECT_GT(error, 1e-6) << k;  // it is quantised at all
  }
}
TEST(Quantize, RowsHaveScalesOfTheirOwn) {
  const Layer made = quantized({draw(1, {50, 20})});
  const F x = draw(2, {4, 50}), factors = F{1, 1e-20f, 1e20f, 1e-36f}.reshape({4, 1});
  const F y = made(x), scaled = made(F(x * factors)) / factors;
  EXPECT_LT(max(abs(scaled - y)).item(), 1e-4f * max(abs(y)).item());
}
TEST(Quantize, ColumnsHaveScalesOfTheirOwn) {
  const F w = draw(1, {50, 20}), factors = power(F(10.f), arange<float>(20) * 3 - 30);
  const F x = draw(2, {4, 50}), y = quantized({w})(x), scaled = quantized({F(w * factors)})(x) / factors;
  EXPECT_LT(max(abs(scaled - y)).item(), 1e-4f * max(abs(y)).item());
}
TEST(Quantize, RowsOfZerosGiveTheBias) {
  const Layer made = quantized(layer(30, 18));
  const F x = draw(3, {5, 30}).at(2).set(0.f);
  expect_same(made(x)(2), *made.b);
  expect_same(quantized({zeros<float>({30, 18})})(x), zeros<float>({5, 18}));
}
TEST(Quantize, RowsThatAreNotFiniteGiveNaN) {
  const Layer made = quantized(layer(30, 18));
  const F x = draw(3, {9, 30}), y = made(x);
  for (const float bad : {nan, infinity, -infinity})
    for (const int place : {0, 15, 29}) {
      const F z = made(F(x.at(4, place).set(bad)));
      EXPECT_TRUE(all(isnan(z(4))).item());
      expect_same(z(slice(0, 4)), y(slice(0, 4)));
      expect_same(z(slice(5, 9)), y(slice(5, 9)));
    }
}
TEST(Quantize, TakesEmptyBatchesVectorsAndMoreAxes) {
  const Layer made = quantized(layer(12, 7));
  EXPECT_EQ(made(zeros<float>({0, 12})).shape(), (Shape{0, 7}));
  const F x = draw(3, {2, 3, 12}), rows = x.reshape({6, 12});
  expect_same(made(x), made(rows).reshape({2, 3, 7}));
  expect_same(made(F(x(1, 2))), made(x)(1, 2));
  expect_same(made(F(swapaxes(x, 0, 1))), F(swapaxes(made(x), 0, 1)));
  EXPECT_NE(refusal<ShapeError>([&] { made(zeros<float>({3, 11})); }), "no error");
}
TEST(Quantize, ThreadsChangeNothing) {
  for (const auto& [m, k, n] :
       std::vector<std::tuple<int, int, int>>{{1, 700, 4100}, {9, 800, 900}, {700, 130, 170}}) {
    const Layer made = quantized(layer(k, n));
    const F x = draw(3, {m, k});
    const F one = [&] {
      const WithThreads threads(1);
      return made(x);
    }();
    const WithThreads threads(4);
    expect_same(made(x), one);
  }
}
TEST(Quantize, HalfTypesComputeInFloat) {
  const Layer plain = layer(40, 24);
  nn::Linear<bfloat16> made{plain.w.astype<bfloat16>(), plain.b->astype<bfloat16>()};
  nn::quantize(made);
  const auto x = draw(2, {3, 40}).astype<bfloat16>();
  EXPECT_GT(cosine(made(x).astype<float>(), plain(x.astype<float>())), .999);
}

// ---- transforms

TEST(Quantize, VmapAndJitGiveTheSame) {
  const Layer made = quantized(layer(33, 20));
  const F x = draw(2, {5, 4, 33}), y = made(x);
  const auto call = [&](const F& rows) { return made(rows); };
  const auto both = [](const Layer& given, const F& rows) { return given(rows); };
  expect_same(vmap(call)(x), y);
  expect_same(vmap(vmap(call))(x), y);
  expect_same(vmap(call, {.in_axes = 1, .out_axes = 1})(x), y);
  expect_same(vmap(both, {.in_axes = {none, 0}})(made, x), y);
  const auto fast = jit(call);
  expect_same(fast(x), y);
  expect_same(fast(x), y);
  expect_same(fast(F(x * 2)), made(F(x * 2)));
  const auto given = jit(both);
  expect_same(given(made, x), y);
  expect_same(given(made, x), y);
  const auto gelu = jit([&](const F& rows) { return made(rows, nn::Activation::gelu); });
  expect_same(gelu(x), made(x, nn::Activation::gelu));
  EXPECT_NE(make_program(call)(x).text().find("int8_linear"), std::string::npos);
}
TEST(Quantize, JitTellsModelsApart) {
  const auto fast = jit([](const Layer& given, const F& x) { return given(x); });
  const F x = draw(2, {4, 33});
  const Layer plain = layer(33, 20), made = quantized(plain), other = quantized(layer(33, 20, 9));
  for (int turn = 0; turn < 2; ++turn) {
    expect_same(fast(plain, x), plain(x));
    expect_same(fast(made, x), made(x));
    expect_same(fast(other, x), other(x));
  }
  Layer changed = made;
  changed.w = other.w;
  expect_same(fast(changed, x), changed(x));
  expect_same(fast(made, x), made(x));
}
// Of so many turns that they are recorded as loops.
TEST(Quantize, JitPassesModelsIntoLoops) {
  const auto loop = [](const Layer& given, const F& x) {
    const auto turn = [&](const F& v, const F& row) {
      const F next = lax::cond(
          sum(row) > -1e9f, [&](const F& a) { return F(tanh(given(a))); }, [](const F& a) { return a; }, v);
      return std::pair(F(next + row), given(row));
    };
    const auto [last, rows] = lax::scan(turn, zeros<float>({1, 20}), x);
    return concatenate({F(rows).reshape({40, 20}), last});
  };
  const auto fast = jit(loop);
  const F x = draw(2, {40, 1, 20});
  const Layer plain = layer(20, 20), made = quantized(plain), other = quantized(layer(20, 20, 9));
  EXPECT_NE(make_program(loop)(made, x).text().find("int8_linear"), std::string::npos);
  for (int turn = 0; turn < 2; ++turn) {
    expect_same(fast(plain, x), loop(plain, x));
    expect_same(fast(made, x), loop(made, x));
    expect_same(fast(other, x), loop(other, x));
  }
  Layer changed = made;
  changed.w = other.w;
  expect_same(fast(changed, x), loop(changed, x));
  // A carry is another array in each turn.
  const auto carried = [](const Layer& given, const F& v) {
    const auto turn = [](const Array<int>&, const std::pair<Layer, F>& c) {
      return std::pair(c.first, F(tanh(c.first(c.second))));
    };
    return lax::fori_loop(0, 40, turn, std::pair(given, v)).second;
  };
  EXPECT_LT(max(abs(jit(carried)(made, x[0]) - carried(plain, x[0]))).item(), .5f);
}
TEST(Quantize, GradientsOfXAreTheFloats) {
  const Layer plain = layer(12, 9), made = quantized(plain);
  const F x = draw(2, {4, 12}), g = draw(3, {4, 9}), t = draw(4, {4, 12});
  for (const bool kept : {true, false}) {
    const Layer layer = quantized(plain, {.keep_weights = kept});
    const auto loss = [&](const F& a) { return sum(layer(a) * g); };
    const F slope = matmul(g, plain.w.T());
    EXPECT_LT(max(abs(grad(loss)(x) - slope)).item(), kept ? 1e-4f : .2f);
    EXPECT_LT(max(abs(jit(grad(loss))(x) - grad(loss)(x))).item(), 1e-5f);
    const auto [y, dy] = jvp([&](const F& a) { return layer(a); }, std::tuple{x}, std::tuple{t});
    expect_same(y, layer(x));
    EXPECT_LT(max(abs(dy - matmul(t, plain.w))).item(), kept ? 1e-4f : .2f);
    const auto each = vmap(grad([&](const F& a) { return sum(layer(a, nn::Activation::relu)); }))(x);
    EXPECT_LT(max(abs(each - matmul(F(where(layer(x) > 0, 1.f, 0.f)), plain.w.T()))).item(),
              kept ? 1e-4f : .2f);
  }
  expect_same(made(x), quantized(plain)(x));
}
TEST(Quantize, GradientsOfWeightsAreThoseOfTheFloatModel) {
  const Layer plain = layer(12, 9), made = quantized(plain);
  const F x = draw(2, {4, 12});
  const auto loss = [&](const Layer& m) { return sum(square(m(x))); };
  const auto [value, of_made] = value_and_grad(loss)(made);
  EXPECT_EQ(value.item(), loss(plain).item());
  const Layer of_plain = grad(loss)(plain);
  expect_same(of_made.w, of_plain.w);
  expect_same(*of_made.b, *of_plain.b);
  EXPECT_NE(refusal([&] { grad(loss)(quantized(plain, {.keep_weights = false})); }).find("released"),
            std::string::npos);
}

// ---- models

TEST(Quantize, OtherWeightsAreUsedAsTheyAre) {
  const Layer plain = layer(12, 9), other = layer(12, 9, 5);
  const F x = draw(2, {4, 12});
  Layer made = quantized(plain);
  const Layer copy = made;
  expect_same(copy(x), made(x));
  made.w = other.w;
  expect_same(made(x), matmul(x, other.w) + *plain.b);
  made.w = plain.w;  // the array that it was quantised from
  expect_same(made(x), copy(x));
  made.w = std::move(made.w).at(0, 0).set(9.f);  // never in the memory that the packing holds
  EXPECT_EQ(plain.w(0, 0).item(), copy.w(0, 0).item());
  expect_same(made(x), matmul(x, made.w) + *plain.b);
  auto opt = optim::sgd(.1);
  const auto [updates, state] =
      opt.update(tree::map([](const F& a) { return ones_like(a); }, copy), opt.init(copy), copy);
  const Layer next = optim::apply_updates(copy, updates);
  expect_same(next(x), matmul(x, next.w) + *next.b);
  nn::quantize(made);
  EXPECT_LT(noise(made(x), matmul(x, made.w) + *plain.b), 1e-3);
  EXPECT_GT(noise(made(x), matmul(x, made.w) + *plain.b), 0);
}
TEST(Quantize, IsNoPartOfTheTree) {
  const Layer plain = layer(12, 9), made = quantized(plain);
  EXPECT_EQ(tree::structure(made).to_string(), tree::structure(plain).to_string());
  EXPECT_EQ(tree::leaves(made).size(), 2u);
  const auto path = (std::filesystem::temp_directory_path() / "nax_quantize_test.npz").string();
  io::save(path, made);
  Layer loaded = quantized(layer(12, 9, 3));
  io::load(path, loaded);
  expect_same(loaded.w, plain.w);
  const F x = draw(2, {4, 12});
  expect_same(loaded(x), matmul(x, plain.w) + *plain.b);  // as long as it is not quantised anew
  nn::quantize(loaded);
  expect_same(loaded(x), made(x));
  std::filesystem::remove(path);
}
TEST(Quantize, ReleasedWeightsAreNaN) {
  const Layer plain = layer(12, 9), made = quantized(plain),
              small = quantized(plain, {.keep_weights = false});
  const F x = draw(2, {4, 12});
  expect_same(small(x), made(x));
  EXPECT_EQ(small.w.shape(), plain.w.shape());
  EXPECT_TRUE(all(isnan(small.w)).item());
  expect_same(jit([&](const F& a) { return small(a); })(x), made(x));
  // As an argument, too: it is recorded.
  const auto both = jit([](const Layer& given, const F& rows) { return given(rows); }, {.required = true});
  expect_same(both(small, x), made(x));
  expect_same(both(small, x), made(x));
  Layer again = small;
  nn::quantize(again, {.keep_weights = false});
  expect_same(again(x), made(x));
  again.w = plain.w;
  expect_same(again(x), plain(x));
}
TEST(Quantize, RefusesModelsWithoutLayersAndWeightsThatAreNotFinite) {
  std::vector<F> arrays = {draw(0, {3, 3})};
  EXPECT_NE(refusal([&] { nn::quantize(arrays); }).find("quantize: the model has no linear layer"),
            std::string::npos);
  Layer bad = layer(5, 4);
  bad.w = bad.w.at(3, 2).set(nan);
  EXPECT_NE(refusal([&] { nn::quantize(bad); }).find("NaN"), std::string::npos);
  Layer fine = layer(5, 4);
  EXPECT_NE(refusal([&] {
              grad([](const Layer& m) {
                Layer own = m;
                nn::quantize(own);
                return sum(own.w);
              })(fine);
            }),
            "no error");
}

struct Mlp {
  std::vector<Layer> layers;
  std::optional<Layer> head;
  F operator()(F x) const {
    for (const Layer& one : layers) x = one(x, nn::Activation::relu);
    return (*head)(x);
  }
};
TEST(Quantize, MlpStaysClose) {
  Mlp net{{Layer::make(random::key(0), {.in = 60, .out = 128}),
           Layer::make(random::key(1), {.in = 128, .out = 70})},
          Layer::make(random::key(2), {.in = 70, .out = 10})};
  const F x = draw(1, {50, 60}), want = net(x);
  nn::quantize(net);
  EXPECT_GT(cosine(net(x), want), .999);
  EXPECT_GT(noise(net(x), want), 0);
  expect_same(jit([&](const F& a) { return net(a); })(x), net(x));
}
TEST(Quantize, TransformersStayClose) {
  auto net = nn::TransformerEncoderLayer<float>::make(
      random::key(0), {.features = 48, .heads = 4, .key_value_heads = 2, .activation = nn::Activation::gelu});
  net.attention.params.query_bias = draw(4, {4, 12});
  const F x = draw(1, {3, 10, 48}), want = net(x);
  const auto float_net = net;
  nn::quantize(net);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(net.attention.params.int8[i]) << i;
  const F y = net(x);
  EXPECT_GT(cosine(y, want), .999);
  EXPECT_GT(noise(net.attention(x), float_net.attention(x)), 1e-7);
  EXPECT_LT(noise(net.attention(x), float_net.attention(x)), 1e-2);
  EXPECT_LT(max(abs(jit([&](const F& a) { return net(a); })(x) - y)).item(), 1e-4f);
  EXPECT_LT(max(abs(vmap([&](const F& a) { return net(a); })(x) - y)).item(), 1e-4f);
  // With a cache, element by element.
  const F causal = net(x, {.is_causal = true});
  auto cache = net.cache(10, 3);
  for (int i = 0; i < 10; ++i) {
    auto [next, one] = net(std::move(cache), F(x(_, slice(i, i + 1))));
    cache = std::move(next);
    EXPECT_LT(max(abs(one - F(causal(_, slice(i, i + 1))))).item(), 1e-4f) << i;
  }
}
TEST(Quantize, EmbeddingsAttendByInt8WhereAsked) {
  auto table = nn::Embedding<float>::make(random::key(0), {.count = 70, .features = 24});
  const F x = draw(1, {5, 24}), want = table.attend(x);
  EXPECT_NE(refusal([&] { nn::quantize(table); }), "no error");
  nn::quantize(table, {.embeddings = true});
  EXPECT_LT(noise(table.attend(x), want), 4e-4);
  expect_same(table.attend(x), reference(x, F(table.table.T())));
  expect_same(table(Array<int>{3, 4}), table.table(slice(3, 5)));
  const F g = draw(2, {5, 70});
  const auto attended = [&](const F& z) { return sum(table.attend(z) * g); };
  EXPECT_TRUE(allclose(grad(attended)(x), F(matmul(g, table.table)), {.rtol = 1e-5, .atol = 1e-5}));
}
TEST(Quantize, WrappersThatMakeWeightsStayFloats) {
  auto normed = nn::WeightNorm<Layer>::make(layer(12, 9));
  EXPECT_NE(refusal([&] { nn::quantize(normed); }), "no error");
  auto lora = nn::LoRA<float>::make(random::key(0), layer(12, 9));
  const F x = draw(2, {4, 12});
  const F want = lora(x);
  nn::quantize(lora);
  EXPECT_GT(cosine(lora(x), want), .999);
  const auto slope = grad([&](const nn::LoRA<float>& m) { return sum(square(m(x))); })(lora);
  EXPECT_EQ(max(abs(slope.base.w)).item(), 0);
  EXPECT_GT(max(abs(slope.b)).item(), 0);
  EXPECT_TRUE(allclose(lora.merged()(x), want, {.rtol = 1e-4, .atol = 1e-4}));
  nn::quantize(lora, {.keep_weights = false});
  EXPECT_NE(refusal([&] { lora.merged(); }).find("merged"), std::string::npos);
}
TEST(Quantize, LeavesTheModelAsItWasWhereItThrows) {
  std::vector<Layer> layers = {layer(12, 9), layer(9, 4)};
  const F x = draw(2, {4, 12}), want = layers[0](x);
  layers[1].w = F(layers[1].w + infinity);
  EXPECT_NE(refusal([&] { nn::quantize(layers, {.keep_weights = false}); }).find("NaN or an infinity"),
            std::string::npos);
  expect_same(layers[0](x), want);
}
}  // namespace quantize_test
