// rms_norm and softmax_cross_entropy: the kernels of rows against formulas, values and derivatives.

#include <gtest/gtest.h>

#include "nax/nax.hpp"

namespace row_losses_test {
using namespace nax;
using A = Array<double>;

void expect_near(const A& a, const A& b, double tolerance = 1e-10) {
  ASSERT_EQ(to_string(a.shape()), to_string(b.shape()));
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], tolerance * (1 + std::abs(y[i]))) << i;
}

A rms_formula(const A& x, const A& scale) {
  return x * rsqrt(mean(square(x), {.axis = -1, .keepdims = true}) + 1e-6) * scale;
}
A entropy_formula(const A& x, const A& labels) { return -sum(nn::log_softmax(x) * labels, {.axis = -1}); }
A rms(const A& x, const A& scale) { return nn::rms_norm(x, scale); }
A entropy(const A& x, const A& labels) { return nn::softmax_cross_entropy(x, labels); }

A normal(int key, const Shape& shape) { return random::normal<double>(random::key(key), shape); }

// Values, gradients, second derivatives, tangents and gradients of each row are those of the formula.
template <class Ours, class Theirs>
void expect_alike(const Ours& ours, const Theirs& theirs, const A& x, const A& p) {
  expect_near(ours(x, p), theirs(x, p));
  const auto both = [&](const auto& of) { expect_near(of(ours), of(theirs)); };
  const auto loss = [](const auto& f) {
    return [f](const A& a, const A& b) {
      const A y = f(a, b);
      return A(sum(sin(y) * y));
    };
  };
  both([&](const auto& f) { return grad<0>(loss(f))(x, p); });
  both([&](const auto& f) { return grad<1>(loss(f))(x, p); });
  both([&](const auto& f) { return std::get<1>(grad<0, 1>(loss(f))(x, p)); });
  both([&](const auto& f) { return grad([=](const A& a, const A& b) { return A(mean(f(a, b))); })(x, p); });
  both([&](const auto& f) {
    return grad([&](const A& a) {
      const auto [gx, gp] = grad<0, 1>(loss(f))(a, p);
      return A(sum(gx * gx) + sum(cos(gp)));
    })(x);
  });
  both([&](const auto& f) {
    return jvp([&](const A& a, const A& b) { return f(a, b); }, std::tuple{x, p}, std::tuple{x * x, p + 1.})
        .second;
  });
  both([&](const auto& f) { return jacobian([&](const A& a) { return f(a, p); })(x); });
}

TEST(RowLosses, RmsNormIsItsFormula) {
  for (const std::int64_t n : {1, 3, 17, 300}) {
    SCOPED_TRACE(n);
    expect_alike(rms, rms_formula, normal(0, {3, n}), normal(1, {n}));
    // Rows of an example each, and rows that lie apart.
    expect_near(vmap(rms, {.in_axes = {0, none}})(normal(0, {2, 3, n}), normal(1, {n})),
                rms_formula(normal(0, {2, 3, n}), normal(1, {n})));
    const A apart = normal(2, {n, 3}).T();
    expect_alike(rms, rms_formula, apart, normal(1, {n}));
  }
}

TEST(RowLosses, CrossEntropyIsItsFormula) {
  for (const std::int64_t n : {1, 3, 17, 300}) {
    SCOPED_TRACE(n);
    expect_alike(entropy, entropy_formula, normal(0, {3, n}) * 4., A(nn::softmax(normal(1, {3, n}))));
    const A x = normal(0, {2, 3, n}), labels = normal(1, {2, 3, n});
    expect_near(vmap(entropy)(x, labels), entropy_formula(x, labels));
    expect_near(vmap([](const A& a, const A& b) {
                  return grad([&](const A& c) { return A(sum(entropy(c, b))); })(a);
                })(x, labels),
                grad([&](const A& a) { return A(sum(entropy_formula(a, labels))); })(x));
  }
}

// Large logits lose nothing to the greatest of them.
TEST(RowLosses, CrossEntropyOfLargeLogits) {
  const Array<float> x = {{10000, 10001, 9990}}, labels = {{1, 0, 0}};
  EXPECT_NEAR(nn::softmax_cross_entropy(x, labels)(0).item(), 1.3132834f, 1e-5f);
  const auto g = grad(
      [&](const Array<float>& a) { return Array<float>(mean(nn::softmax_cross_entropy(a, labels))); })(x);
  EXPECT_NEAR(g(0, 0).item(), 0.26893f - 1, 1e-4f);
  EXPECT_NEAR(g(0, 1).item(), 0.73105f, 1e-4f);
}

// Sums over many rows are exact to the rounding of their result.
TEST(RowLosses, GradientsOfParametersOfManyRows) {
  const Array<float> x = random::normal<float>(random::key(0), {20000, 150});
  const Array<float> one = ones<float>({150});
  const auto loss = [](const auto& rows, const auto& scale, const auto& bias) {
    return sum(square(nn::layer_norm(rows, scale, bias)));
  };
  const auto [gs, gb] = grad<1, 2>(loss)(x, one, one);
  const A wide = x.astype<double>(), ones_wide = one.astype<double>();
  const auto [hs, hb] = grad<1, 2>(loss)(wide, ones_wide, ones_wide);
  expect_near(gs.astype<double>(), hs, 1e-5);
  expect_near(gb.astype<double>(), hb, 1e-5);
}

}  // namespace row_losses_test
