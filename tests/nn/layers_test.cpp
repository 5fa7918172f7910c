// Layers against their formulas: normalisations, recurrent cells, forms of attention, texts of convolution's
// errors.

#include <gtest/gtest.h>

#include "nax/nax.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"

namespace layers_test {
using namespace nax;
using A = Array<double>;

auto near(const A& a, const A& b) { return compare::close(a, b, 1e-11); }
A draw(std::uint64_t seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape); }
TEST(BatchNorm, NormalisesAndRemembers) {
  const A x = draw(0, {4, 3, 2}) * 3 + 1, scale = draw(1, {2}), bias = draw(2, {2});
  const nn::BatchStats<double> stats{zeros<double>({2}), ones<double>({2})};
  const auto [y, next] = nn::batch_norm(x, scale, bias, stats, {.momentum = 0.9});
  const A mean = nax::mean(x, {.axis = {0, 1}}), var = nax::var(x, {.axis = {0, 1}});
  EXPECT_TRUE(near(y, (x - mean) / sqrt(var + 1e-5) * scale + bias));
  EXPECT_TRUE(near(next.mean, mean * 0.1));
  EXPECT_TRUE(near(next.var, 0.9 + var * 0.1));
  const auto [z, same] = nn::batch_norm(x, scale, bias, next, {.use_running_average = true});
  EXPECT_TRUE(near(z, (x - next.mean) / sqrt(next.var + 1e-5) * scale + bias));
  EXPECT_TRUE(near(same.var, next.var));
  // Two halves joined by an axis name are one batch.
  const auto half = [&](const A& part) {
    return nn::batch_norm(part, scale, bias, stats, {.axis_name = "i"}).first;
  };
  EXPECT_TRUE(near(vmap(half, {.axis_name = "i"})(x.reshape({2, 2, 3, 2})).reshape({4, 3, 2}), y));
  EXPECT_EQ(refusal<Error>([&] { nn::batch_norm(x, draw(0, {3}), bias, stats); }),
            "batch_norm: scale and bias must have one number for each channel: shapes (4, 3, 2), (3,), (2,)");
}

TEST(GroupNorm, NormalisesGroups) {
  const A x = draw(0, {2, 3, 4}), scale = draw(1, {4}), bias = draw(2, {4});
  const A parts = x.reshape({2, 3, 2, 2});
  const A mean = nax::mean(parts, {.axis = {1, 3}, .keepdims = true}),
          var = nax::var(parts, {.axis = {1, 3}, .keepdims = true});
  const A want = ((parts - mean) / sqrt(var + 1e-6)).reshape({2, 3, 4}) * scale + bias;
  EXPECT_TRUE(near(nn::group_norm(x, scale, bias, {.num_groups = 2}), want));
  EXPECT_EQ(refusal<Error>([&] { nn::group_norm(x, scale, bias, {.num_groups = 3}); }),
            "group_norm: num_groups 3 does not divide the 4 channels");
}

TEST(RmsNorm, DividesByTheRoot) {
  const A x = draw(0, {2, 5}), scale = draw(1, {5});
  EXPECT_TRUE(near(nn::rms_norm(x, scale),
                   x / sqrt(nax::mean(square(x), {.axis = -1, .keepdims = true}) + 1e-6) * scale));
}

