#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "optim/two_layers.hpp"
#include "support/four_devices.hpp"
#include "support/same.hpp"
#include "support/text_of.hpp"
#include "support/with_threads.hpp"

// optim::value_and_step against value_and_grad and step: equal to the last bit, and in place if no other
// handle shares the arrays.

namespace value_and_step_test {

using namespace nax;
using namespace two_layers;

// Three steps by two calls, by one call with shared arguments, and by one call with moved arguments.
template <class Optimizer, class F, class P, class... X>
void check(const Optimizer& optimizer, const F& f, const P& start, const X&... x) {
  P two = copied(start), held = copied(start), alone = copied(start);
  auto two_state = optimizer.init(two), held_state = optimizer.init(held), state = optimizer.init(alone);
  for (int k = 0; k < 3; ++k) {
    const auto [value, grads] = value_and_grad(f)(two, x...);
    std::tie(two, two_state) = optim::step(optimizer, grads, two_state, two);

    const auto seen = std::pair{held, held_state}, before = copied(seen);
    auto [held_value, held_params, next_state] = optim::value_and_step(optimizer, f)(held, held_state, x...);
    expect_same(seen, before);
    expect_same(held_value, value);
    held = held_params, held_state = next_state;

    auto alone_value = value;
    std::tie(alone_value, alone, state) =
        optim::value_and_step(optimizer, f)(std::move(alone), std::move(state), x...);
    expect_same(alone_value, value);
  }
  expect_same(std::pair{held, held_state}, std::pair{two, two_state});
  expect_same(std::pair{alone, state}, std::pair{two, two_state});
}
template <class Optimizer>
void check(const Optimizer& optimizer) {
  check(optimizer, Loss(), some_params<float>(), some_batch<float>(5));
  check(optimizer, Loss(), some_params<double>(), some_batch<double>(5));
}

TEST(ValueAndStep, IsValueAndGradAndStep) {
  check(optim::sgd(0.1));
  check(optim::sgd(0.1, {.momentum = 0.9}));
  check(optim::sgd(0.1, {.momentum = 0.9, .nesterov = true}));
  check(optim::sgd(optim::cosine_decay_schedule(0.1, 8)));
  check(optim::adam(0.1));
  check(optim::adamw(0.1, {.weight_decay = 0.1}));
  check(optim::chain(optim::clip_by_global_norm(0.5), optim::adam(0.1)));
  check(optim::chain(optim::sgd(0.1), optim::clip(0.5)));
  check(optim::lion(0.1));
  check(optim::rmsprop(0.1));
}

TEST(ValueAndStep, OnAnyNumberOfThreads) {
  for (int count : {1, 2, 3}) {
    const WithThreads threads(count);
    check(optim::adam(0.1));
  }
}

TEST(ValueAndStep, TakesAnyProgram) {
  const auto optimizer = optim::sgd(0.1, {.momentum = 0.9});
  const Array<float> w = some_params<float>()[0].w, x = some_batch<float>(2);
  // The weights stand left, are used twice, transposed, not at all.
  check(
      optimizer,
      [](const Array<float>& w, const Array<float>& x) { return mean(tanh(matmul(w.T(), x.T()))); }, w, x);
  check(
      optimizer,
      [](const Array<float>& w, const Array<float>& x) {
        return mean(matmul(tanh(matmul(x, w)), w.T())) + sum(w * w) + mean(matmul(x, w));
      },
      w, x);
  check(
      optimizer,
      [](const std::pair<Array<float>, Array<float>>& p, const Array<float>& x) {
        return mean(matmul(x, p.first));
      },
      std::pair{w, w}, x);
  // One parameter's gradient is made of the other.
  check(
      optimizer,
      [](const std::pair<Array<float>, Array<float>>& p) { return mean(tanh(matmul(p.first, p.second))); },
      std::pair{x, w});
  // Batches of all sizes: one, more than a slice of the product has, none.
  for (std::int64_t rows : {1, 600, 0})
    check(
        optimizer, [](const Array<float>& w, const Array<float>& x) { return sum(tanh(matmul(x, w))); }, w,
        some_batch<float>(3, rows));
  // A loss with more beside it.
  check(
      optimizer,
      [](const Array<float>& w, const Array<float>& x) {
        const Array<float> y = tanh(matmul(x, w));
        return std::pair{mean(y), y};
      },
      w, x);
  // Leaves of other types stay.
  struct Mixed {
    Array<float> w;
    Array<int> steps;
    float scale;
  };
  check(
      optimizer, [](const Mixed& p, const Array<float>& x) { return mean(tanh(matmul(x, p.w) * p.scale)); },
      Mixed{w, {1, 2}, 0.5f}, x);
}

TEST(ValueAndStep, OverwritesMovedArguments) {
  const auto optimizer = optim::sgd(0.1, {.momentum = 0.9});
  auto params = some_params<float>();
  auto state = optimizer.init(params);
  const Array<float> x = some_batch<float>(5);
  const float *const w = params[0].w.data(), *const trace = (*state.trace)[0].w.data();
  Array<float> value;
  for (int k = 0; k < 2; ++k)
    std::tie(value, params, state) =
        optim::value_and_step(optimizer, Loss())(std::move(params), std::move(state), x);
  EXPECT_EQ(params[0].w.data(), w);
  EXPECT_EQ((*state.trace)[0].w.data(), trace);
}

TEST(ValueAndStep, RunsUnderTransforms) {
  const auto optimizer = optim::adam(0.1);
  const auto params = some_params<float>();
  const auto steps = [&](bool whole) {
    return [=](const Params<float>& start, const Array<float>& x) {
      Params<float> p = start;
      auto state = optimizer.init(p);
      Array<float> value;
      for (int k = 0; k < 2; ++k) {
        if (whole) {
          std::tie(value, p, state) =
              optim::value_and_step(optimizer, Loss())(std::move(p), std::move(state), x);
        } else {
          auto [v, grads] = value_and_grad(Loss())(p, x);
          std::tie(p, state) = optim::step(optimizer, grads, std::move(state), std::move(p));
          value = v;
        }
      }
      return std::pair{p, value};
    };
  };
  const Array<float> xs = random::normal<float>(random::key(1), {4, batch, inputs});
  expect_same(vmap(steps(true), {.in_axes = {none, 0}})(params, xs),
              vmap(steps(false), {.in_axes = {none, 0}})(params, xs));
  expect_same(pmap(steps(true), {.in_axes = {none, 0}})(params, xs),
              pmap(steps(false), {.in_axes = {none, 0}})(params, xs));
  // Recorded: derivatives of the steps' result with respect to the initial parameters.
  const auto after = [&](bool whole) {
    return [f = steps(whole)](const Params<float>& p, const Array<float>& x) { return f(p, x).second; };
  };
  expect_same(grad(after(true))(params, xs(0)), grad(after(false))(params, xs(0)));
}

TEST(ValueAndStep, ChangesNothingOnError) {
  const auto optimizer = optim::adam(0.1);
  auto params = some_params<float>();
  auto state = optimizer.init(params);
  const auto before = copied(std::pair{params, state});
  const auto step = optim::value_and_step(optimizer, Loss());
  EXPECT_THROW(step(std::move(params), std::move(state), Array<float>{{1, 2}}), ShapeError);
  expect_same(std::pair{params, state}, before);
  const auto vector = [](const Array<float>& w) { return w; };
  const auto number = [](const Array<int>& n) { return sum(n).astype<float>(); };
  const auto plain = optim::sgd(0.1);
  const Array<float> two = {1, 2};
  EXPECT_EQ(text_of<ShapeError>([&] { optim::value_and_step(plain, vector)(two, plain.init(two)); }),
            "value_and_step: the function must return a scalar, got shape (2,)");
  const Array<int> whole = {1, 2};
  EXPECT_EQ(text_of<TypeError>([&] { optim::value_and_step(plain, number)(whole, plain.init(whole)); }),
            "value_and_step: the arguments chosen by argnums hold no array of a floating type");
}

}  // namespace value_and_step_test
