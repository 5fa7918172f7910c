#include "nax/optim/adam.hpp"

#include "nax/optim/sgd.hpp"
#include "nax/transform/vmap.hpp"
#include "optim/train.hpp"

namespace adam_test {
using namespace nax;
using train::check, train::expect_near, train::record;

TEST(Adam, StepsAsOptax) {
  check("adam", optim::adam(0.1));
  check("adam.b1=0.8.b2=0.9.eps=1e-3", optim::adam(0.1, {.b1 = 0.8, .b2 = 0.9, .eps = 1e-3}));
  check("adam.schedule", optim::adam(optim::cosine_decay_schedule(0.1, 8)));
  check("adamw", optim::adamw(0.1));
  check("adamw.weight_decay=0.1", optim::adamw(0.1, {.weight_decay = 0.1}));
  check("chain.clip=0.5.adam", optim::chain(optim::clip(0.5), optim::adam(0.1)));
}

TEST(Adam, KeepsUntrainedLeaves) {
  const auto params = std::tuple{Array<double>{1, 2}, Array<int>{3, 4}, 5};
  const auto grads = std::tuple{Array<double>{1, 1}, Array<int>{0, 0}, 0};
  const auto optimizer = optim::adam(0.1);
  auto [updates, state] = optimizer.update(grads, optimizer.init(params));
  const auto after = optim::apply_updates(params, updates);
  EXPECT_NEAR(std::get<0>(after)(0).item(), 0.9, 1e-8);
  EXPECT_EQ(std::get<1>(after)(1).item(), 4);
  EXPECT_EQ(std::get<2>(after), 5);
  EXPECT_EQ(state.count.item(), 1);
}

TEST(Adam, RunsUnderVmap) {
  const auto optimizer =
      optim::chain(optim::clip_by_global_norm(1), optim::adam(optim::linear_schedule(0.1, 0, 5)),
                   optim::sgd(1, {.momentum = 0.5}));
  const auto two_steps = [&](const Array<float>& start) {
    Array<float> p = start;
    auto state = optimizer.init(p);
    for (int k = 0; k < 2; ++k) {
      auto [updates, next] = optimizer.update(Array<float>(2 * p), state, p);
      p = optim::apply_updates(p, updates);
      state = std::move(next);
    }
    return std::pair{p, state};
  };
  const Array<float> batch = {{1, 2}, {-3, 0.5}, {0.1f, 0.2f}};
  const auto all = vmap(two_steps)(batch);
  for (int i = 0; i < 3; ++i) expect_near(all.first(i), two_steps(batch(i)).first, "row", 1e-6);
}

}  // namespace adam_test
