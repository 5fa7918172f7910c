#include <gtest/gtest.h>

#include "nax/lax/scan.hpp"
#include "nax/nn/modules/attention.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/random.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"
#include "support/text_of.hpp"

// A cache gives the results of attention to the whole sequence, for every division into pieces.
namespace attention_cache_test {
using namespace nax;
using F = Array<float>;
using Heads = nn::MultiHeadAttention<float>;
using Cache = nn::KeyValueCache<float>;

void expect_near(const F& got, const F& want, float tolerance = 2e-6f) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = got.to_vector(), b = want.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

Heads heads(std::int64_t key_value_heads) {
  auto made = Heads::make(random::key(1), {.features = 12, .heads = 4, .key_value_heads = key_value_heads});
  made.params.key_bias = random::normal(random::key(2), {made.params.key.shape(1), 3});
  return made;
}

// The results of the pieces that x (..., T, 12) is cut into, one call for each.
F in_pieces(const Heads& h, Cache cache, const F& x, const std::vector<std::int64_t>& cuts,
            const nn::CachedAttentionOptions& options = {}) {
  const std::int64_t axis = x.ndim() - 2;
  std::vector<F> all;
  std::int64_t begin = 0;
  for (const std::int64_t count : cuts) {
    F y;
    std::tie(cache, y) = h(std::move(cache), lax::dynamic_slice_in_dim(x, begin, count, axis), options);
    all.push_back(y);
    begin += count;
    EXPECT_EQ(cache.length.item(), begin);
  }
  return concatenate(all, {.axis = axis});
}

TEST(AttentionCache, EqualsUncachedAttentionForAnyPieces) {
  const F x = random::normal(random::key(3), {2, 7, 12});
  for (const std::int64_t groups : {4, 2, 1}) {
    const Heads h = heads(groups);
    const F want = h(x, {.is_causal = true});
    for (const std::int64_t slots : {7, 16})
      for (const auto& cuts : std::vector<std::vector<std::int64_t>>{
               {7}, {1, 1, 1, 1, 1, 1, 1}, {4, 1, 1, 1}, {3, 4}, {1, 5, 1}, {2, 0, 5}})
        expect_near(in_pieces(h, h.cache(slots, 2), x, cuts), want);
    expect_near(in_pieces(h, h.cache(9), F(x(0)), {3, 1, 3}), F(want(0)));
  }
}

TEST(AttentionCache, TakesWindowMaskAndScale) {
  const F x = random::normal(random::key(4), {2, 7, 12});
  const Heads h = heads(2);
  for (const std::int64_t window : {0, 1, 3, 20}) {
    const F want = h(x, {.scale = 0.3, .is_causal = true, .local_window_size = {window, 0}});
    for (const auto& cuts : std::vector<std::vector<std::int64_t>>{{7}, {4, 1, 1, 1}, {2, 5}})
      expect_near(in_pieces(h, h.cache(8, 2), x, cuts, {.scale = 0.3, .window = window}), want);
  }
  // The first two elements of the second sequence are padding.
  const Array<bool> all = {{true, true, true, true, true, true, true, true},
                           {false, false, true, true, true, true, true, true}};
  const Array<bool> seen = all.reshape({2, 1, 1, 8});
  const F want = h(x, {.mask = Array<bool>(seen(_, _, _, slice(0, 7))), .is_causal = true});
  const F got = in_pieces(h, h.cache(8, 2), x, {3, 2, 1, 1}, {.mask = seen});
  expect_near(F(got(0)), F(want(0)));
  expect_near(F(got(1)(slice(2, 7))), F(want(1)(slice(2, 7))));
  EXPECT_NE(text_of<ShapeError>([&] {
              h(h.cache(9, 2), x, {.mask = seen});
            }).find("with 9 slots, shape (2, 1, 1, 8)"),
            std::string::npos);
}

TEST(AttentionCache, IsACarryOfScan) {
  const F x = random::normal(random::key(5), {6, 2, 12});  // time first
  const Heads h = heads(2);
  const auto [last, rows] = lax::scan(
      [&](const Cache& cache, const F& row) {
        const auto [next, y] = h(cache, F(row.reshape({2, 1, 12})));
        return std::pair<Cache, F>(next, y.reshape({2, 12}));
      },
      h.cache(6, 2), x);
  EXPECT_EQ(last.length.item(), 6);
  expect_near(rows, F(h(F(x.transpose({1, 0, 2})), {.is_causal = true}).transpose({1, 0, 2})));
}

TEST(AttentionCache, HoldsOtherLengthsUnderVmap) {
  const F x = random::normal(random::key(6), {2, 6, 12});
  const Heads h = heads(2);
  const F first = in_pieces(h, h.cache(8), F(x(0)), {6}), second = in_pieces(h, h.cache(8), F(x(1)), {6});
  // One sequence has 4 elements in its cache, the other 1.
  const Cache a = h(h.cache(8), F(x(0)(slice(0, 4)))).first, b = h(h.cache(8), F(x(1)(slice(0, 1)))).first;
  const Cache both{stack({a.key, b.key}), stack({a.value, b.value}), stack({a.length, b.length})};
  const F more = stack({F(x(0)(slice(4, 6))), F(x(1)(slice(1, 3)))});
  const auto step = [&](const Cache& cache, const F& rows) { return h(cache, rows); };
  const auto [next, y] = vmap(step)(both, more);
  expect_near(F(y(0)), F(first(slice(4, 6))));
  expect_near(F(y(1)), F(second(slice(1, 3))));
  EXPECT_EQ(next.length.to_vector(), (std::vector<int>{6, 3}));
  expect_near(F(next.key(1)(slice(0, 1))), F(b.key(slice(0, 1))));
  const Cache full{both.key, both.value, Array<int>{7, 1}};
  EXPECT_THROW(vmap(step)(full, more), ValueError);
}

TEST(AttentionCache, HasTheGradientOfUncachedAttention) {
  const F x = random::normal(random::key(7), {5, 12});
  const Heads h = heads(2);
  const auto cached = [&](const Heads& m) { return sum(square(in_pieces(m, m.cache(6), x, {2, 1, 2}))); };
  const auto whole = [&](const Heads& m) { return sum(square(m(x, {.is_causal = true}))); };
  const Heads got = grad(cached)(h), want = grad(whole)(h);
  tree::for_each([](const F& g, const F& w) { expect_near(g, w, 2e-5f); }, got, want);
}

TEST(AttentionCache, IsFilledInPlaceWhereMovedIn) {
  const Heads h = heads(4);
  const F x = random::normal(random::key(8), {1, 12});
  const Cache kept = h.cache(4);
  const Cache next = h(kept, x).first;
  EXPECT_EQ(kept.length.item(), 0);
  EXPECT_EQ(sum(abs(kept.key)).item(), 0.f);
  EXPECT_GT(sum(abs(next.key)).item(), 0.f);
  Cache cache = h.cache(4);
  const float* const keys = cache.key.data();
  for (int i = 0; i < 4; ++i) cache = h(std::move(cache), x).first;
  EXPECT_EQ(cache.key.data(), keys);
  EXPECT_NE(text_of<ValueError>([&] { h(cache, x); }).find("no room for 1 more elements: 4 slots"),
            std::string::npos);
  EXPECT_NE(text_of<ShapeError>([&] { h(cache, F(x(0))); }).find("shape (12,) do not fit"),
            std::string::npos);
}

TEST(AttentionCache, UpdatesOfMovedArraysAreInPlace) {
  F x = zeros({4, 3});
  const F shared = x;
  x = lax::dynamic_update_slice_in_dim(std::move(x), ones({1, 3}), 2, 0);
  EXPECT_EQ(sum(shared).item(), 0.f);
  EXPECT_EQ(sum(x).item(), 3.f);
  const float* const at = x.data();
  x = lax::dynamic_update_slice_in_dim(std::move(x), ones({1, 3}), 0, 0);
  x = lax::dynamic_update_slice(std::move(x), full({2, 1}, 5.f), {2, 1});
  EXPECT_EQ(x.data(), at);
  EXPECT_EQ(x.to_vector(), (std::vector<float>{1, 1, 1, 0, 0, 0, 1, 5, 1, 0, 5, 0}));
}

}  // namespace attention_cache_test
