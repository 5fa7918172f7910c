#include "nax/nn/modules/sequential.hpp"

#include <gtest/gtest.h>

#include "nax/nn/modules/layers.hpp"
#include "nax/nn/modules/norms.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/random.hpp"
#include "nax/transform/grad.hpp"

namespace sequential_test {
using namespace nax;
using F = Array<float>;

void expect_near(const F& got, const F& want, float tolerance = 1e-5f) {
  ASSERT_EQ(got.shape(), want.shape());
  const auto a = got.to_vector(), b = want.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

TEST(Sequential, CarriesStatisticsAndKeys) {
  const auto key = random::key(3);
  const F x = random::normal(key, {16, 4}) * 2.f + 1.f;
  const auto inner = nn::sequential(nn::BatchNorm<float>::make(4), nn::Dropout{.rate = 0.5});
  const auto model = nn::sequential(
      nn::Linear<float>::make(key, {.in = 4, .out = 4}), inner, [](const F& h) { return nn::relu(h); },
      nn::BatchNorm<float>::make(4));
  auto stats = model.stats();
  auto [y, next] = model(x, stats);
  const auto& [linear, first, act, last] = model.layers;
  const auto [a, first_next] = std::get<0>(first.layers)(linear(x), std::get<0>(std::get<1>(stats)));
  const auto [b, last_next] = last(F(nn::relu(a)), std::get<3>(stats));
  expect_near(y, b);
  expect_near(std::get<0>(std::get<1>(next)).mean, first_next.mean);
  expect_near(std::get<3>(next).var, last_next.var);
  const F noisy = model(key, x, stats).first;
  EXPECT_GT(F(max(abs(noisy - y))).item(), 1e-2);
  expect_near(model(key, x, stats).first, noisy, 0);
  const F used = model(x, stats, {.use_running_average = true}).first;
  expect_near(used, F(last(F(nn::relu(std::get<0>(first.layers)(linear(x), std::get<0>(std::get<1>(stats)),
                                                                {.use_running_average = true})
                                          .first)),
                           std::get<3>(stats), {.use_running_average = true})
                          .first));
  // Keys alone, and gradients with statistics as what else comes out.
  const auto drop = nn::sequential(nn::Dropout{.rate = 0.5}, [](const F& h) { return F(h + 1.f); });
  expect_near(drop(x), F(x + 1.f));
  expect_near(drop(key, x), F(nn::dropout(random::fold_in(key, 0), 0.5, x) + 1.f), 0);
  const auto [value, g] = value_and_grad([&](const auto& m) {
    auto [out, after] = m(key, x, stats);
    return std::pair{F(sum(square(out * x))), after};
  })(model);
  EXPECT_EQ(std::get<0>(g.layers).w.shape(), (Shape{4, 4}));
  expect_near(std::get<0>(std::get<1>(value.second)).mean, std::get<0>(std::get<1>(next)).mean);
}

}  // namespace sequential_test
