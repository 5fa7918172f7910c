#include "both_devices.hpp"
#include "operations/launches.hpp"

// Steps of optimisers: one launch for all leaves of a tree on a GPU, with the host's numbers.
namespace optimiser_steps_test {

using namespace nax;
using namespace both_devices;

template <class T>
struct Layer {
  Array<T> w, b, scale;
};
template <class T>
using Params = std::vector<Layer<T>>;

template <class T>
Array<T> numbers(int n) {
  return waves(n).astype<T>();
}
// Sizes of one piece and less, of several, of none, and of more than a block of threads takes at once.
template <class T>
Params<T> params() {
  return {{eval(numbers<T>(35).reshape({5, 7})), numbers<T>(3), numbers<T>(1)},
          {eval(numbers<T>(128).reshape({32, 4})), numbers<T>(0), eval(numbers<T>(1).reshape({}))},
          {numbers<T>(20000), numbers<T>(4096), numbers<T>(4097)}};
}
template <class T>
Params<T> gradients(double factor) {
  return tree::map([=](const auto& p) { return eval((p * p - 0.3 * p) * factor); }, params<T>());
}

// Three steps on the device of `put`; the params, the state's averages and the last update.
template <class T, class Optimizer, class Put>
auto trained(const Optimizer& optimizer, const Put& put) {
  auto p = tree::map(put, params<T>());
  auto state = optimizer.init(p);
  Params<T> updates;
  for (int k = 0; k < 3; ++k) {
    const auto g = tree::map(put, gradients<T>(1 + k));
    std::tie(updates, std::ignore) = optimizer.update(g, state, p);
    std::tie(p, state) = optim::step(optimizer, g, std::move(state), std::move(p));
  }
  return std::tuple{std::move(p), std::move(state), std::move(updates)};
}
template <class T, class Optimizer>
void expect_trained_alike(const Optimizer& optimizer, double tolerance) {
  const auto expected = trained<T>(optimizer, [](const auto& x) { return eval(x); });
  const auto actual = trained<T>(optimizer, [](const auto& x) { return device_put(eval(x), gpu()); });
  const auto a = tree::leaves(std::get<0>(actual)), e = tree::leaves(std::get<0>(expected));
  for (std::size_t l = 0; l < a.size(); ++l) {
    SCOPED_TRACE(l);
    EXPECT_EQ(a[l].device(), gpu());
    expect_near(a[l], e[l], tolerance);
  }
  const auto au = tree::leaves(std::get<2>(actual)), eu = tree::leaves(std::get<2>(expected));
  for (std::size_t l = 0; l < au.size(); ++l) expect_near(au[l], eu[l], tolerance);
}
template <class T>
void expect_all_trained_alike(double tolerance) {
  expect_trained_alike<T>(optim::adam(0.1), tolerance);
  expect_trained_alike<T>(optim::adamw(optim::exponential_decay(0.1, 2, 0.5), {.weight_decay = 0.1}),
                          tolerance);
  expect_trained_alike<T>(optim::sgd(0.1), tolerance);
  expect_trained_alike<T>(optim::sgd(0.1, {.momentum = 0.9}), tolerance);
  expect_trained_alike<T>(
      optim::sgd(optim::exponential_decay(0.1, 2, 0.5), {.momentum = 0.9, .nesterov = true}), tolerance);
}

TEST(OptimiserStepsOnGpu, AreTheHosts) {
  expect_all_trained_alike<float>(1e-5);
  expect_all_trained_alike<double>(1e-13);
}
TEST(OptimiserStepsOnGpu, RoundLikeTheHostsIn16Bits) {
  expect_all_trained_alike<nax::half>(4e-3);
  expect_all_trained_alike<bfloat16>(3e-2);
}

TEST(OptimiserStepsOnGpu, TakeOneLaunch) {
  const auto put = [](const auto& x) { return device_put(eval(x), gpu()); };
  auto p = tree::map(put, params<float>());
  const auto g = tree::map(put, gradients<float>(1));
  const auto adam = optim::adam(0.1);
  auto state = adam.init(p);
  expect_launches(1, [&] { std::tie(p, state) = optim::step(adam, g, std::move(state), std::move(p)); });
  expect_launches(1, [&] { adam.update(g, state, p); });
  state.count = put(state.count);  // one more, which adds 1 to the count
  expect_launches(2, [&] { std::tie(p, state) = optim::step(adam, g, std::move(state), std::move(p)); });
  const auto sgd = optim::sgd(0.1, {.momentum = 0.9});
  auto trace = sgd.init(p);
  expect_launches(1, [&] { std::tie(p, trace) = optim::step(sgd, g, std::move(trace), std::move(p)); });
}

TEST(OptimiserStepsOnGpu, WriteOverArraysWithoutOtherHolders) {
  auto p = device_put(eval(waves(100)), gpu());
  const auto g = device_put(eval(waves(100)), gpu());
  const auto adam = optim::adam(0.1);
  auto state = adam.init(p);
  const auto* const place = detail::device_data(p);
  std::tie(p, state) = optim::step(adam, g, std::move(state), std::move(p));
  EXPECT_EQ(detail::device_data(p), place);
  const auto kept = p;
  const auto before = kept.to_vector();
  std::tie(p, state) = optim::step(adam, g, std::move(state), std::move(p));
  EXPECT_NE(detail::device_data(p), place);
  EXPECT_EQ(kept.to_vector(), before);
  EXPECT_NE(p.to_vector(), before);
}

TEST(OptimiserStepsOnGpu, MoreLeavesThanOneLaunchTakes) {
  const auto sum_after = [](auto put) {
    std::vector<Array<float>> p, g;
    for (int l = 0; l < 95; ++l) {
      p.push_back(put(waves(l + 1)));
      g.push_back(put(eval(waves(l + 1) * 2)));
    }
    const auto adam = optim::adam(0.1);
    auto state = adam.init(p);
    expect_launches(p[0].device() == gpu() ? 3 : 0,
                    [&] { std::tie(p, state) = optim::step(adam, g, std::move(state), std::move(p)); });
    return concatenate(p);
  };
  expect_near(sum_after([](const auto& x) { return device_put(eval(x), gpu()); }),
              sum_after([](const auto& x) { return eval(x); }), 1e-5);
}

TEST(OptimiserStepsOnGpu, AreDifferentiated) {
  const auto adam = optim::adam(0.1);
  const auto f = [&](const Array<float>& p, const Array<float>& g) {
    return sum(optim::step(adam, g, adam.init(p), Array<float>(p)).first);
  };
  expect_same([&](auto put) { return grad<1>(f)(put(waves(6)), put(waves(6))); }, 1e-5);
  expect_same(
      [&](auto put) {
        return vmap(f)(put(waves(6).reshape({2, 3})), put(waves(6).reshape({2, 3})));
      },
      1e-5);
}

}  // namespace optimiser_steps_test
