// standardize and layer_norm: the kernels of rows against the formula, values and derivatives.

#include <gtest/gtest.h>

#include "nax/nax.hpp"
#include "support/compare.hpp"

namespace normalization_test {
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

// All three arguments of layer_norm at once, under other transforms and with rows that lie apart.
TEST(Normalization, ParametersUnderTransforms) {
  const A x = random::normal<double>(random::key(0), {3, 4, 19}),
          scale = random::normal<double>(random::key(1), {19}),
          bias = random::normal<double>(random::key(2), {19}),
          w = random::normal<double>(random::key(3), {3, 4, 19});
  const auto ours = [](const A& a, const A& s, const A& b) { return nn::layer_norm(a, s, b); };
  const auto theirs = [](const A& a, const A& s, const A& b) { return formula(a, s, b); };
  using Gradients = std::tuple<A, A, A>;
  const auto agree = [&](const auto& of_layer) {
    const Gradients mine = of_layer(ours), expected = of_layer(theirs);
    EXPECT_TRUE(near(std::get<0>(mine), std::get<0>(expected)));
    EXPECT_TRUE(near(std::get<1>(mine), std::get<1>(expected)));
    EXPECT_TRUE(near(std::get<2>(mine), std::get<2>(expected)));
  };
  const auto squares = [](const auto& layer, const A& weights) {
    return [=](const A& a, const A& s, const A& b) {
      const A y = layer(a, s, b);
      return A(sum(y * y * weights));
    };
  };
  agree([&](const auto& layer) {  // rows that lie apart
    return grad<0, 1, 2>(squares(layer, transpose(w, {1, 0, 2})))(transpose(x, {1, 0, 2}), scale, bias);
  });
  agree([&](const auto& layer) {  // an example's own gradients
    const auto one = [&, layer](const A& a, const A& weights) {
      return grad<0, 1, 2>(squares(layer, weights))(a, scale, bias);
    };
    return vmap(one)(x, w);
  });
  agree([&](const auto& layer) {  // one gradient of all examples
    const auto mapped = [layer](const A& a, const A& s, const A& b) {
      return vmap([&](const A& row) { return A(layer(row, s, b)); })(a);
    };
    return grad<0, 1, 2>(squares(mapped, w))(x, scale, bias);
  });
  agree([&](const auto& layer) {  // second order
    return grad<0, 1, 2>([&, layer](const A& a, const A& s, const A& b) {
      const auto [gx, gs, gb] = grad<0, 1, 2>(squares(layer, w))(a, s, b);
      return A(sum(sin(gx * 0.1) * w) + sum(gs * s) * 0.01 + sum(square(gb)) * 0.001);
    })(x, scale, bias);
  });
}

}  // namespace normalization_test
