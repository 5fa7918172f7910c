// Attention in blocks against its formula: values, derivatives, masks, vmap and memory.

#include <gtest/gtest.h>

#include "nax/nax.hpp"
#include "support/compare.hpp"

namespace attention_test {
using namespace nax;
using A = Array<double>;
using Options = nn::AttentionOptions<double>;

A draw(std::uint64_t seed, const Shape& shape) { return random::normal<double>(random::key(seed), shape); }
auto near(const A& a, const A& b) { return compare::close(a, b, 1e-10); }

// The formula, all pairs stored.
A formula(const A& q, const A& k, const A& v, const Options& options) {
  return nax::detail::AttentionTerms<double>{q, k, v, options}.result();
}

// Values and the three gradients of both.
void expect_agrees(const A& q, const A& k, const A& v, const Options& options) {
  const A weight = draw(9, q.shape());
  const auto loss = [&](auto f) {
    return [=](const A& a, const A& b, const A& c) { return A(sum(f(a, b, c, options) * weight)); };
  };
  const auto blocks = [](const A& a, const A& b, const A& c, const Options& o) {
    return nn::dot_product_attention(a, b, c, o);
  };
  EXPECT_TRUE(near(blocks(q, k, v, options), formula(q, k, v, options)));
  const auto [gq, gk, gv] = grad<0, 1, 2>(loss(blocks))(q, k, v);
  const auto [wq, wk, wv] = grad<0, 1, 2>(loss(formula))(q, k, v);
  EXPECT_TRUE(near(gq, wq));
  EXPECT_TRUE(near(gk, wk));
  EXPECT_TRUE(near(gv, wv));
}

// More rows than a block, and more keys than a block.
const A q = draw(0, {2, 131, 4, 5}), k = draw(1, {2, 530, 2, 5}), v = draw(2, {2, 530, 2, 5});

TEST(AttentionBlocks, AgreeWithTheFormula) {
  expect_agrees(q, k, v, {});
  expect_agrees(q, k, v, {.scale = -0.3});
  expect_agrees(q, k, v, {.is_causal = true});
  expect_agrees(q, k, v, {.local_window_size = nn::AttentionWindow(7, 20)});
  expect_agrees(q(_, slice(3)), k(_, slice(1)), v(_, slice(1)), {});
}

TEST(AttentionBlocks, AgreeUnderMasksAndBias) {
  const Array<bool> padding = draw(3, {2, 1, 1, 530}) > 0, pairs = draw(4, {1, 4, 131, 530}) > 0;
  const A slope = draw(5, {1, 4, 131, 530}), shared = draw(6, {1, 1, 1, 530});
  expect_agrees(q, k, v, {.mask = padding});
  expect_agrees(q, k, v, {.bias = slope, .mask = pairs, .is_causal = true});
  expect_agrees(q, k, v, {.bias = shared});
  expect_agrees(q, k, v,
                {.query_seq_lengths = Array<int>{131, 40}, .key_value_seq_lengths = Array<int>{3, 529}});
}

// A row with no visible key weighs all keys equally; a bias of minus infinity hides keys as well.
TEST(AttentionBlocks, AgreeWhereNoKeyIsVisible) {
  const Array<bool> none_of_first = (arange<int>(131) > 2).reshape({1, 1, 131, 1});
  expect_agrees(q, k, v, {.mask = none_of_first});
  expect_agrees(q, k, v, {.key_value_seq_lengths = Array<int>{0, 530}});
  expect_agrees(q, k, v, {.local_window_size = nn::AttentionWindow(-140, 150)});
  const A late = where(arange<int>(530) >= 525, A(0.0), A(-INFINITY)).reshape({1, 1, 1, 530});
  expect_agrees(q, k, v, {.bias = late});
}

// Rows all of a great bias: weights are computed again with the digits of others.
TEST(AttentionBlocks, AgreeUnderGreatBias) {
  for (const double least : {-1e17, std::numeric_limits<double>::lowest(), 1e17})
    expect_agrees(q, k, v,
                  {.bias = where((arange<int>(131) < 50).reshape({1, 1, 131, 1}), A(least), A(0.5))});
}

// Seen keys whose logits lie below that of keys that are ruled out: weights and gradients as JAX has them, by
// the kernels, by the formula, by its derivatives.
TEST(AttentionBlocks, WeighLowRowsAsJax) {
  using F = Array<float>;
  for (const std::string bias : {"lowest", "above", "equal", "infinite"}) {
    const auto record = [&](const std::string& what) {
      return compare::array_of<float>(golden::get("conv", "attention_low." + bias + what));
    };
    const F a = record("/f32/in0"), b = record("/f32/in1"), c = record("/f32/in2"), g = record("/f32/in3");
    const nn::AttentionOptions<float> options{.bias = record("/f32/in4"),
                                              .mask = record("/f32/in5").astype<bool>()};
    const auto near = [](const F& got, const F& want) { return compare::close(got, want, 2e-6); };
    const auto expect = [&](const F& y, const std::array<F, 3>& shares) {
      EXPECT_TRUE(near(y, record("/f32/out"))) << bias;
      const char* const names[] = {".q", ".k", ".v"};
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(near(shares[i], record(names[i] + std::string("/f32/out")))) << bias << names[i];
    };
    const auto blocks = [&](const F& x, const F& y, const F& z) {
      return nn::dot_product_attention(x, y, z, options);
    };
    const auto [y, pull] = vjp(blocks, a, b, c);
    const auto [dq, dk, dv] = pull(g);
    expect(y, {dq, dk, dv});
    const nax::detail::AttentionTerms<float> terms{a, b, c, options};
    expect(terms.result(), terms.gradients(g));
    expect(terms.result(), {terms.gradient(g, 0), terms.gradient(g, 1), terms.gradient(g, 2)});
    const auto fast =
        jit([&](const F& x, const F& z) { return std::get<1>(vjp(blocks, x, b, z).second(g)); });
    for (int turn = 0; turn < 3; ++turn) EXPECT_TRUE(near(fast(a, c), dk));
  }
}
// Many rows and keys, so that low rows stand beside others in a block, and a block of keys is not seen at
// all.
TEST(AttentionBlocks, AgreeWhereLowRowsAreSome) {
  const double lowest = std::numeric_limits<double>::lowest();
  const A bias = where((arange<int>(131) % 3 == 0).reshape({1, 1, 131, 1}), A(lowest), A(0.5));
  expect_agrees(q, k, v, {.bias = bias, .is_causal = true});
  expect_agrees(q, k, v, {.bias = bias, .mask = draw(4, {1, 4, 131, 530}) > 0});
  expect_agrees(q, k, v, {.bias = bias, .key_value_seq_lengths = Array<int>{0, 7}});
  expect_agrees(q, k, v, {.bias = bias, .is_causal = true, .query_seq_lengths = Array<int>{131, 40}});
}

TEST(AttentionBlocks, ReadStridedOperands) {
  const A packed = draw(3, {2, 20, 3, 4, 6});
  const auto part = [&](int i) { return A(packed(_, _, i)); };
  expect_agrees(part(0), part(1), part(2), {.is_causal = true});
  const A turned = draw(4, {2, 4, 6, 20}).transpose({0, 3, 1, 2}), backward = flip(turned, {.axis = 1});
  expect_agrees(turned, backward, flip(turned, {.axis = 3}), {});
}

TEST(AttentionBlocks, BatchAsALoop) {
  const A qs = draw(0, {3, 2, 5, 4, 6}), ks = draw(1, {3, 2, 7, 2, 6}), one = draw(2, {2, 7, 2, 6});
  const Array<bool> masks = draw(3, {3, 2, 1, 5, 7}) > -0.5;
  const auto loss = [](const A& a, const A& b, const A& c, const Array<bool>& m) {
    return A(sum(square(nn::dot_product_attention(a, b, c, {.mask = m, .is_causal = true}))));
  };
  const auto f = grad<0, 1, 2>(loss);
  const auto [gq, gk, gv] = vmap(f, {.in_axes = {0, 0, none, 0}})(qs, ks, one, masks);
  for (int i = 0; i < 3; ++i) {
    const auto [wq, wk, wv] = f(qs(i), ks(i), one, masks(i));
    EXPECT_TRUE(near(gq(i), wq) && near(gk(i), wk) && near(gv(i), wv)) << i;
  }
  // A cotangent with an axis that the operands have not.
  const auto once = [&](const A& a) {
    return A(sum(nn::dot_product_attention(a, ks(0), one), {.axis = {0, 2}}));
  };
  EXPECT_TRUE(near(jacrev(once)(qs(0)), jacfwd(once)(qs(0))));
}

TEST(AttentionBlocks, DifferentiateTwice) {
  const A a = draw(0, {4, 2, 3}), b = draw(1, {6, 2, 3});
  const auto first = [](auto f) {
    return [=](const A& x, const A& y) {
      return A(sum(sin(grad<1>([&](const A& p, const A& r) { return A(sum(square(f(p, r)))); })(x, y))));
    };
  };
  const auto blocks = [](const A& x, const A& y) {
    return nn::dot_product_attention(x, y, y * 2.0, {.is_causal = true});
  };
  const auto plain = [](const A& x, const A& y) {
    return formula(x.reshape({1, 4, 2, 3}), y.reshape({1, 6, 2, 3}), (y * 2.0).reshape({1, 6, 2, 3}),
                   {.is_causal = true});
  };
  EXPECT_TRUE(near(grad(first(blocks))(a, b), grad(first(plain))(a, b)));
  EXPECT_TRUE(near(grad<1>(first(blocks))(a, b), grad<1>(first(plain))(a, b)));
}

TEST(AttentionBlocks, PullbackIsReusable) {
  const auto f = [](const A& x) { return nn::dot_product_attention(x, x, x, {.is_causal = true}); };
  const A x = draw(0, {5, 2, 4}), g = draw(1, {5, 2, 4});
  const auto [y, pull] = vjp(f, x);
  const auto [once] = pull(g);
  const auto [twice] = pull(g * 2.0);
  const auto [again] = pull(g);
  EXPECT_TRUE(near(once * 2.0, twice));
  EXPECT_EQ(once.to_vector(), again.to_vector());
}

// The peak above what is in use before, for values and gradients of T queries and keys.
std::size_t peak_of(std::int64_t t) {
  const auto x = random::normal<float>(random::key(0), {1, t, 2, 16});
  const auto f = [](const Array<float>& a) {
    return Array<float>(sum(nn::dot_product_attention(a, a, a, {.is_causal = true})));
  };
  const std::size_t before = memory_stats().in_use;
  reset_peak_memory();
  const Array<float> g = grad(f)(x);
  return memory_stats().peak - before;
}

TEST(AttentionBlocks, MemoryIsLinearInTheLength) {
  const ThreadLimit one(1);
  peak_of(64);
  const std::size_t half = peak_of(1024), whole = peak_of(2048);
  EXPECT_LT(whole, 2 * half);
  EXPECT_LT(whole, std::size_t{2048} * 2048 * sizeof(float) / 2);
}

TEST(AttentionBlocks, ThreadsDoNotChangeTheBits) {
  const auto x = random::normal<float>(random::key(0), {2, 300, 4, 16});
  const auto f = [](const Array<float>& a) {
    return Array<float>(sum(square(nn::dot_product_attention(a, a, a))));
  };
  const Array<float> together = grad(f)(x);
  const ThreadLimit one(1);
  EXPECT_EQ(grad(f)(x).to_vector(), together.to_vector());
}

TEST(AttentionBlocks, HalvesAreComputedInFloat) {
  const auto x = random::normal<float>(random::key(0), {2, 9, 2, 8}).astype<bfloat16>();
  const Array<float> wide = x.astype<float>();
  EXPECT_EQ(nn::dot_product_attention(x, x, x).astype<float>().to_vector(),
            nn::dot_product_attention(wide, wide, wide).astype<bfloat16>().astype<float>().to_vector());
}

}  // namespace attention_test