TEST(Embedding, TakesRows) {
  const A table = draw(0, {5, 3});
  EXPECT_EQ(nn::embedding(table, Array<int>{{0, 4}, {1, 1}}).shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(refusal<Error>([&] { nn::embedding(table, Array<int>{5}); }),
            "take: index 5 is out of bounds for axis 0 with size 5");
}

TEST(Cells, FollowTheirFormulas) {
  const auto part = [](const A& gates, int i) { return A(gates(_, slice(3 * i, 3 * i + 3))); };
  const A x = draw(0, {2, 4}), h = draw(1, {2, 3}), c = draw(2, {2, 3});
  const nn::LSTMParams<double> p{draw(3, {4, 12}), draw(4, {3, 12}), draw(5, {12})};
  const auto [state, y] = nn::lstm_cell(p, {c, h}, x);
  const A gates = matmul(x, p.input) + matmul(h, p.recurrent) + *p.bias;
  const A next = nn::sigmoid(part(gates, 1)) * c + nn::sigmoid(part(gates, 0)) * tanh(part(gates, 2));
  EXPECT_TRUE(near(state.c, next));
  EXPECT_TRUE(near(y, nn::sigmoid(part(gates, 3)) * tanh(next)));

  const nn::GRUParams<double> q{draw(3, {4, 9}), draw(4, {3, 9}), draw(5, {9}), draw(6, {9})};
  const A from_x = matmul(x, q.input) + *q.bias, from_h = matmul(h, q.recurrent) + *q.recurrent_bias;
  const A r = nn::sigmoid(part(from_x, 0) + part(from_h, 0)),
          z = nn::sigmoid(part(from_x, 1) + part(from_h, 1));
  EXPECT_TRUE(
      near(nn::gru_cell(q, h, x).second, (1 - z) * tanh(part(from_x, 2) + r * part(from_h, 2)) + z * h));
  EXPECT_EQ(refusal<Error>([&] { nn::gru_cell(q, h, x(_, slice(2))); }).substr(0, 6), "matmul");
  EXPECT_EQ(refusal<Error>([&] {
              nn::lstm_cell({q.input, q.recurrent, q.bias}, {c, h}, x);
            }),
            "lstm_cell: the weights must be (D, 4 H) and (H, 4 H): shapes (4, 9) and (3, 9)");
}

TEST(Cells, RunInScans) {
  const auto params = nn::lstm_params<double>(random::key(0), 4, 3);
  const A xs = draw(0, {6, 2, 4});
  const auto run = [&](const nn::LSTMParams<double>& p, lax::CheckpointEvery every) {
    const auto step = [=](const nn::LSTMState<double>& s, const A& x) { return nn::lstm_cell(p, s, x); };
    return A(sum(square(lax::scan(step, nn::lstm_state<double>(3, {2}), xs, {.checkpoint = every}).second)));
  };
  const auto plain = grad([&](const nn::LSTMParams<double>& p) { return run(p, false); })(params);
  const auto less = grad([&](const nn::LSTMParams<double>& p) { return run(p, true); })(params);
  EXPECT_TRUE(near(plain.input, less.input) && near(plain.recurrent, less.recurrent) &&
              near(*plain.bias, *less.bias));
}

TEST(Linear, AddsAnArray) {
  const A y = draw(0, {4, 2, 3}), x = draw(1, {4, 2, 5}), w = draw(2, {5, 3}), b = draw(3, {3});
  const A expected = y + (matmul(x, w) + b);
  EXPECT_TRUE(near(nn::add_linear(y, x, w, b), expected));
  EXPECT_TRUE(near(nn::add_linear(A(y(0, 0)), x, w, b), y(0, 0) + (matmul(x, w) + b)));
  const nn::Linear<double> with{w, b}, without{w};
  EXPECT_TRUE(near(with.add_to(y, x), expected));
  EXPECT_TRUE(near(without.add_to(y, x), y + matmul(x, w)));
  const auto loss = [](const A& y, const A& x, const A& w, const A& b) {
    return A(sum(square(nn::add_linear(y, x, w, b))));
  };
  const A g = 2 * expected;
  const auto [of_y, of_x, of_w, of_b] = grad<0, 1, 2, 3>(loss)(y, x, w, b);
  EXPECT_TRUE(near(of_y, g));
  EXPECT_TRUE(near(of_x, matmul(g, w.T())));
  EXPECT_TRUE(near(of_w, tensordot(x.reshape({8, 5}).T(), g.reshape({8, 3}), {.axes = 1})));
  EXPECT_TRUE(near(of_b, sum(g, {.axis = {0, 1}})));
  EXPECT_THROW(nn::add_linear(y, x, w, draw(4, {4})), ShapeError);
  EXPECT_THROW(nn::add_linear(draw(5, {3, 2, 3}), x, w, b), ShapeError);
}

TEST(Attention, MaskAgreesWithBias) {
  const A q = draw(0, {2, 3, 4, 5}), k = draw(1, {2, 6, 2, 5}), v = draw(2, {2, 6, 2, 5});
  const Array<bool> mask = draw(3, {2, 1, 3, 6}) > -0.5;
  const A bias = where(mask, A(0.0), A(-1e30));
  EXPECT_TRUE(near(nn::dot_product_attention(q, k, v, {.mask = mask}),
                   nn::dot_product_attention(q, k, v, {.bias = bias})));
  // No query sees later keys.
  const A changed = v.at(_, slice(1, none)).set(0.0);
  EXPECT_TRUE(near(nn::dot_product_attention(q, k, v, {.is_causal = true})(_, 0),
                   nn::dot_product_attention(q, k, changed, {.is_causal = true})(_, 0)));
  EXPECT_EQ(refusal<Error>([&] {
              nn::dot_product_attention(q, k, draw(0, {2, 6, 3, 5}));
            }),
            "dot_product_attention: query (B, T, N, H) and key, value (B, S, K, H) do not fit, N a multiple "
            "of K: shapes "
            "(2, 3, 4, 5), (2, 6, 2, 5), (2, 6, 3, 5)");
  EXPECT_EQ(refusal<Error>([&] { nn::dot_product_attention(q, k, v, {.mask = Array<bool>{true}}); }),
            "dot_product_attention: mask must broadcast to (B, N, T, S) (2, 4, 3, 6), shape (1,)");
}

TEST(Attention, OfManyHeadsAddsAnArray) {
  const auto heads = nn::MultiHeadAttention<double>::make(random::key(1), {.features = 6, .heads = 2});
  auto unbiased =
      nn::MultiHeadAttention<double>::make(random::key(1), {.features = 6, .heads = 2, .bias = false});
  const A x = draw(1, {2, 3, 6}), y = draw(2, {2, 3, 6}), memory = draw(3, {2, 5, 6});
  for (const auto& f : {heads, unbiased}) {
    EXPECT_TRUE(near(f.add_to(y, x, x, {.is_causal = true}), y + f(x, {.is_causal = true})));
    EXPECT_TRUE(near(f.add_to(y, x, memory), y + f.attend(x, memory)));
    const auto [cache, one] = f(f.cache(4, 2), x);
    const auto [same, two] = f.add_to(y, f.cache(4, 2), x);
    EXPECT_TRUE(near(two, y + one));
    EXPECT_TRUE(near(same.key, cache.key));
    EXPECT_EQ(same.length.item(), 3);
  }
}

TEST(Attention, OfManyHeadsIsProjected) {
  const A x = draw(0, {2, 3, 8});
  const nn::MultiHeadParams<double> p{draw(1, {8, 2, 4}), draw(2, {8, 2, 4}), draw(3, {8, 2, 4}),
                                      draw(4, {2, 4, 8})};
  const A y = nn::multi_head_attention(p, x);
  const auto heads = [&](const A& w) { return matmul(x, w.reshape({8, 8})).reshape({2, 3, 2, 4}); };
  const A want =
      matmul(nn::dot_product_attention(heads(p.query), heads(p.key), heads(p.value)).reshape({2, 3, 8}),
             p.out.reshape({8, 8}));
  EXPECT_TRUE(near(y, want));
}

// A gradient goes to the first of equal elements, as JAX's.
TEST(Pooling, BreaksTiesAsJax) {
  const auto record = [](const char* what) { return compare::array_of<double>(golden::get("conv", what)); };
  const A x = record("max_pool_ties/f64/in0"), g = record("max_pool_ties/f64/in1");
  const auto [y, pullback] = vjp([](const A& a) { return nn::max_pool(a, {2, 2}, {.strides = {2, 2}}); }, x);
  EXPECT_TRUE(near(std::get<0>(pullback(g)), record("max_pool_ties/f64/out")));
}

TEST(Pooling, HandlesNaNAndIntegers) {
  const Array<float> x = Array<float>{1, NAN, 2, 3}.reshape({1, 4, 1});
  const Array<float> y = nn::max_pool(x, {2}, {.strides = {2}});
  EXPECT_TRUE(std::isnan(y.to_vector()[0]) && y.to_vector()[1] == 3);
  const Array<int> counts = arange<int>(6).reshape({1, 6, 1});
  EXPECT_EQ(nn::min_pool(counts, {3}).to_vector(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(
      refusal<Error>([&] {
        nn::max_pool(x, {2, 2, 2});
      }),
      "max_pool: an input of shape (1, 4, 1) has no window (2, 2, 2) before its last axis, the channels");
  EXPECT_EQ(refusal<Error>([&] { nn::avg_pool(x, {2}, {.strides = {0}}); }),
            "avg_pool: strides must be at least 1: (0,)");
}

TEST(Conv, OfHalvesIsComputedInFloat) {
  const Array<float> x = random::normal<float>(random::key(0), {1, 5, 5, 2}),
                     w = random::normal<float>(random::key(1), {3, 3, 2, 2});
  const Array<half> y = nn::conv(x.astype<half>(), w.astype<half>());
  EXPECT_TRUE(compare::close(y.astype<float>(), nn::conv(x, w), 2e-2));
}

// One kernel an example: a convolution for each; an unbatched one: one for all.
TEST(Conv, GradientsOfExamples) {
  const A x = draw(0, {3, 2, 5, 5, 2}), w = draw(1, {3, 3, 2, 4});
  const auto loss = [](const A& k, const A& image) {
    return A(sum(sin(nn::conv(image, k, {.strides = {2, 2}}))));
  };
  const A each = vmap(grad(loss), {.in_axes = {none, 0}})(w, x);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(near(each(i), grad(loss)(w, x(i))));
  EXPECT_TRUE(near(sum(each, {.axis = 0}), grad([&](const A& k) {
                     return A(sum(vmap(loss, {.in_axes = {none, 0}})(k, x)));
                   })(w)));
}

TEST(Conv, LargeOnesAgreeWithTheDefinition) {
  const A x = draw(0, {2, 33, 29, 17}), w = draw(1, {5, 3, 17, 19});
  const A y = nn::conv(x, w, {.strides = {1, 2}, .padding = "VALID"});
  A want = zeros<double>(y.shape());
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      want = want + matmul(x(_, slice(i, i + 29), slice(j, j + 27, 2)), w(i, j));
  EXPECT_TRUE(near(y, want));
}

TEST(Conv, ErrorsNameTheCause) {
  const A x = draw(0, {1, 5, 5, 2}), w = draw(1, {3, 3, 3, 4});
  EXPECT_EQ(refusal<Error>([&] { nn::conv(x, w); }),
            "conv_general_dilated: the input has 2 channels, the kernel takes 3 in each of 1 groups: shapes "
            "(batch, spatial..., "
            "channels) (1, 5, 5, 2) and (spatial..., in, out) (3, 3, 3, 4)");
  EXPECT_EQ(refusal<Error>([&] {
              nn::conv(x, draw(1, {3, 2, 4}));
            }),
            "conv_general_dilated: input and kernel must both have one to three spatial axes and two more: "
            "shapes (1, 5, 5, 2) and (3, 2, 4)");
  EXPECT_EQ(refusal<Error>([&] {
              nn::conv(x, draw(1, {3, 3, 2, 4}), {.strides = {1}});
            }),
            "conv: strides has 1 numbers for 2 axes");
  EXPECT_EQ(refusal<Error>([&] {
              nn::conv(x, draw(1, {3, 3, 2, 4}), {.padding = "same"});
            }),
            "conv_general_dilated: padding must be 'SAME', 'SAME_LOWER', 'VALID' or pairs, not 'same'");
  EXPECT_EQ(
      refusal<Error>([&] {
        lax::conv_general_dilated(x, x, {1, 1}, "SAME", {.dimension_numbers = {"NHWC", "HWIO", "NHWX"}});
      }),
      "conv_general_dilated: dimension_numbers must name each of 4 axes once: 'NHWC', 'HWIO', 'NHWX'");
}

}  // namespace layers_test
