// standardize and layer_norm: the kernels of rows against the formula, values and derivatives.

#include <gtest/gtest.h>

#include "nax/nax.hpp"
#include "support/compare.hpp"

namespace {
using namespace nax;
using A = Array<double>;

auto near(const A& a, const A& b) { return compare::close(a, b, 1e-11); }

A formula(const A& x, const A& scale, const A& bias) {
  const A centred = x - mean(x, {.axis = -1, .keepdims = true});
  return centred * rsqrt(mean(square(centred), {.axis = -1, .keepdims = true}) + 1e-5) * scale + bias;
}

TEST(Normalization, RowsAgreeWithTheFormula) {
  for (const std::int64_t n : {1, 3, 8, 17, 64, 1000}) {
    const A x = random::normal<double>(random::key(n), {4, n}) * 3.0 + 1.0;
    const A scale = random::normal<double>(random::key(1), {n}),
            bias = random::normal<double>(random::key(2), {n});
    EXPECT_TRUE(near(nn::layer_norm(x, scale, bias), formula(x, scale, bias)));
    EXPECT_TRUE(near(nn::standardize(x), formula(x, ones<double>({n}), zeros<double>({n}))));
    // A scale that is not one plain row.
    EXPECT_TRUE(near(nn::layer_norm(x, scale.reshape({1, n}), bias), formula(x, scale, bias)));
  }
}

TEST(Normalization, DerivativesAgreeWithTheFormula) {
  const A x = random::normal<double>(random::key(0), {3, 19}),
          scale = random::normal<double>(random::key(1), {19}),
          bias = random::normal<double>(random::key(2), {19}),
          w = random::normal<double>(random::key(3), {3, 19});
  const auto loss = [&](const auto& layer) {
    return [&, layer](const A& a, const A& s, const A& b) { return A(sum(layer(a, s, b) * w)); };
  };
  const auto ours = loss([](const A& a, const A& s, const A& b) { return nn::layer_norm(a, s, b); });
  const auto theirs = loss(formula);
  const auto [gx, gs, gb] = grad<0, 1, 2>(ours)(x, scale, bias);
  const auto [hx, hs, hb] = grad<0, 1, 2>(theirs)(x, scale, bias);
  EXPECT_TRUE(near(gx, hx) && near(gs, hs) && near(gb, hb));

  const auto of_x = [&](const auto& f) { return [&](const A& a) { return f(a, scale, bias); }; };
  const auto twice = [&](const auto& f) {
    return grad([&, f](const A& a) { return A(sum(grad(of_x(f))(a) * cos(a))); })(x);
  };
  EXPECT_TRUE(near(twice(ours), twice(theirs)));
  const auto pushed = [&](const auto& layer) {
    return std::get<1>(
        jvp([&](const A& a) { return A(layer(a, scale, bias)); }, std::tuple{x}, std::tuple{w}));
  };
  EXPECT_TRUE(near(pushed([](const A& a, const A& s, const A& b) { return nn::layer_norm(a, s, b); }),
                   pushed(formula)));
  // Mapped over, with everything batched or the parameters shared.
  const A rows = vmap([&](const A& a) { return nn::layer_norm(a, scale, bias); })(x);
  EXPECT_TRUE(near(rows, formula(x, scale, bias)));
  const A each = vmap([&](const A& a, const A& s) {
    return A(grad([&](const A& v) { return A(sum(nn::layer_norm(v, s, bias) * s)); })(a));
  })(x, w);
  for (std::int64_t r = 0; r < 3; ++r) {
    const A one = grad([&](const A& v) { return A(sum(formula(v, A(w(r)), bias) * A(w(r)))); })(A(x(r)));
    EXPECT_TRUE(near(A(each(r)), one));
  }
}

}  // namespace
