#include "random/samplers.hpp"

namespace samplers_test {
using namespace nax;
using samplers::expect_close;
using samplers::expect_distribution;

const random::Key key = random::key(42);

template <class T>
void check_all(double relative) {
  const std::string type = sizeof(T) == 4 ? "/f32" : "/f64";
  const Array<T> a = {0.02, 0.3, 0.9, 1.0, 1.7, 4.0, 30.0, 2000.0},
                 b = {1.5, 0.4, 3.0, 1.0, 0.2, 12.0, 25.0, 700.0};
  const auto both = [&](const std::string& name, auto f, const auto&... p) {
    Shape shape = {16};
    shape.push_back(std::get<0>(std::tie(p...)).shape(0));
    expect_close(f(key, p..., shape), name + type, relative, relative / 10);
    if (sizeof(T) == 4 && (name == "gamma" || name == "wald" || name == "triangular"))
      expect_close(f(key, p...), name + "/own" + type, relative, relative / 10);
  };
#define NAX_SAMPLER(name) [](const auto&... x) { return random::name(x...); }
  both("gamma", NAX_SAMPLER(gamma), a);
  both("loggamma", NAX_SAMPLER(loggamma), a);
  both("beta", NAX_SAMPLER(beta), a, b);
  both("chisquare", NAX_SAMPLER(chisquare), Array<T>{0.5, 1.0, 3.0, 40.0});
  both("f", NAX_SAMPLER(f), Array<T>{2.0, 5.0, 11.0}, Array<T>{3.0, 9.0, 40.0});
  both("t", NAX_SAMPLER(t), Array<T>{1.0, 2.5, 30.0});
  both("pareto", NAX_SAMPLER(pareto), Array<T>{0.5, 1.0, 3.0});
  both("rayleigh", NAX_SAMPLER(rayleigh), Array<T>{0.5, 1.0, 3.0});
  both("wald", NAX_SAMPLER(wald), Array<T>{0.5, 1.0, 3.0});
  both("lognormal", NAX_SAMPLER(lognormal), Array<T>{0.25, 1.0, 2.0});
  both("triangular", NAX_SAMPLER(triangular), Array<T>{-1.0, 0.0, 2.0}, Array<T>{0.5, 0.0, 2.5},
       Array<T>{2.0, 1.0, 3.0});
  both("weibull_min", NAX_SAMPLER(weibull_min), Array<T>{0.5, 1.0, 3.0}, Array<T>{0.7, 1.0, 4.0});

  expect_close(random::dirichlet(key, Array<T>{0.1, 1.0, 5.0}, {4}), "dirichlet" + type, relative);
  expect_close(random::generalized_normal<T>(key, 3, {3, 2}), "generalized_normal" + type, relative);
  expect_close(random::maxwell<T>(key, {3, 2}), "maxwell" + type, relative);
  expect_close(random::double_sided_maxwell(key, Array<T>{0, 1}, Array<T>{1, 0.5}, {3}),
               "double_sided_maxwell" + type, relative, relative);
  expect_close(random::ball<T>(key, 3, 2, {4}), "ball" + type, relative);
  for (auto [n, m] : {std::pair{3, 3}, std::pair{2, 4}})
    expect_close(random::orthogonal<T>(key, n, {2}, {.m = m}),
                 "orthogonal." + std::to_string(n) + "," + std::to_string(m) + type, relative, relative);
  const Array<T> mean = {1, -2}, cov = {{2, 0.5}, {0.5, 1}};
  expect_close(random::multivariate_normal(key, mean, cov, {5}), "multivariate_normal" + type, relative,
               relative);
  expect_close(random::multivariate_normal(key, stack({mean, Array<T>(mean * T(2))}), cov),
               "multivariate_normal/own" + type, relative, relative);
}

TEST(Samplers, DrawInFloatAsJax) { check_all<float>(2e-5); }
TEST(Samplers, DrawInDoubleAsJax) { check_all<double>(1e-12); }

const Array<float> rates = {0.f, 0.01f, 0.7f, 3.f, 9.99f, 10.f, 25.f, 400.f, 1e5f, -1.f};

TEST(Samplers, CountLikeJax) {
  samplers::expect_same(random::poisson(key, rates, {12, 10}), "poisson/i32");
  samplers::expect_same(random::poisson(key, rates), "poisson/own/i32");
  EXPECT_EQ(draws::values(random::poisson<std::int64_t>(key, rates)),
            draws::values(random::poisson(key, rates)));
  const Array<float> n = {0, 1, 5, 30, 30, 100, 1000, 25, 10},
                     p = {.5f, .3f, .9f, .02f, .6f, .5f, .97f, 1.f, 0.f};
  samplers::expect_same(random::binomial(key, n, p, {12, 9}), "binomial/f32");
  samplers::expect_same(random::binomial(key, n, p), "binomial/own/f32");
  samplers::expect_same(random::binomial(key, n.astype<double>(), p.astype<double>(), {12, 9}),
                        "binomial/f64");
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Array<float> bad_n = {-1.f, nan, inf, 4.f, 4.f, 4.f, 9.7f},
                     bad_p = {.5f, .5f, .5f, -.1f, 1.1f, nan, .4f};
  samplers::expect_same(random::binomial(key, bad_n, bad_p), "binomial/bad/f32");
  samplers::expect_same(random::geometric(key, Array<float>{.05f, .5f, .9f, 1.f}, {6, 4}), "geometric/i32");
  samplers::expect_same(random::multinomial(key, {20, 500}, {{.2, .3, .5}, {0, .9, .1}}), "multinomial/f32");
  samplers::expect_same(random::multinomial(key, 40, {.25, 0, .75}, {5, 3}), "multinomial.shape/f32");
}

TEST(Samplers, MatchTheirDistributions) {
  const Shape many = {20000};
  expect_distribution(random::gamma<double>(key, 0.4, many), "gamma.0.4");
  expect_distribution(random::gamma(key, 7, many), "gamma.7");
  expect_distribution(random::beta(key, 0.5, 2, many), "beta.0.5,2");
  expect_distribution(random::chisquare(key, 3, many), "chisquare.3");
  expect_distribution(random::f(key, 4, 9, many), "f.4,9");
  expect_distribution(random::t(key, 3, many), "t.3");
  expect_distribution(random::generalized_normal(key, 3, many), "generalized_normal.3");
  expect_distribution(random::maxwell(key, many), "maxwell");
  expect_distribution(random::weibull_min(key, 1.5, 2, many), "weibull_min.1.5,2");
  expect_distribution(random::pareto(key, 3, many), "pareto.3");
  expect_distribution(random::rayleigh(key, 2, many), "rayleigh.2");
  expect_distribution(random::wald(key, 1.5, many), "wald.1.5");
  expect_distribution(random::triangular(key, -1, 0.5, 2, many), "triangular.-1,0.5,2");
  expect_distribution(random::lognormal(key, 0.5, many), "lognormal.0.5");
  expect_distribution(random::poisson(key, 3.5, many), "poisson.3.5");
  expect_distribution(random::poisson(key, 40, many), "poisson.40");
  expect_distribution(random::binomial(key, 12, 0.3, many), "binomial.12,0.3");
  expect_distribution(random::binomial(key, 200, 0.4, many), "binomial.200,0.4");
  expect_distribution(random::geometric(key, 0.3, many), "geometric.0.3");
}

TEST(Samplers, HaveTheirMoments) {
  const Shape many = {40000};
  const auto mean_of = [](const auto& x) { return static_cast<double>(mean(x).item()); };
  const auto both_signs = random::double_sided_maxwell(key, 2.f, 0.5f, many);
  EXPECT_NEAR(mean_of(both_signs), 2, 0.02);
  EXPECT_NEAR(mean_of(square(both_signs - 2.f)), 0.75, 0.02);  // 3 scale^2
  const Array<float> alpha = {0.5f, 1.f, 2.5f}, simplex = random::dirichlet(key, alpha, many);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(mean_of(simplex(_, i)), alpha(i).item() / 4, 0.006);
  EXPECT_NEAR(mean_of(square(simplex(_, 2))), 2.5 * 3.5 / 20, 0.006);
  const auto points = random::ball(key, 4, 2, {20000});
  EXPECT_LE(max(sum(square(points), {.axis = -1})).item(), 1.f);
  EXPECT_NEAR(mean_of(sum(square(points), {.axis = -1})), 4. / 6, 0.006);
  const Array<double> cov = {{2, 0.5}, {0.5, 1}},
                      normals = random::multivariate_normal<double>(key, {1, -2}, cov, many);
  const Array<double> away = normals - Array<double>{1, -2};
  const Array<double> found = matmul(away.T(), away) / 40000.;
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(found(i / 2, i % 2).item(), cov(i / 2, i % 2).item(), 0.04);
  const Array<double> q = random::orthogonal<double>(key, 40, {3});
  EXPECT_LT(max(abs(matmul(q, swapaxes(q, -1, -2)) - eye<double>(40))).item(), 1e-14);
  const auto counts = random::multinomial(key, 50, {1, 2, 1}, {20000, 3});  // as likely as 1 : 2 : 1
  EXPECT_EQ(draws::values(sum(counts, {.axis = -1})), std::vector<double>(20000, 50.));
}

TEST(Samplers, HaveTypes) {
  static_assert(std::is_same_v<decltype(random::gamma(key, 2.0, {3})), Array<float>>);
  static_assert(std::is_same_v<decltype(random::gamma(key, Array<double>{2}, {3})), Array<double>>);
  static_assert(std::is_same_v<decltype(random::beta(key, Array<int>{2}, 3, {3})), Array<float>>);
  static_assert(std::is_same_v<decltype(random::gamma<half>(key, 2.0, {3})), Array<half>>);
  EXPECT_EQ(draws::values(random::gamma<half>(key, 2.0, {3})),
            draws::values(random::gamma(key, 2.f, {3}).astype<half>()));
  EXPECT_EQ(draws::values(random::binomial<bfloat16>(key, 9, 0.5, {3})),
            draws::values(random::binomial(key, 9, 0.5, {3})));
  EXPECT_EQ(draws::values(random::poisson<std::uint8_t>(key, 3, {4})),
            draws::values(random::poisson(key, 3, {4})));
  EXPECT_EQ(random::gamma(key, 2.f, {0, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(random::gamma(key, zeros<float>({2, 0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(random::ball(key, 3).shape(), (Shape{3}));
  EXPECT_EQ(random::orthogonal(key, 0).shape(), (Shape{0, 0}));
  EXPECT_EQ(random::lognormal(key).shape(), Shape{});
  // Expressions are parameters, too.
  const Array<float> a = {1, 2};
  EXPECT_EQ(draws::values(random::gamma(key, a * 2)), draws::values(random::gamma(key, Array<float>{2, 4})));
}

TEST(Samplers, RefuseByName) {
  using samplers::text_of;
  const Array<float> three = {1, 2, 3};
  EXPECT_EQ(text_of([&] { random::gamma(key, three, {2}); }),
            "gamma: a parameter of shape (3,) does not broadcast to the shape (2,)");
  EXPECT_EQ(text_of([&] { random::wald(key, three, {}); }),
            "wald: a parameter of shape (3,) does not broadcast to the shape ()");
  EXPECT_THROW(random::beta(key, three, Array<float>{1, 2}), ShapeError);
  EXPECT_THROW(random::poisson(key, three, {3, 2}), ShapeError);
  EXPECT_THROW(random::binomial(key, three, 0.5, {2, 2}), ShapeError);
  EXPECT_THROW(random::geometric(key, three, {2}), ShapeError);
  EXPECT_THROW(random::multinomial(key, three, {0.5, 0.5}), ShapeError);
  EXPECT_THROW(random::multinomial(key, 3, 0.5), ShapeError);
  EXPECT_THROW(random::dirichlet(key, 1.f, {2}), ValueError);
  EXPECT_THROW(random::multivariate_normal(key, three, eye<float>(2), {2}), ShapeError);
  EXPECT_THROW(random::multivariate_normal(key, three, eye<float>(3), {2}, {.method = "qr"}), ValueError);
  EXPECT_THROW(random::orthogonal(key, -3), ValueError);
  EXPECT_THROW(random::ball(key, -1), ValueError);
  EXPECT_THROW(random::gamma(key, 2.f, {-1}), ValueError);
  EXPECT_EQ(text_of([&] { random::gamma(random::split(key, 2), three); }),
            "gamma: takes one key, not keys of shape (2,); map over them with vmap");
}

}  // namespace samplers_test

#undef NAX_SAMPLER
