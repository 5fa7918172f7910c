#include "nax/nn/modules/summary.hpp"

#include <gtest/gtest.h>

#include "nax/nn.hpp"
#include "nax/numpy.hpp"
#include "nax/random.hpp"

namespace summary_test {
using namespace nax;
using F = Array<float>;

struct Net {
  nn::Conv<float> conv;
  nn::GroupNorm<float> norm;
  nn::Linear<float> head;
  F operator()(const F& x) const { return head(F(mean(nn::relu(norm(conv(x))), {.axis = {1, 2}}))); }
};

TEST(Summary, CountsLayersByPath) {
  const auto key = random::key(0);
  const Net net{
      nn::Conv<float>::make(
          key, {.in = 4, .out = 8, .kernel = {3, 3}, .conv = {.strides = {2, 2}, .feature_group_count = 2}}),
      nn::GroupNorm<float>::make({.features = 8, .groups = 4}),
      nn::Linear<float>::make(key, {.in = 8, .out = 10})};
  const nn::Summary s = nn::summary(net, zeros({5, 6, 6, 4}));
  ASSERT_EQ(s.rows.size(), 3u);
  EXPECT_EQ(s.rows[0].path, "conv");
  EXPECT_EQ(s.rows[0].output, "(5, 3, 3, 8)");
  EXPECT_EQ(s.rows[0].parameters, 3 * 3 * 2 * 8 + 8);
  EXPECT_EQ(s.rows[0].bytes, 4 * s.rows[0].parameters);
  EXPECT_EQ(s.rows[0].flops, 2. * 5 * 3 * 3 * 8 * (9 * 2));
  EXPECT_EQ(s.rows[1].path, "norm");
  EXPECT_EQ(s.rows[1].output, "(5, 3, 3, 8)");
  EXPECT_EQ(s.rows[1].flops, 0);
  EXPECT_EQ(s.rows[2].output, "(5, 10)");
  EXPECT_EQ(s.rows[2].flops, 2. * 5 * 8 * 10);
  EXPECT_EQ(s.parameters, 152 + 16 + 90);
  EXPECT_EQ(s.flops, s.rows[0].flops + s.rows[2].flops);
  EXPECT_EQ(s.str(),
            "layer  output        parameters  bytes  FLOPs\n"
            "conv   (5, 3, 3, 8)         152    608  12960\n"
            "norm   (5, 3, 3, 8)          16     64      0\n"
            "head   (5, 10)               90    360    800\n"
            "total                       258   1032  13760\n");
}

struct Block {
  nn::LayerNorm<float> norm;
  nn::MultiHeadAttention<float> attention;
  F operator()(const F& x) const { return x + attention(norm(x), {.is_causal = true}); }
};
struct Gpt {
  nn::Embedding<float> tokens;
  std::vector<Block> blocks;
  nn::RMSNorm<float> norm;
  nn::Dropout dropout;
  F operator()(const random::Key& key, const Array<int>& t) const {
    F x = tokens(t);
    for (const Block& block : blocks) x = dropout(key, block(x));
    return tokens.attend(norm(x));
  }
};

TEST(Summary, CountsAttentionForItsLayer) {
  const auto key = random::key(1);
  Gpt gpt{nn::Embedding<float>::make(key, {.count = 11, .features = 12}),
          {},
          nn::RMSNorm<float>::make({.features = 12}),
          {}};
  for (int i = 0; i < 2; ++i)
    gpt.blocks.push_back({nn::LayerNorm<float>::make({.features = 12}),
                          nn::MultiHeadAttention<float>::make(key, {.features = 12, .heads = 3})});
  const nn::Summary s = nn::summary(gpt, key, zeros<int>({2, 7}));
  ASSERT_EQ(s.rows.size(), 6u);
  EXPECT_EQ(s.rows[0].path, "tokens");
  EXPECT_EQ(s.rows[0].output, "(2, 7, 11)");  // the logits: the table is read once more
  EXPECT_EQ(s.rows[0].flops, 2. * 14 * 12 * 11);
  EXPECT_EQ(s.rows[1].path, "blocks[0].norm");
  EXPECT_EQ(s.rows[1].output, "(2, 7, 12)");
  EXPECT_EQ(s.rows[2].path, "blocks[0].attention.params");
  EXPECT_EQ(s.rows[2].output, "(2, 7, 12)");
  EXPECT_EQ(s.rows[2].flops, 2. * 14 * 12 * 12 * 4 + 2. * 2 * 3 * 7 * 7 * 4 * 2);
  EXPECT_EQ(s.rows[4].flops, s.rows[2].flops);
  EXPECT_EQ(s.rows[5].path, "norm");
  EXPECT_EQ(s.rows[5].output, "(2, 7, 12)");
}

TEST(Summary, SharedAndUnusedParameters) {
  const auto one = nn::Linear<float>::make(random::key(2), {.in = 3, .out = 3, .bias = false});
  struct Twice {
    nn::Linear<float> a, b, unused;
    F operator()(const F& x) const { return b(a(x)); }
  };
  const nn::Summary s =
      nn::summary(Twice{one, one, nn::Linear<float>::make(random::key(2), {.in = 3, .out = 1})}, ones({3}));
  EXPECT_EQ(s.parameters, 9 + 4);
  EXPECT_EQ(s.rows[0].flops, 2 * 2. * 9);
  EXPECT_EQ(s.rows[1].parameters, 0);
  EXPECT_EQ(s.rows[2].output, "");
  EXPECT_EQ(nn::summary(one, ones({2, 3})).rows[0].path, "");
  // Both in one buffer, as views.
  const F both = random::normal(random::key(3), {2, 3, 3});
  const nn::Summary views = nn::summary(Twice{{F(both(0))}, {F(both(1))}, {ones({3, 1})}}, ones({4, 3}));
  EXPECT_EQ(views.rows[0].flops, 2. * 4 * 9);
  EXPECT_EQ(views.rows[1].flops, 2. * 4 * 9);
  EXPECT_EQ(views.rows[1].parameters, 9);
  EXPECT_NE(nn::summary(one, ones({2, 3})).str().find("(model)"), std::string::npos);
  // Recording ends with the call, also by an exception.
  EXPECT_THROW(nn::summary(one, ones({2, 4})), ShapeError);
  EXPECT_FALSE(detail::watches_operations());
  EXPECT_EQ(detail::operation_observer, nullptr);
}

}  // namespace summary_test
