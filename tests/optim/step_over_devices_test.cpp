#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "optim/two_layers.hpp"
#include "support/compare.hpp"
#include "support/four_devices.hpp"
#include "support/same.hpp"
#include "support/text_of.hpp"

// optim::value_and_step with an axis of devices.

namespace step_over_devices_test {

using namespace nax;
using namespace two_layers;

// Over devices: equals pmean of stored gradients up to rounding, and is equal on all devices.
template <class T, class Optimizer>
void check_devices(const Optimizer& optimizer, std::int64_t devices, double tolerance,
                   std::int64_t rows = batch) {
  using State = decltype(optimizer.init(Params<T>()));
  const auto step = [=](Params<T> p, State state, const Array<T>& x) {
    return optim::value_and_step(optimizer, Loss(), {.axis_name = "i"})(std::move(p), std::move(state), x);
  };
  const auto plain = [=](Params<T> p, State state, const Array<T>& x) {
    auto [value, grads] = value_and_grad(Loss())(p, x);
    grads = pmean(grads, "i");
    std::tie(p, state) = optim::step(optimizer, grads, std::move(state), std::move(p));
    return std::tuple{value, p, state};
  };
  const Array<T> x = random::normal<T>(random::key(1), {devices, rows, inputs});
  auto some = nax::devices();
  some.resize(static_cast<std::size_t>(devices));
  auto params = device_put_replicated(some_params<T>(), some), want = params;
  auto state = device_put_replicated(optimizer.init(some_params<T>()), some), want_state = state;
  Array<T> value, want_value;
  for (int k = 0; k < 3; ++k) {
    std::tie(value, params, state) = pmap(step, {.axis_name = "i"})(std::move(params), std::move(state), x);
    std::tie(want_value, want, want_state) = vmap(plain, {.axis_name = "i"})(want, want_state, x);
  }
  EXPECT_TRUE(compare::close(value, want_value, tolerance));
  tree::for_each(
      [&](const auto& a, const auto& b) {
        EXPECT_TRUE(compare::close(a, b, tolerance));
        for (std::int64_t d = 1; d < devices; ++d) expect_same(copy(a(d)), copy(a(0)));
      },
      params, want);
  expect_same(std::get<1>(vmap(step, {.axis_name = "i"})(want, want_state, x)),
              std::get<1>(vmap(plain, {.axis_name = "i"})(want, want_state, x)));
}
TEST(StepOverDevices, AveragesOverDevices) {
  for (std::int64_t devices : {1, 2, 3, 4}) {
    check_devices<float>(optim::adam(0.1), devices, 1e-3);
    check_devices<double>(optim::adam(0.1), devices, 1e-10);
  }
  const auto optimizer = optim::sgd(0.1);
  const Array<float> p = {1, 2};
  const auto loss = [](const Array<float>& p) { return sum(p); };
  EXPECT_THROW(optim::value_and_step(optimizer, loss, {.axis_name = "nowhere"})(p, optimizer.init(p)),
               ValueError);
}
TEST(StepOverDevices, AveragesForAnyOptimizer) {
  check_devices<double>(optim::sgd(0.1), 2, 1e-10);
  check_devices<double>(optim::sgd(0.1, {.momentum = 0.9, .nesterov = true}), 3, 1e-10);
  check_devices<double>(optim::chain(optim::clip_by_global_norm(0.5), optim::adam(0.1)), 2, 1e-10);
  check_devices<double>(optim::lion(0.1), 2, 1e-10);
  // More rows in all than a slice of the product has.
  check_devices<float>(optim::sgd(0.1), 4, 1e-4, 200);
}

// Two large weights, and what an optimiser may do with their gradients.
using Two = std::pair<Array<float>, Array<float>>;
Array<float> loss_of_two(const Two& w, const Array<float>& x) {
  return mean(tanh(matmul(x, w.first))) + mean(tanh(matmul(x, w.second)));
}
template <class Use>
struct Using {
  Use use;
  int init(const Two&) const { return 0; }
  template <class G>
  auto step(const G& grads, int state, const Two&) const {
    return std::pair{use(grads), state};
  }
};
template <class Use>
Two step_on_two_devices(const Use& use) {
  const Two w = {some_params<float>(1)[0].w, some_params<float>(2)[0].w};
  const auto step = [=](const Array<float>& x) {
    return std::get<1>(optim::value_and_step(Using<Use>{use}, loss_of_two, {.axis_name = "i"})(w, 0, x));
  };
  return pmap(step, {.axis_name = "i"})(random::normal<float>(random::key(1), {2, batch, inputs}));
}

TEST(StepOverDevices, GradientsOverDevicesAreArrays) {
  const auto same = [](const Two& g) { return g; };  // kept, and read after pmap has returned
  const Two kept = step_on_two_devices(same);
  const Array<float> x = random::normal<float>(random::key(1), {2, batch, inputs});
  const Two w = {some_params<float>(1)[0].w, some_params<float>(2)[0].w};
  const Two one = grad(loss_of_two)(w, x(0)), other = grad(loss_of_two)(w, x(1));
  for (int d = 0; d < 2; ++d) {
    EXPECT_TRUE(compare::close(kept.first(d), eval((one.first + other.first) / 2.f), 1e-5));
    EXPECT_TRUE(compare::close(kept.second(d), eval((one.second + other.second) / 2.f), 1e-5));
  }
  // Averaged again, by way of other collectives, used twice.
  expect_same(step_on_two_devices([](const Two& g) { return pmean(g, "i"); }), kept);
  expect_same(step_on_two_devices([](const Two& g) {
                return Two{all_gather(g.first, "i")(0), all_gather(g.second, "i")(1)};
              }),
              kept);
  expect_same(step_on_two_devices([](const Two& g) {
                Two next = {zeros_like(g.first), zeros_like(g.second)};
                for (int k = 0; k < 2; ++k)
                  std::tie(next, std::ignore) =
                      optim::step(optim::sgd(-0.5), g, optim::sgd(-0.5).init(g), next);
                return next;
              }),
              kept);
}

TEST(StepOverDevices, AnOptimizersErrorIsThrown) {
  const auto thrown = [](const Two& g) {
    if (axis_index("i").item() == 1) throw ValueError("no step");
    g.first.data();
    return g;
  };
  EXPECT_NE(text_of<DeviceError>([&] { step_on_two_devices(thrown); }).find("no step"), std::string::npos);
  const auto alone = [](const Two& g) {
    return axis_index("i").item() == 0 ? Two{g.first + 0.f, g.second} : g;
  };
  step_on_two_devices(alone);
}

// Batches of other sizes on each device.
TEST(StepOverDevices, SumsProductsOfAnyDevices) {
  const Array<float> w = some_params<float>()[0].w;
  const Array<float> x = random::normal<float>(random::key(1), {4, 16, inputs});
  const auto optimizer = optim::sgd(0.1);
  const auto step = [=](const Array<float>& x) {
    const auto loss = [=](const Array<float>& w) {
      const std::int64_t rows = 1 + 5 * axis_index("i").item();
      const Array<float> mine =
          axis_index("i").item() == 2 ? concatenate(std::vector(40, x)) : x(slice(rows));
      return mean(tanh(matmul(mine, w)));
    };
    return std::get<1>(optim::value_and_step(optimizer, loss, {.axis_name = "i"})(w, optimizer.init(w)));
  };
  Array<float> total = zeros_like(w);
  for (int d = 0; d < 4; ++d) {
    const Array<float> mine = d == 2 ? concatenate(std::vector(40, x(d))) : x(d, slice(1 + 5 * d));
    total += grad([&](const Array<float>& w) { return mean(tanh(matmul(mine, w))); })(w);
  }
  const Array<float> got = pmap(step, {.axis_name = "i"})(x);
  for (int d = 0; d < 4; ++d) EXPECT_TRUE(compare::close(got(d), eval(w - 0.1f * total / 4.f), 1e-5));
}

}  // namespace step_over_devices_test
