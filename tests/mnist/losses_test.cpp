#include <cmath>
#include <nax/nax.hpp>

#include "program.hpp"
#include "support/golden.hpp"

// Training follows JAX's step by step, and does not depend on the number of devices.

namespace losses_test {

#ifdef NAX_ON_A_CARD  // whose library adds the products in another order
constexpr double gpu_tolerance = 1e-4;
#else
constexpr double gpu_tolerance = 1e-5;
#endif

const std::vector<double>& golden_losses(const char* name) {
  return golden::get("mnist_losses", name).values;
}

void expect_close(const std::vector<double>& losses, const std::vector<double>& expected, double tolerance) {
  ASSERT_GE(losses.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(losses[i], expected[i], tolerance * expected[i]) << "at step " << i + 1;
}

TEST(MnistLosses, tanh_follows_jax_on_one_device_and_on_four) {
  if (const std::string reason = mnist_program::missing(); !reason.empty()) GTEST_SKIP() << reason;
  const auto one = mnist_program::train("--activation tanh");
  expect_close(one.losses, golden_losses("tanh/f32/loss"), 1e-5);
  ASSERT_EQ(one.losses.size(), 468u);
  ASSERT_EQ(one.epochs.size(), 1u);
  int epoch = 0;
  double seconds = 0, train_accuracy = 0, test_accuracy = 0;
  ASSERT_EQ(std::sscanf(one.epochs[0].c_str(),
                        "{\"epoch\": %d, \"seconds\": %lf, \"train_accuracy\": %lf, \"test_accuracy\": %lf}",
                        &epoch, &seconds, &train_accuracy, &test_accuracy),
            4)
      << one.epochs[0];
  EXPECT_EQ(epoch, 1);
  EXPECT_GT(seconds, 0);
  EXPECT_GT(train_accuracy, 0.94);
  EXPECT_GT(test_accuracy, 0.94);

  const auto four = mnist_program::train("--activation tanh --devices 4");
  EXPECT_EQ(four.losses.size(), 468u);
  expect_close(four.losses, one.losses, 1e-5);
}

TEST(MnistLosses, tanh_on_gpus_follows_jax) {
  using mnist_program::for_gpus;
  if (const std::string reason = mnist_program::missing(for_gpus); !reason.empty()) GTEST_SKIP() << reason;
  const auto one = mnist_program::train("--activation tanh --platform cuda", for_gpus);
  expect_close(one.losses, golden_losses("tanh/f32/loss"), gpu_tolerance);
  ASSERT_EQ(one.losses.size(), 468u);

  setenv("NAX_CUDA_DEVICES", "4", 1);
  const auto four = mnist_program::train("--activation tanh --platform cuda --devices 4", for_gpus);
  EXPECT_EQ(four.losses.size(), 468u);
  expect_close(four.losses, one.losses, gpu_tolerance);
}

TEST(MnistLosses, relu_follows_jax) {
  if (const std::string reason = mnist_program::missing(); !reason.empty()) GTEST_SKIP() << reason;
  const auto log = mnist_program::train("");
  expect_close(log.losses, golden_losses("relu/f32/loss"), 1e-5);
}

TEST(MnistLosses, initial_weights_and_order_are_those_of_jax) {
  const auto [init_key, shuffle_key] = nax::random::split(nax::random::key(0));
  const auto keys = nax::random::split(init_key, {3});
  const auto expect_row = [&](int layer, std::int64_t fan_in, std::int64_t fan_out, const char* name) {
    const nax::Array<float> w = nax::random::normal<float>(keys[layer], {fan_in, fan_out}) *
                                std::sqrt(2.f / static_cast<float>(fan_in));
    const auto& expected = golden::get("mnist_losses", name).values;
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(w(0, static_cast<int>(i)).item(), expected[i], 1e-6 * std::abs(expected[i])) << name;
  };
  expect_row(0, 784, 512, "init/w0_head");
  expect_row(2, 512, 10, "init/w2_head");
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto order = nax::random::permutation(nax::random::fold_in(shuffle_key, epoch), 60000).to_vector();
    const auto& expected =
        golden::get("mnist_losses", "order/epoch" + std::to_string(epoch) + "_head").values;
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(order[i], expected[i]) << "epoch " << epoch;
  }
}

}  // namespace losses_test
