#include "nax/nn/generation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nax/nn/modules/transformer.hpp"
#include "nax/random.hpp"
#include "nax/transform/jit.hpp"
#include "support/text_of.hpp"

namespace generation_test {
using namespace nax;
using F = Array<float>;
using I = Array<int>;

// A chain whose next element depends on the last one alone; the cache counts calls.
struct Chain {
  F logits;  // (V, V)
  std::pair<I, F> operator()(const I& calls, const I& tokens) const {
    return {I(calls + 1), F(logits(tokens(_, -1)))};
  }
};
const Chain chain{F{{0, 2, 1, -1}, {1, 0, 3, 0.5}, {0.5, 1, 0, 2}, {2, 1, 0, 0}}};

TEST(SampleLogits, DrawsFromWhatIsKept) {
  const F logits = {{0, 1, 3, 2}, {5, 1, 1, 4}};
  EXPECT_EQ(nn::sample_logits({}, logits).to_vector(), (std::vector<int>{2, 0}));
  EXPECT_EQ(nn::sample_logits(random::key(1), logits, {.temperature = 0}).to_vector(),
            (std::vector<int>{2, 0}));
  EXPECT_EQ(nn::sample_logits(random::key(1), logits, {.top_k = 1}).to_vector(), (std::vector<int>{2, 0}));
  EXPECT_EQ(nn::sample_logits(random::key(1), logits, {.top_p = 0.1}).to_vector(), (std::vector<int>{2, 0}));
  const I two = nn::sample_logits(random::key(1), F(broadcast_to(logits(0), {400, 4})), {.top_k = 2});
  EXPECT_EQ(min(two).item(), 2);
  EXPECT_NEAR(F(mean((two == 2).astype<float>())).item(), 1 / (1 + std::exp(-1.f)), 0.08);
  // Probabilities 0.032, 0.087, 0.644, 0.237: three reach 0.9, two do not.
  const I three = nn::sample_logits(random::key(2), F(broadcast_to(logits(0), {2000, 4})), {.top_p = 0.9});
  EXPECT_EQ(min(three).item(), 1);
  EXPECT_EQ(
      min(nn::sample_logits(random::key(2), F(broadcast_to(logits(0), {2000, 4})), {.top_p = 0.88})).item(),
      2);
  // A temperature divides the logits.
  const I hot =
      nn::sample_logits(random::key(3), F(broadcast_to(logits(0), {4000, 4})), {.temperature = 100});
  EXPECT_NEAR(F(mean((hot == 0).astype<float>())).item(), 0.25, 0.03);
  // A temperature beside which numbers of the type are coarse, or which is none of them.
  const auto halves = logits.astype<nax::half>();
  EXPECT_EQ(nn::sample_logits(random::key(1), halves, {.temperature = 1e-5}).to_vector(),
            (std::vector<int>{2, 0}));
  EXPECT_EQ(nn::sample_logits(random::key(1), logits, {.temperature = 1e-46}).to_vector(),
            (std::vector<int>{2, 0}));
  EXPECT_EQ(nn::sample_logits(random::key(1), logits, {.top_p = 1e-60}).to_vector(),
            (std::vector<int>{2, 0}));
  const auto refused = [&](const nn::SamplingOptions& o, const std::string& text) {
    EXPECT_NE(text_of<ValueError>([&] { nn::sample_logits({}, logits, o); }).find(text), std::string::npos);
  };
  refused({.temperature = -1}, "must not be negative: -1");
  refused({.top_k = 5}, "top_k = 5 of 4 logits");
  refused({.top_p = 0}, "at most 1: 0");
}

TEST(Generate, FollowsTheLikeliest) {
  const I prompt = {{3, 0}, {0, 2}, {2, 3}};
  const I calls = zeros<int>(Shape{});
  EXPECT_EQ(nn::generate(chain, calls, prompt, {.steps = 4}).to_vector(),
            (std::vector<int>{1, 2, 3, 0, 3, 0, 1, 2, 0, 1, 2, 3}));
  EXPECT_EQ(nn::generate(chain, calls, prompt, {.steps = 4, .end = 3}).to_vector(),
            (std::vector<int>{1, 2, 3, 3, 3, 3, 3, 3, 0, 1, 2, 3}));
  EXPECT_EQ(nn::generate(chain, calls, prompt, {.steps = 0}).shape(), (Shape{3, 0}));
  // Stops where all have ended.
  int made = 0;
  const auto counted = [&](const I& c, const I& t) { return ++made, chain(c, t); };
  nn::generate(counted, calls, I(prompt(slice(1, 2))), {.steps = 9, .end = 3});
  EXPECT_EQ(made, 1);
  const auto whole =
      jit([](const I& p) { return nn::generate(chain, zeros<int>(Shape{}), p, {.steps = 4, .end = 3}); });
  EXPECT_EQ(whole(prompt).to_vector(), (std::vector<int>{1, 2, 3, 3, 3, 3, 3, 3, 0, 1, 2, 3}));
  // Draws differ by key and stay for one.
  const auto draw = [&](int key) {
    return nn::generate(chain, calls, prompt, {.steps = 20, .key = random::key(key)}).to_vector();
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
  EXPECT_NE(text_of<ShapeError>([&] {
              nn::generate(chain, calls, I(prompt(0)), {.steps = 1});
            }).find("the prompt must be (B, T) with an element at least, shape (2,)"),
            std::string::npos);
}

struct Gpt {
  F table, places, head;
  std::vector<nn::TransformerEncoderLayer<float>> layers;
  using Caches = std::vector<nn::KeyValueCache<float>>;

  F operator()(const I& text) const {
    F x = table(text) + places(slice(0, text.shape(1)));
    for (const auto& layer : layers) x = layer(x, {.is_causal = true});
    return matmul(x, head);
  }
  std::pair<Caches, F> operator()(Caches caches, const I& text) const {
    F x = table(text) + places(caches[0].length + arange<int>(text.shape(1)));
    for (std::size_t i = 0; i < layers.size(); ++i)
      std::tie(caches[i], x) = layers[i](std::move(caches[i]), x);
    return {std::move(caches), matmul(x, head)};
  }
  Caches caches(std::int64_t batch) const {
    Caches all;
    for (const auto& layer : layers) all.push_back(layer.cache(12, batch));
    return all;
  }
};
Gpt gpt() {
  const auto keys = random::split(random::key(5), 5);
  const auto layer = [&](int i) {
    return nn::TransformerEncoderLayer<float>::make(keys[i], {.features = 8, .heads = 2, .pre_norm = true});
  };
  return {random::normal(keys[0], {6, 8}),
          random::normal(keys[1], {12, 8}),
          random::normal(keys[2], {8, 6}),
          {layer(3), layer(4)}};
}

TEST(Generate, ReadsEachElementOnce) {
  const Gpt model = gpt();
  const I prompt = {{1, 2, 3}, {4, 0, 5}};
  const I got = nn::generate(model, model.caches(2), prompt, {.steps = 6});
  I text = prompt;
  for (int i = 0; i < 6; ++i)
    text = concatenate({text, I(argmax(F(model(text)(_, -1)), {.axis = -1}).reshape({2, 1}))}, {.axis = 1});
  EXPECT_EQ(got.to_vector(), I(text(_, slice(3, 9))).to_vector());
}

TEST(BeamSearch, FindsTheLikeliestOfAll) {
  const Gpt model = gpt();
  const I prompt = {{1, 2, 3}, {4, 0, 5}};
  // As many beams as elements: sequences of two are searched in full.
  const auto full = [&](int row) {
    std::vector<std::pair<float, std::vector<int>>> all;
    for (int a = 0; a < 6; ++a)
      for (int b = 0; b < 6; ++b) {
        const I text = concatenate({I(prompt(slice(row, row + 1))), I{{a, b}}}, {.axis = 1});
        const F likely = nn::log_softmax(model(text));
        all.push_back({F(likely(0, 2, a)).item() + F(likely(0, 3, b)).item(), {a, b}});
      }
    std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
    return all;
  };
  const auto got = nn::beam_search(model, model.caches(2), prompt, {.steps = 2, .beams = 6});
  ASSERT_EQ(got.tokens.shape(), (Shape{2, 6, 2}));
  for (int row = 0; row < 2; ++row) {
    const auto all = full(row);
    for (int k = 0; k < 6; ++k) {
      const std::size_t at = static_cast<std::size_t>(k);
      EXPECT_EQ(I(got.tokens(row, k)).to_vector(), all[at].second);
      EXPECT_NEAR(F(got.scores(row, k)).item(), all[at].first, 1e-4);
    }
  }
  const auto one = nn::beam_search(model, model.caches(2), prompt, {.steps = 5, .beams = 1});
  EXPECT_EQ(one.tokens.reshape({2, 5}).to_vector(),
            nn::generate(model, model.caches(2), prompt, {.steps = 5}).to_vector());
}

TEST(BeamSearch, EndsSequencesAndRanksThemByLength) {
  // 0 leads to the end (1) with 0.4, to 2 with 0.6; 2 to 2 or 1 with 0.5 each.
  const Chain ends{F(log(F{{1e-9f, 0.4f, 0.6f}, {1, 1, 1}, {1e-9f, 0.5f, 0.5f}}))};
  const I start = {{0}}, calls = zeros<int>(Shape{});
  const auto plain = nn::beam_search(ends, calls, start, {.steps = 3, .beams = 2, .end = 1});
  EXPECT_EQ(I(plain.tokens(0, 0)).to_vector(), (std::vector<int>{1, 1, 1}));
  EXPECT_NEAR(F(plain.scores(0, 0)).item(), std::log(0.4f), 1e-5);
  const auto longer =
      nn::beam_search(ends, calls, start, {.steps = 3, .beams = 2, .end = 1, .length_penalty = 2});
  EXPECT_EQ(F(longer.scores(0, 1)).item(), F(plain.scores(0, 0)).item());
  EXPECT_NE(text_of<ValueError>([&] {
              nn::beam_search(ends, calls, start, {.steps = 1, .beams = 4});
            }).find("4 beams of 3 logits"),
            std::string::npos);
}

}  // namespace generation_test
