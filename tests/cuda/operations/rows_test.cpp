#include <limits>

#include "both_devices.hpp"
#include "operations/launches.hpp"

// Functions of rows, each of which is one kernel on a GPU.
namespace rows_on_gpu_test {

using namespace nax;
using namespace both_devices;

// Rows of a part of a warp, of a warp, of several elements a thread, of a block, and of several blocks; of
// pieces of 16 bytes and others.
constexpr int lengths[] = {1, 3, 8, 31, 32, 33, 300, 1025, 2600, 20000, 16401};

Array<float> rows_of(int n) { return waves(3 * n).reshape({3, n}) * 5.f; }

TEST(RowsOnGpu, AreTheHosts) {
  for (const int n : lengths) {
    SCOPED_TRACE(n);
    expect_same([n](auto put) { return nn::softmax(put(rows_of(n))); }, 1e-5);
    expect_same([n](auto put) { return nn::log_softmax(put(rows_of(n))); }, 1e-5);
    expect_same([n](auto put) { return logsumexp(put(rows_of(n)), {.axis = -1}); }, 1e-5);
    expect_same([n](auto put) { return logsumexp(put(rows_of(n)), {.axis = -1, .keepdims = true}); }, 1e-5);
    expect_same([n](auto put) { return nn::softmax(put(rows_of(n).astype<double>())); }, 1e-13);
  }
}

TEST(RowsOnGpu, TakeViewsSeveralAxesAndOtherAxes) {
  const auto cube = [] { return eval(waves(60).reshape({3, 4, 5}) * 3.f); };
  expect_same([&](auto put) { return nn::softmax(put(cube()), {.axis = {1, 2}}); }, 1e-5);
  expect_same([&](auto put) { return nn::softmax(put(cube()), {.axis = 0}); }, 1e-5);
  expect_same([&](auto put) { return nn::log_softmax(swapaxes(put(cube()), 0, 2)); }, 1e-5);
  expect_same([&](auto put) { return nn::softmax(put(cube()) + put(waves(5))); }, 1e-5);
  expect_same(
      [&](auto put) { return vmap([](const Array<float>& x) { return nn::softmax(x); })(put(cube())); },
      1e-5);
  expect_same([&](auto put) { return nn::softmax(put(cube().astype<nax::half>())); }, 2e-3);
}

TEST(RowsOnGpu, KeepNansAndInfinities) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Array<float> x = {{1, nan, 2}, {-inf, -inf, -inf}, {1, inf, 2}, {1, -inf, 2}, {1000, 1001, 999}};
  expect_same([&](auto put) { return nn::softmax(put(x)); }, 1e-6);
  expect_same([&](auto put) { return nn::log_softmax(put(x)); }, 1e-6);
  expect_same([&](auto put) { return logsumexp(put(x), {.axis = -1}); }, 1e-6);
}

TEST(RowsOnGpu, OfSeveralBlocksKeepNansAndInfinities) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto rows = [=] {
    Array<float> x = rows_of(20000);
    x = x.at(0, slice(0, 15000)).set(-inf).at(1, 19000).set(inf).at(2, 3).set(nan);
    return concatenate(std::vector<Array<float>>{x, full({1, 20000}, -inf)});
  };
  expect_same([&](auto put) { return nn::softmax(put(rows())); }, 1e-5);
  expect_same([&](auto put) { return nn::log_softmax(put(rows())); }, 1e-5);
  expect_same([&](auto put) { return logsumexp(put(rows()), {.axis = -1}); }, 1e-5);
}

TEST(RowsOnGpu, HaveGradientsOfAllOrders) {
  const auto weighted = [](auto f) {
    return [f](const Array<float>& x) { return sum(f(x) * sin(x * 3.f)); };
  };
  const auto check = [&](auto f) {
    for (const int n : {3, 33, 1025, 20000, 16401})
      expect_same([&](auto put) { return grad(weighted(f))(put(rows_of(n))); }, 1e-4);
    expect_same([&](auto put) { return hessian(weighted(f))(put(waves(4))); }, 1e-4);
    expect_same([&](auto put) { return jvp(f, std::tuple{put(waves(6))}, std::tuple{put(waves(6))}).second; },
                1e-4);
  };
  check([](const Array<float>& x) { return nn::softmax(x); });
  check([](const Array<float>& x) { return nn::log_softmax(x); });
  check([](const Array<float>& x) { return logsumexp(x, {.axis = -1, .keepdims = true}); });
}

TEST(RowsOnGpu, TakeOneLaunch) {
  const Array<float> x = device_put(eval(rows_of(40)), gpu()), g = device_put(eval(rows_of(40)), gpu());
  expect_launches(1, [&] { nn::softmax(x); });
  expect_launches(1, [&] { nn::log_softmax(x); });
  expect_launches(1, [&] { logsumexp(x, {.axis = -1}); });
  const Array<float> few = device_put(eval(rows_of(20000)), gpu());
  expect_launches(2, [&] { nn::softmax(few); });
  expect_launches(2, [&] { logsumexp(few, {.axis = -1}); });
  expect_launches(2, [&] { nn::layer_norm(few, few(0), few(1)); });
  expect_launches(2, [&] { nn::softmax_cross_entropy(few, few); });
  const auto [y, pull] = vjp([](const Array<float>& x) { return nn::softmax(x); }, x);
  expect_launches(1, [&, &pull = pull] { pull(g); });
  const auto [z, pull_log] = vjp([](const Array<float>& x) { return nn::log_softmax(x); }, x);
  expect_launches(1, [&, &pull_log = pull_log] { pull_log(g); });
}

}  // namespace rows_on_gpu_test
