#include "nax/optim/wrappers.hpp"

#include <limits>

#include "nax/numpy/reductions/close.hpp"
#include "nax/optim/adam.hpp"
#include "nax/optim/factored.hpp"
#include "nax/optim/joined_schedules.hpp"
#include "nax/optim/moments.hpp"
#include "nax/optim/scaling.hpp"
#include "nax/optim/sgd.hpp"
#include "nax/transform/vmap.hpp"
#include "optim/train.hpp"

namespace wrappers_test {

using namespace nax;
using train::check;
using train::Params;

const auto is_w = [](const std::string& path) { return path == ".w"; };

TEST(Wrappers, StepAsOptax) {
  check("multi_steps=3.adam", optim::multi_steps(optim::adam(0.1), 3));
  check("masked.adam", optim::chain(optim::masked(optim::scale_by_adam(), is_w), optim::scale(-0.1)));
  check("multi_transform",
        optim::multi_transform([](const std::string& path) { return path == ".w" ? "weight" : "bias"; },
                               std::pair{"weight", optim::adam(0.1)}, std::pair{"bias", optim::sgd(0.2)}));
  check("apply_if_finite", optim::apply_if_finite(optim::adam(0.1), 2));
}

TEST(Parts, MakeTheWholeOptimisers) {
  check("adam", optim::chain(optim::scale_by_adam(), optim::scale_by_learning_rate(0.1)));
  const Array<float> p = {6, 8}, g = {3, 4};
  EXPECT_TRUE(array_equal(optim::scale_by_trust_ratio().update(g, {}, p).first, p));
  EXPECT_TRUE(array_equal(optim::scale_by_param_block_rms().update(g, {}, Array<float>{2, -2}).first, g * 2));
  EXPECT_TRUE(array_equal(optim::set_to_zero().update(g, {}).first, zeros_like(g)));
}

TEST(Masked, NormsSeeTheMaskedLeavesAlone) {
  const auto opt = optim::masked(optim::clip_by_global_norm(1), is_w);
  const Params g{Array<float>{3, 4}, Array<float>{100}};
  const Params updates = opt.update(g, opt.init(g)).first;
  EXPECT_NEAR(updates.w(1).item(), 0.8, 1e-6);
  EXPECT_EQ(updates.b(0).item(), 100);
}

TEST(MultiTransform, RefusesLabelsWithoutAnOptimiser) {
  const auto opt = optim::multi_transform([](const std::string&) { return std::string("other"); },
                                          std::pair{"weight", optim::sgd(0.1)});
  EXPECT_THROW(opt.init(Params{Array<float>{1}, Array<float>{1}}), ValueError);
}

TEST(ApplyIfFinite, DropsSomeGradientsInARow) {
  const auto opt = optim::apply_if_finite(optim::sgd(1.0), 2);
  const Array<float> p = {1, 2}, good = {1, 1}, bad = {1, std::numeric_limits<float>::quiet_NaN()};
  auto state = opt.init(p);
  Array<float> u;
  for (int i = 1; i <= 2; ++i) {
    std::tie(u, state) = opt.update(bad, state);
    EXPECT_EQ(u(0).item(), 0);
    EXPECT_EQ(state.notfinite_count.item(), i);
    EXPECT_FALSE(state.last_finite.item());
  }
  std::tie(u, state) = opt.update(good, state);
  EXPECT_EQ(u(0).item(), -1);
  EXPECT_EQ(state.notfinite_count.item(), 0);
  EXPECT_EQ(state.total_notfinite.item(), 2);
  for (int i = 0; i < 3; ++i) std::tie(u, state) = opt.update(bad, state);
  EXPECT_EQ(u(0).item(), -1) << "the third in a row is applied";
}

TEST(ApplyIfFinite, DecidesForEachExampleOfAVmap) {
  const auto opt = optim::apply_if_finite(optim::sgd(1.0), 5);
  const Array<float> g = {1, std::numeric_limits<float>::infinity()};
  const Array<float> u = vmap([&](const Array<float>& x) { return opt.update(x, opt.init(x)).first; })(g);
  EXPECT_EQ(u(0).item(), -1);
  EXPECT_EQ(u(1).item(), 0);
}

TEST(Lookahead, StepsAsOptax) {
  const auto opt = optim::lookahead(optim::sgd(0.1), 4, 0.5);
  auto params =
      optim::lookahead_params(Params{train::record("lookahead/in0"), train::record("lookahead/in1")});
  auto state = opt.init(params);
  for (int k = 0; k < 10; ++k) {
    const auto grads = tree::map([&](const auto& p) { return 2 * p - 0.25 * (k - 4); }, params.fast);
    auto [updates, next] = opt.update(grads, state, params);
    params = optim::apply_updates(params, updates);
    state = std::move(next);
  }
  train::expect_near(params.fast.w, train::record("lookahead/out0"), "fast", 2e-6);
  train::expect_near(params.slow.w, train::record("lookahead/out2"), "slow", 2e-6);
  train::expect_near(params.slow.b, train::record("lookahead/out3"), "slow", 2e-6);
}

struct Rates {
  double learning_rate;
};
TEST(InjectHyperparams, TakesRatesFromTheState) {
  const auto opt =
      optim::inject_hyperparams([](const Rates& r) { return optim::sgd(r.learning_rate); }, Rates{0.5});
  const Array<float> p = {1}, g = {2};
  auto state = opt.init(p);
  Array<float> u;
  std::tie(u, state) = opt.update(g, state);
  EXPECT_EQ(u(0).item(), -1);
  state.hyperparams.learning_rate = 0.25;
  std::tie(u, state) = opt.update(g, state);
  EXPECT_EQ(u(0).item(), -0.5);
}

template <class Schedule>
void expect_schedule(const std::string& name, const Schedule& schedule) {
  const golden::Golden& g = golden::get("optim", "schedule/" + name);
  for (int k = 0; k < 30; ++k)
    EXPECT_NEAR(Array<float>(schedule(optim::Count(k))).item(), g.values[static_cast<std::size_t>(k)], 2e-6)
        << name << " at " << k;
}
TEST(JoinedSchedules, MatchOptax) {
  expect_schedule("join",
                  optim::join_schedules(
                      std::tuple{optim::linear_schedule(0, 1, 5), optim::exponential_decay(1, 4, 0.5)}, {7}));
  expect_schedule("warmup_constant", optim::warmup_constant_schedule(0, 1, 6));
  expect_schedule("warmup_exponential",
                  optim::warmup_exponential_decay_schedule(0, 1, 5, 4, 0.5, {.end_value = 0.1}));
  expect_schedule("sgdr", optim::sgdr_schedule({{0, 1, 2, 8, 0.1}, {0.1, 0.5, 3, 12}}));
  expect_schedule("piecewise_linear",
                  optim::piecewise_interpolate_schedule("linear", 1, {{5, 0.5}, {20, 0.1}}));
  expect_schedule("piecewise_cosine",
                  optim::piecewise_interpolate_schedule("cosine", 1, {{5, 0.5}, {20, 0.1}}));
  expect_schedule("linear_onecycle", optim::linear_onecycle_schedule(25, 1));
  expect_schedule("cosine_onecycle", optim::cosine_onecycle_schedule(25, 1));
  EXPECT_THROW(optim::join_schedules(std::tuple{optim::constant_schedule(1)}, {3}), ValueError);
}

}  // namespace wrappers_test
