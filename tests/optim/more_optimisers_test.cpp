#include <gtest/gtest.h>

#include <limits>

#include "nax/numpy/reductions/close.hpp"
#include "nax/optim.hpp"
#include "nax/random/key.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jit.hpp"
#include "nax/transform/vmap.hpp"
#include "optim/train.hpp"
#include "support/text_of.hpp"

namespace more_optimisers_test {

using namespace nax;
using train::check;
using train::Params;
using F = Array<float>;

Params start(const std::string& name) { return {train::record(name + "/in0"), train::record(name + "/in1")}; }
void expect_after(const Params& params, const std::string& name, double tolerance = 2e-6) {
  train::expect_near(params.w, train::record(name + "/out0"), name, tolerance);
  train::expect_near(params.b, train::record(name + "/out1"), name, tolerance);
}
Params gradients(const Params& params, int k) {
  return tree::map([&](const auto& p) { return 2 * p - 0.25 * (k - 4); }, params);
}

// For an estimate that amplifies rounding.
template <class Optimizer>
void check_near(const std::string& name, const Optimizer& optimizer) {
  expect_after(train::ten_steps(optimizer, start(name)), name, 2e-5);
}

TEST(MoreOptimisers, StepAsOptax) {
  check("adadelta", optim::adadelta(2.0, {.rho = 0.8, .eps = 1e-3, .weight_decay = 0.1}));
  check("rprop", optim::rprop(0.1, {.max_step_size = 0.15}));
  check("sm3", optim::sm3(0.1));
  check_near("prodigy", optim::prodigy(1.0, {.estim_lr0 = 1e-2, .weight_decay = 0.1}));
  check_near("prodigy.schedule",
             optim::prodigy(optim::linear_schedule(1.0, 0.5, 8),
                            {.beta3 = 0.9, .estim_lr0 = 1e-2, .estim_lr_coef = 2, .safeguard_warmup = true}));
  check("schedule_free_sgd", optim::schedule_free_sgd(0.1, {.warmup_steps = 4, .weight_decay = 0.1}));
  check("schedule_free_adamw", optim::schedule_free_adamw(0.1, {.b1 = 0.8, .weight_decay = 0.1}));
  check("sam", optim::sam(optim::adam(0.1), optim::chain(optim::normalize(), optim::sgd(0.3))));
  check("sam.sync_period=3", optim::sam(optim::sgd(0.1, {.momentum = 0.9}), optim::adam(0.05),
                                        {.sync_period = 3, .reset_state = false}));
  check("centralize.sgd", optim::chain(optim::centralize(), optim::sgd(0.1)));
  check("adaptive_grad_clip.sgd",
        optim::chain(optim::adaptive_grad_clip(0.5, {.eps = 0.1}), optim::sgd(0.1)));
}

TEST(MoreOptimisers, AreRecordedByJit) {
  const auto run = [](const std::string& name, const auto& opt) {
    SCOPED_TRACE(name);
    Params params = start("sgd");
    auto state = opt.init(params);
    const auto step =
        jit([&opt](const Params& g, const auto& s, const Params& p) { return opt.update(g, s, p); });
    for (int k = 0; k < 3; ++k) {
      const Params g = gradients(params, k);
      auto [want, want_state] = opt.update(g, state, params);
      auto [got, next] = step(g, state, params);
      EXPECT_TRUE(allclose(got.w, want.w, {.rtol = 1e-5, .atol = 1e-7}));
      params = optim::apply_updates(params, want);
      state = std::move(want_state);
    }
  };
  run("adadelta", optim::adadelta(1.0));
  run("rprop", optim::rprop(0.1));
  run("sm3", optim::sm3(0.1));
  run("prodigy", optim::prodigy());
  run("schedule_free_sgd", optim::schedule_free_sgd());
  run("sam", optim::sam(optim::sgd(0.1), optim::chain(optim::normalize(), optim::sgd(0.3))));
  run("adaptive_grad_clip", optim::adaptive_grad_clip(0.1));
}

TEST(ScheduleFree, EvaluatesAverages) {
  const std::string name = "schedule_free_eval_params";
  const auto opt = optim::schedule_free_sgd(0.1);
  Params params = start(name);
  auto state = opt.init(params);
  for (int k = 0; k < 10; ++k) {
    auto [updates, next] = opt.update(gradients(params, k), state, params);
    params = optim::apply_updates(params, updates);
    state = std::move(next);
  }
  expect_after(optim::schedule_free_eval_params(state, params), name);
  EXPECT_NE(text_of<ValueError>([] {
              optim::schedule_free(optim::sgd(0.1), 0.1, {.b1 = 0});
            }).find("b1 must be positive, got 0"),
            std::string::npos);
}

TEST(ReduceOnPlateau, LowersTheRateAsOptax) {
  const std::string name = "reduce_on_plateau";
  const auto opt =
      optim::chain(optim::sgd(0.1), optim::reduce_on_plateau({.factor = 0.5, .patience = 2, .cooldown = 1}));
  const double values[] = {5, 4, 4, 4, 4, 4, 4, 3, 3, 3};
  Params params = start(name);
  auto state = opt.init(params);
  for (int k = 0; k < 10; ++k) {
    auto [updates, next] = opt.update(gradients(params, k), state, params, values[k]);
    params = optim::apply_updates(params, updates);
    state = std::move(next);
  }
  expect_after(params, name);
  // The mean of two values counts as one.
  const auto plateau = optim::reduce_on_plateau({.patience = 1, .accumulation_size = 2});
  const F g = {1, 2};
  auto s = plateau.init(g);
  F u;
  for (const float value : {1.f, 3.f, 3.f, 1.f}) std::tie(u, s) = plateau.update(g, s, g, F(value));
  EXPECT_NEAR(s.scale.item(), 0.1, 1e-7);
  EXPECT_NEAR(u(1).item(), 0.2, 1e-7);
  EXPECT_EQ(s.best_value.item(), 2);
  EXPECT_NE(text_of<ValueError>([] { optim::reduce_on_plateau({.factor = 1}); }).find("got 1"),
            std::string::npos);
  EXPECT_NE(text_of<ValueError>([] { optim::reduce_on_plateau({.rtol = 0}); }).find("0 and 0"),
            std::string::npos);
}

TEST(Dpsgd, ClipsExamplesAndAddsOptaxsNoise) {
  const auto opt = optim::dpsgd(0.1, 1.5, 0.5, random::key(3), {.momentum = 0.9});
  Params params = start("dpsgd");
  auto state = opt.init(params);
  for (int k = 0; k < 10; ++k) {
    const Params g = tree::map([](const auto& p) { return stack({p, F(2 * p)}); }, params);
    auto [updates, next] = opt.update(g, state, params);
    params = optim::apply_updates(params, updates);
    state = std::move(next);
  }
  expect_after(params, "dpsgd");
  const auto mean = optim::differentially_private_aggregate(5, 0, random::key(0));
  const F g = {{3, 4}, {30, 40}, {0, 0}};
  EXPECT_TRUE(allclose(mean.update(g, mean.init(g)).first, F{2, 8.f / 3}));
  EXPECT_THROW(mean.update(F(1.f), mean.init(g)), ShapeError);
  // Of gradients by vmap.
  const auto loss = [](const F& w, const F& x) { return F(sum(w * x)); };
  const F each = vmap(grad(loss), {.in_axes = {none, 0}})(F{1, 1}, g);
  EXPECT_TRUE(allclose(mean.update(each, mean.init(g)).first, F{2, 8.f / 3}));
}

TEST(Constraints, DropNansAndLongUnits) {
  const auto drop = optim::zero_nans();
  const Params bad{F{1, std::numeric_limits<float>::quiet_NaN()}, F{2}};
  auto [updates, state] = drop.update(bad, drop.init(bad));
  EXPECT_TRUE(array_equal(updates.w, F{1, 0}));
  EXPECT_TRUE(state.found_nan.item());
  EXPECT_FALSE(drop.update(updates, state).second.found_nan.item());
  EXPECT_TRUE(
      allclose(optim::centralize().update(F{{1, 2, 3}, {4, 5, 6}}, {}).first, F{{-1, 0, 1}, {-1, 0, 1}}));
  const F p = {{3, 0}, {4, 0}}, g = {{6, 0.5}, {8, 0}};
  // The first column is clipped to half its parameters' norm of 5, the second to that of the least norm.
  EXPECT_TRUE(
      allclose(optim::adaptive_grad_clip(0.5, {.eps = 0.2}).update(g, {}, p).first, F{{1.5, 0.1}, {2, 0}}));
  EXPECT_TRUE(allclose(optim::adaptive_grad_clip(0.5, {.axis = 1}).update(g, {}, p).first,
                       F{{1.5f * 6 / std::sqrt(36.25f), 1.5f * 0.5f / std::sqrt(36.25f)}, {2, 0}}));
}

TEST(IncrementalUpdate, AveragesParameters) {
  const Params now{F{1, 2}, F{3}}, old{F{0, 0}, F{1}};
  const Params mean = optim::incremental_update(now, old, 0.25);
  EXPECT_TRUE(allclose(mean.w, F{0.25, 0.5}));
  EXPECT_TRUE(allclose(mean.b, F{1.5}));
}

TEST(Optimisers, SamOfPeriodOneIsTheOuterOptimiser) {
  const auto outer = optim::sgd(0.1, {.momentum = 0.9});
  const auto sam = optim::sam(outer, optim::chain(optim::normalize(), optim::sgd(0.3)), {.sync_period = 1});
  const Array<double> start = {1, -2};
  Array<double> p = start, q = start;
  auto state = sam.init(p);
  auto plain = outer.init(q);
  for (int i = 0; i < 4; ++i) {
    auto [updates, next] = sam.update(Array<double>(p * p), state, p);
    p = optim::apply_updates(p, updates), state = next;
    auto [steps, after] = outer.update(Array<double>(q * q), plain, q);
    q = optim::apply_updates(q, steps), plain = after;
    for (int k = 0; k < 2; ++k) EXPECT_NEAR(p(k).item(), q(k).item(), 1e-12) << i;
  }
}

}  // namespace more_optimisers_test
