#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "support/four_devices.hpp"
#include "support/same.hpp"

// optim::step against update and apply_updates: equal to the last bit, and in place if no other handle shares
// the arrays.

namespace step_test {

using namespace nax;

// Large enough for a pass in blocks, and of no round size.
constexpr std::int64_t rows = 131, columns = 211;

struct Layer {
  Array<float> w;
  Array<double> b;
  Array<int> steps;
  float scale;
};
using Params = std::vector<Layer>;

Params some_params(std::uint64_t seed) {
  const auto [k1, k2] = random::split(random::key(seed));
  return {{random::normal<float>(k1, {rows, columns}), random::normal<double>(k2, {columns * 60}),
           Array<int>{1, 2}, 0.5f},
          {random::normal<float>(k2, {3, 2}), Array<double>{1}, Array<int>{3}, 2}};
}

// Three steps: by two calls, by step while others hold the arrays, and by step alone, then in place.
template <class Optimizer>
void check(const Optimizer& optimizer, bool in_place = true) {
  Params two = some_params(1), held = copied(two), alone = copied(two);
  auto two_state = optimizer.init(two), held_state = optimizer.init(held), state = optimizer.init(alone);
  const float* const w = alone[0].w.data();
  const double* const b = alone[0].b.data();
  for (std::uint64_t k = 0; k < 3; ++k) {
    const Params grads = some_params(k + 2);
    auto [updates, next] = optimizer.update(grads, two_state, two);
    two = optim::apply_updates(two, updates);
    two_state = std::move(next);

    const auto seen = std::pair{held, held_state}, values = copied(seen);
    std::tie(held, held_state) = optim::step(optimizer, grads, held_state, held);
    expect_same(seen, values);

    std::tie(alone, state) = optim::step(optimizer, grads, std::move(state), std::move(alone));
    if (in_place) {
      EXPECT_EQ(alone[0].w.data(), w);
      EXPECT_EQ(alone[0].b.data(), b);
    }
  }
  expect_same(held, two);
  expect_same(held_state, two_state);
  expect_same(alone, two);
  expect_same(state, two_state);
}

TEST(Step, IsUpdateAndApplyUpdates) {
  check(optim::sgd(0.1));
  check(optim::sgd(0.1, {.momentum = 0.9}));
  check(optim::sgd(0.1, {.momentum = 0.9, .nesterov = true}));
  check(optim::sgd(optim::cosine_decay_schedule(0.1, 8), {.momentum = 0.9}));
  check(optim::adam(0.1));
  check(optim::adam(optim::cosine_decay_schedule(0.1, 8)));
  check(optim::adamw(0.1, {.weight_decay = 0.1}));
  check(optim::chain(optim::clip(0.5), optim::sgd(0.1, {.momentum = 0.9})));
  check(optim::chain(optim::sgd(0.1), optim::clip(0.5)), false);
  check(optim::chain(optim::clip(0.5), optim::chain(optim::add_decayed_weights(0.1), optim::sgd(0.1))));
  check(optim::chain(optim::chain(optim::adam(0.1))));
  check(optim::lion(0.1), false);
  check(optim::rmsprop(0.1), false);
}

// A step of one array by two calls and by step, both from what `state` makes anew.
template <class Optimizer, class G, class P>
void check_array(const Optimizer& optimizer, const G& grads, const P& params) {
  const auto state = optimizer.init(params);
  auto [updates, next] = optimizer.update(grads, state, params);
  const auto result = optim::step(optimizer, grads, copied(state), copied(params));
  expect_same(result.first, optim::apply_updates(params, updates));
  expect_same(result.second, next);
}

TEST(Step, TakesAnyArrays) {
  const auto optimizer = optim::sgd(0.1, {.momentum = 0.9});
  const Array<float> p = random::normal<float>(random::key(1), {rows, columns}),
                     g = random::normal<float>(random::key(2), {rows, columns});
  const auto of = [&]<class T>(const Array<T>&) {
    const Array<T> grads = g.astype<T>(), params = p.astype<T>();
    check_array(optimizer, grads, params);
  };
  of(Array<half>());
  of(Array<bfloat16>());
  of(Array<double>());
  of(Array<std::complex<float>>());
  check_array(optimizer, Array<float>(g.T()), Array<float>(p.T()));
  check_array(optimizer, g, Array<float>(p(slice(_, _, -1))));
  check_array(optimizer, Array<float>(g.T()).T(), p);
  check_array(optimizer, broadcast_to(Array<float>(1), {rows, columns}), p);
}

TEST(Step, LeavesSharedArraysAlone) {
  const auto optimizer = optim::sgd(0.1, {.momentum = 0.9});
  const Array<float> p = random::normal<float>(random::key(1), {rows, columns}),
                     g = random::normal<float>(random::key(2), {rows, columns});
  const auto once = optim::step(optimizer, g, optimizer.init(p), p).first;
  // One array twice.
  std::pair<Array<float>, Array<float>> twice;
  twice.first = copy(p);
  twice.second = twice.first;
  auto state = optimizer.init(twice);
  const auto after = optim::step(optimizer, std::pair{g, g}, std::move(state), std::move(twice)).first;
  expect_same(after.first, once);
  expect_same(after.second, once);
  // The gradients are the parameters.
  Array<float> q = copy(g);
  const auto own = optim::step(optimizer, q, optimizer.init(q), q).first;
  expect_same(q, g);
  expect_same(own, optim::step(optimizer, g, optimizer.init(g), copy(g)).first);
}

TEST(Step, RunsUnderTransforms) {
  const auto optimizer = optim::adam(0.1);
  const auto step = [&](Array<float> p, const Array<float>& g) {
    auto state = optimizer.init(p);
    for (int k = 0; k < 2; ++k)
      std::tie(p, state) = optim::step(optimizer, g, std::move(state), std::move(p));
    return p;
  };
  const Array<float> p = random::normal<float>(random::key(1), {4, rows, columns}),
                     g = random::normal<float>(random::key(2), {4, rows, columns});
  const Array<float> expected =
      stack({step(p(0), g(0)), step(p(1), g(1)), step(p(2), g(2)), step(p(3), g(3))});
  expect_same(vmap(step)(p, g), expected);
  expect_same(vmap(step, {.in_axes = {0, none}})(p, g(0))(2), step(p(2), g(0)));
  expect_same(vmap(step, {.in_axes = {none, 0}})(p(0), g)(2), step(p(0), g(2)));
  const Array<float> sharded = pmap(step)(p, g);
  expect_same(sharded, expected);
  expect_same(step(sharded, g), step(expected, g));

  // Recorded: derivatives of a step's result with respect to the learning rate and the gradient.
  const auto after = [&](bool whole) {
    return [=](const Array<float>& rate, const Array<float>& x) {
      const auto opt = optim::sgd([rate](const auto&) { return rate; }, {.momentum = 0.9});
      auto state = opt.init(p(0));
      Array<float> q = p(0);
      for (int k = 0; k < 2; ++k) {
        const Array<float> slope = q * x;
        if (whole) {
          std::tie(q, state) = optim::step(opt, slope, std::move(state), std::move(q));
        } else {
          auto [updates, next] = opt.update(slope, state, q);
          q = optim::apply_updates(q, updates);
          state = std::move(next);
        }
      }
      return sum(q * q);
    };
  };
  expect_same(grad<0, 1>(after(true))(Array<float>(0.1f), g(0)),
              grad<0, 1>(after(false))(Array<float>(0.1f), g(0)));
}

TEST(Step, ErrorsNameTheArgument) {
  const auto plain = optim::sgd(0.1), heavy = optim::sgd(0.1, {.momentum = 0.9});
  const Array<float> p = {1, 2};
  EXPECT_THROW(optim::step(heavy, p, plain.init(p), p), ValueError);
  using Layers = std::vector<Array<float>>;
  const Layers two = {p, p}, one = {p};
  EXPECT_THROW(optim::step(heavy, one, heavy.init(two), two), ValueError);
  try {
    optim::step(plain, two, plain.init(two), one);
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("sgd: the trees differ"), std::string::npos) << e.what();
  }
}

}  // namespace step_test
