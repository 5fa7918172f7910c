#include "nax/optim/schedules.hpp"

#include "nax/optim/sgd.hpp"
#include "optim/train.hpp"

namespace schedules_test {
using namespace nax;
using train::expect_near, train::record;

template <class Schedule>
void check_schedule(const std::string& name, const Schedule& schedule) {
  const Array<float> expected = record("schedule/" + name);
  for (int k = 0; k < 30; ++k)
    EXPECT_NEAR(Array<float>(schedule(k)).item(), expected.data()[k], 1e-6) << name << " at " << k;
}

TEST(Schedules, MatchOptax) {
  check_schedule("constant", optim::constant_schedule(0.1));
  check_schedule("linear", optim::linear_schedule(1, 0.1, 10, {.transition_begin = 5}));
  check_schedule("polynomial", optim::polynomial_schedule(1, 0.1, 2, 20));
  check_schedule("exponential", optim::exponential_decay(1, 4, 0.5, {.transition_begin = 3}));
  check_schedule("exponential.staircase.end",
                 optim::exponential_decay(1, 4, 0.5, {.staircase = true, .end_value = 0.1}));
  check_schedule("cosine", optim::cosine_decay_schedule(0.5, 20, {.alpha = 0.1, .exponent = 2}));
  check_schedule("warmup_cosine", optim::warmup_cosine_decay_schedule(0, 1, 5, 25, {.end_value = 0.1}));
  check_schedule("piecewise", optim::piecewise_constant_schedule(1, {{5, 0.5}, {20, 0.1}}));
  EXPECT_THROW(optim::cosine_decay_schedule(1, 0), ValueError);
  // A user-defined schedule, over arrays or over integers.
  const train::Params start = {record("sgd/in0"), record("sgd/in1")};
  expect_near(train::ten_steps(optim::sgd([](const Array<int>&) { return 0.1; }), start).w,
              record("sgd/out0"), "array", 2e-6);
  expect_near(train::ten_steps(optim::sgd([](int) { return 0.1f; }), start).w, record("sgd/out0"), "int",
              2e-6);
}

}  // namespace schedules_test
