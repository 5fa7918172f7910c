#pragma once

#include <nax/nax.hpp>

// Small networks whose weights are drawn.
namespace nets {
using namespace nax;
using A = Array<float>;

inline A draw(int seed, const Shape& shape) { return random::normal<float>(random::key(seed), shape); }

struct Mlp {
  nn::Linear<float> a = nn::Linear<float>::make(random::key(0), {8, 16}),
                    b = nn::Linear<float>::make(random::key(1), {16, 4});
  A operator()(const A& x) const { return b(nn::gelu(a(x), {.approximate = false})); }
};

struct Block {
  nn::Conv<float> a, b, c;
  nn::BatchNorm<float> m = nn::BatchNorm<float>::make(16), n = m;
  nn::BatchStats<float> s = {draw(1, {16}), exp(draw(2, {16}))}, t = {draw(3, {16}), exp(draw(4, {16}))};

  static nn::Conv<float> conv(int seed, std::int64_t in, std::int64_t extent, std::int64_t stride,
                              std::int64_t groups = 1) {
    return nn::Conv<float>::make(random::key(seed),
                                 {.in = in,
                                  .out = 16,
                                  .kernel = {extent, extent},
                                  .conv = {.strides = {stride, stride}, .feature_group_count = groups}});
  }
  Block() : a(conv(5, 8, 3, 2)), b(conv(6, 16, 3, 1, 4)), c(conv(7, 8, 1, 2)) {}
  A operator()(const A& x) const {
    const nn::BatchNormOptions fixed = {.use_running_average = true};
    const A y = nn::relu(m(a(x), s, fixed).first);
    return nn::relu(n(b(y), t, fixed).first + c(x));
  }
};
struct ResNet {
  nn::Conv<float> stem = nn::Conv<float>::make(
      random::key(8), {.in = 3, .out = 8, .kernel = {3, 3}, .conv = {.strides = {2, 2}}});
  Block block;
  nn::Linear<float> head = nn::Linear<float>::make(random::key(9), {16, 5});
  A operator()(const A& x) const {
    A y = nn::max_pool(nn::relu(stem(x)), {3, 3}, {.strides = {2, 2}, .padding = "SAME"});
    y = nn::avg_pool(block(y), {2, 2}, {.strides = {2, 2}});
    return head(mean(y, {.axis = {1, 2}}));
  }
};

struct Encoder {
  nn::Embedding<float> tokens = nn::Embedding<float>::make(random::key(10), {50, 16}),
                       places = nn::Embedding<float>::make(random::key(11), {32, 16});
  nn::MultiHeadAttention<float> attention =
      nn::MultiHeadAttention<float>::make(random::key(12), {.features = 16, .heads = 4, .bias = true});
  nn::LayerNorm<float> m = nn::LayerNorm<float>::make({16}), n = m;
  nn::Linear<float> up = nn::Linear<float>::make(random::key(13), {16, 64}),
                    down = nn::Linear<float>::make(random::key(14), {64, 16});
  A operator()(const Array<int>& ids, const Array<bool>& mask) const {
    A x = tokens(ids) + places(arange<int>(static_cast<int>(ids.shape(1))));
    x = m(x + attention(x, {.mask = mask.reshape({mask.shape(0), 1, 1, mask.shape(1)})}));
    return n(x + down(nn::gelu(up(x))));
  }
};

struct Lstm {
  nn::LSTM<float> cells = nn::LSTM<float>::make(random::key(15), {.in = 5, .units = 6});
  A operator()(const A& x) const { return cells(cells.state({2}), x).second; }
};

}  // namespace nets
