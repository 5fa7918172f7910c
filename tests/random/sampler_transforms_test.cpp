#include "random/samplers.hpp"

namespace sampler_transforms_test {
using namespace nax;
using samplers::expect_close;

const random::Key key = random::key(42);
const Array<double> a = {0.02, 0.3, 0.9, 1.0, 1.7, 4.0, 30.0, 2000.0},
                    b = {1.5, 0.4, 3.0, 1.0, 0.2, 12.0, 25.0, 700.0};

TEST(SamplerDerivatives, MatchJax) {
  const auto same = [](const std::string& name, auto f, const Array<double>& x, double relative = 1e-10) {
    const Array<double> g = grad([&](const Array<double>& v) { return sum(f(v)); })(x);
    const golden::Golden& jax = golden::get("samplers", name);
    for (std::size_t i = 0; i < jax.values.size(); ++i) {
      const double value = g(i).item();
      if (jax.values[i] != jax.values[i]) {  // of a root that is 0, by a branch that is not taken
        EXPECT_TRUE(std::isfinite(value)) << name << " at " << i;
      } else {
        EXPECT_NEAR(value, jax.values[i], relative * (1 + std::abs(jax.values[i]))) << name << " at " << i;
      }
    }
  };
  const Shape s = {16, 8}, s3 = {16, 3};
  const Array<double> one = {0.5, 1.0, 3.0}, left = {-1, 0, 2}, mode = {0.5, 0, 2.5}, right = {2, 1, 3};
  same(
      "triangular/grad0", [&](const auto& v) { return random::triangular(key, v, mode, right, s3); }, left);
  same(
      "triangular/grad1", [&](const auto& v) { return random::triangular(key, left, v, right, s3); }, mode);
  same(
      "triangular/grad2", [&](const auto& v) { return random::triangular(key, left, mode, v, s3); }, right);
  same(
      "gamma/grad0", [&](const auto& v) { return random::gamma(key, v, s); }, a, 1e-8);
  same(
      "loggamma/grad0", [&](const auto& v) { return random::loggamma(key, v, s); }, a, 1e-8);
  same(
      "beta/grad0", [&](const auto& v) { return random::beta(key, v, b, s); }, a, 1e-7);
  same(
      "beta/grad1", [&](const auto& v) { return random::beta(key, a, v, s); }, b, 1e-7);
  same(
      "pareto/grad0", [&](const auto& v) { return random::pareto(key, v, s3); }, one);
  same(
      "rayleigh/grad0", [&](const auto& v) { return random::rayleigh(key, v, s3); }, one);
  same(
      "wald/grad0", [&](const auto& v) { return random::wald(key, v, s3); }, one);
  same(
      "lognormal/grad0", [&](const auto& v) { return random::lognormal(key, v, s3); },
      Array<double>{0.25, 1.0, 2.0});
  const Array<double> scale = {0.5, 1.0, 3.0}, concentration = {0.7, 1.0, 4.0};
  same(
      "weibull_min/grad0", [&](const auto& v) { return random::weibull_min(key, v, concentration, s3); },
      scale);
  same(
      "weibull_min/grad1", [&](const auto& v) { return random::weibull_min(key, scale, v, s3); },
      concentration);
  const Array<double> mean = {1, -2}, cov = {{2, 0.5}, {0.5, 1}};
  const auto squares = [](const auto& x) { return sum(square(x)); };
  expect_close(grad([&](const Array<double>& m) {
                 return squares(random::multivariate_normal(key, m, cov, {5}));
               })(mean),
               "multivariate_normal/grad0", 1e-12);
  expect_close(grad([&](const Array<double>& c) {
                 return squares(random::multivariate_normal(key, mean, c, {5}));
               })(cov),
               "multivariate_normal/grad1", 1e-12);
}

TEST(SamplerDerivatives, MatchTheDistribution) {
  const golden::Golden& g = golden::get("samplers", "slopes");
  for (std::size_t i = 0; i < g.values.size(); i += 5) {
    const double* row = g.values.data() + i;
    const auto slopes = rules::math::gamma_slopes<double>(row[0], row[1]);
    EXPECT_NEAR(slopes.first, row[2], 1e-11 * std::abs(row[2])) << row[0] << ' ' << row[1];
    EXPECT_NEAR(slopes.second, row[3], 1e-7 * std::abs(row[3])) << row[0] << ' ' << row[1];
    EXPECT_NEAR(slopes.along, row[4], 1e-7 * std::abs(row[4])) << row[0] << ' ' << row[1];
  }
}

// A draw is constant but for its smooth dependence on alpha, as long as the same attempts are accepted; the
// second derivative is that of the first.
TEST(SamplerDerivatives, HaveDerivatives) {
  const auto loss = [](const Array<double>& v) {
    return sum(square(random::gamma(key, v)) + random::loggamma(key, v));
  };
  const Array<double> x = {0.3, 1.7, 12.0};
  const Array<double> h = hessian(loss)(x);
  const auto slope = [](const Array<double>& alpha, double log_x) {
    return rules::math::gamma_slopes<double>(alpha.item(), log_x);
  };
  const Array<double> logs = random::loggamma(key, x);
  for (int i = 0; i < 3; ++i) {
    // With s the slope of log x: d/dalpha of 2 x^2 s + s along the curve.
    const auto s = slope(x(i), logs(i).item());
    const double total = s.second + s.along * s.first, value = std::exp(logs(i).item());
    const double expected = 4 * value * value * s.first * s.first + 2 * value * value * total + total;
    EXPECT_NEAR(h(i, i).item(), expected, 1e-8 * std::abs(expected));
    EXPECT_EQ(h(i, (i + 1) % 3).item(), 0);
  }
  const auto [y, dy] = jvp(loss, std::tuple{x}, std::tuple{ones_like(x)});
  EXPECT_NEAR(dy.item(), sum(grad(loss)(x)).item(), 1e-10 * std::abs(dy.item()));
}

TEST(SamplerBatches, MatchJax) {
  const auto keys = random::split(key, 3);
  const Array<float> fa = a.astype<float>(), mean = {0.5f, 1, 3};
  expect_close(vmap([&](const random::Key& k) {
                 return random::gamma(k, fa, {2, 8});
               })(keys),
               "gamma/keys", 2e-5, 1e-37);
  expect_close(vmap([&](const random::Key& k) {
                 return random::wald(k, mean, {2, 3});
               })(keys),
               "wald/keys", 2e-5);
  expect_close(vmap([&](const Array<float>& v) { return random::gamma(key, v, {5}); })(fa), "gamma/rows",
               2e-5, 1e-37);
  const Array<float> rates = {0.f, 0.01f, 0.7f, 3.f, 9.99f, 10.f, 25.f, 400.f, 1e5f, -1.f};
  expect_close(vmap([&](const random::Key& k) { return random::poisson(k, rates); })(keys), "poisson/keys",
               0);
}

// Mapped keys, mapped parameters, and both: values and gradients equal a loop's to the last bit.
template <class F>
void batches_as_a_loop(const char* name, F f, const Array<double>& parameters) {
  const std::int64_t n = parameters.shape(0);
  const auto keys = random::split(key, Shape{n});
  const auto expect_rows = [&](const auto& all, auto row) {
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_EQ(draws::values(all(i)), draws::values(row(i))) << name << " at " << i;
  };
  using Draw = decltype(f(key, parameters(0)));
  expect_rows(vmap([&](const random::Key& k) -> Draw { return f(k, parameters(0)); })(keys),
              [&](std::int64_t i) { return f(keys[i], parameters(0)); });
  expect_rows(vmap([&](const Array<double>& p) -> Draw { return f(key, p); })(parameters),
              [&](std::int64_t i) { return f(key, parameters(i)); });
  expect_rows(
      vmap([&](const random::Key& k, const Array<double>& p) -> Draw { return f(k, p); })(keys, parameters),
      [&](std::int64_t i) { return f(keys[i], parameters(i)); });
  if constexpr (std::is_same_v<Draw, Array<double>>) {
    const auto slope = [&](const random::Key& k, const Array<double>& p) {
      return grad([&](const Array<double>& q) { return sum(square(f(k, q))); })(p);
    };
    const Array<double> all = vmap(slope)(keys, parameters);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto v = draws::values(all(i)), w = draws::values(slope(keys[i], parameters(i)));
      for (std::size_t j = 0; j < v.size(); ++j)
        EXPECT_NEAR(v[j], w[j], 1e-12 * (1 + std::abs(w[j]))) << name;
    }
  }
}
using Row = const Array<double>&;
using Key = const random::Key&;

TEST(SamplerBatches, AreLoops) {
  const Array<double> p = {0.4, 1.5, 7};
  batches_as_a_loop(
      "gamma", [](Key k, Row v) { return random::gamma(k, v, {4}); }, p);
  batches_as_a_loop(
      "loggamma", [](Key k, Row v) { return random::loggamma(k, v, {4}); }, p);
  batches_as_a_loop(
      "beta", [](Key k, Row v) { return random::beta(k, v, 2., {4}); }, p);
  batches_as_a_loop(
      "chisquare", [](Key k, Row v) { return random::chisquare(k, v, {4}); }, p);
  batches_as_a_loop(
      "f", [](Key k, Row v) { return random::f(k, v, 3, {4}); }, p);
  batches_as_a_loop(
      "t", [](Key k, Row v) { return random::t(k, v, {4}); }, p);
  batches_as_a_loop(
      "pareto", [](Key k, Row v) { return random::pareto(k, v, {4}); }, p);
  batches_as_a_loop(
      "rayleigh", [](Key k, Row v) { return random::rayleigh(k, v, {4}); }, p);
  batches_as_a_loop(
      "wald", [](Key k, Row v) { return random::wald(k, v, {4}); }, p);
  batches_as_a_loop(
      "lognormal", [](Key k, Row v) { return random::lognormal(k, v, {4}); }, p);
  batches_as_a_loop(
      "generalized_normal", [](Key k, Row v) { return random::generalized_normal(k, v, {4}); }, p);
}
TEST(SamplerBatches, OfVectorsAreLoops) {
  const Array<double> p = {0.4, 1.5, 7}, q = {0.1, 0.5, 0.9};
  batches_as_a_loop(
      "weibull_min", [](Key k, Row v) { return random::weibull_min(k, v, 2, {4}); }, p);
  batches_as_a_loop(
      "triangular", [](Key k, Row v) { return random::triangular(k, 0, v, 9, {4}); }, p);
  batches_as_a_loop(
      "double_sided_maxwell", [](Key k, Row v) { return random::double_sided_maxwell(k, v, v, {4}); }, p);
  batches_as_a_loop(
      "poisson", [](Key k, Row v) { return random::poisson(k, v * 5, {4}); }, p);
  batches_as_a_loop(
      "geometric", [](Key k, Row v) { return random::geometric(k, v, {4}); }, q);
  batches_as_a_loop(
      "binomial", [](Key k, Row v) { return random::binomial(k, 30, v, {4}); }, q);
  batches_as_a_loop(
      "dirichlet", [](Key k, Row v) { return random::dirichlet(k, v, {4}); }, stack({p, q}));
  batches_as_a_loop(
      "multinomial",
      [](Key k, Row v) {
        return random::multinomial(k, 30, v, {4, 3});
      },
      stack({p, q}));
  batches_as_a_loop(
      "multivariate_normal",
      [](Key k, Row v) { return random::multivariate_normal(k, v, eye<double>(3), {4}); }, stack({p, q}));
  const auto keys = random::split(key, 3);
  const Array<double> turns = vmap([](Key k) { return random::orthogonal<double>(k, 3); })(keys);
  EXPECT_EQ(draws::values(turns(1)), draws::values(random::orthogonal<double>(keys[1], 3)));
}

}  // namespace sampler_transforms_test
