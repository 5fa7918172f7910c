#include "nax/nn/losses.hpp"

#include <gtest/gtest.h>

#include "nax/nn/layers.hpp"
#include "nax/nn/one_hot.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/transform/grad.hpp"

namespace losses_test {
using namespace nax;

void expect_near(const Array<double>& a, std::vector<double> expected) {
  ASSERT_EQ(a.size(), static_cast<std::int64_t>(expected.size()));
  for (std::int64_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a.data()[i], expected[static_cast<std::size_t>(i)], 1e-12);
}

const Array<double> logits = {{1, 2, 0.5}, {0, -1, 3}};
const Array<int> labels = {1, 0};

TEST(Losses, CrossEntropyOfBothKindsAgrees) {
  const auto each = nn::softmax_cross_entropy_with_integer_labels(logits, labels);
  expect_near(each, {0.46436878410794513, 3.0658839037574293});
  expect_near(nn::softmax_cross_entropy(logits, nn::one_hot<double>(labels, 3)),
              {each.data()[0], each.data()[1]});
  const auto g = grad([](const Array<double>& x) {
    return Array<double>(sum(nn::softmax_cross_entropy_with_integer_labels(x, labels)));
  })(logits);
  const auto h = grad([](const Array<double>& x) {
    return Array<double>(sum(nn::softmax_cross_entropy(x, nn::one_hot<double>(labels, 3))));
  })(logits);
  expect_near(g, h.to_vector());
  EXPECT_THROW(nn::softmax_cross_entropy_with_integer_labels(logits, Array<int>{1, 3}), IndexError);
}

TEST(Losses, MatchOptax) {
  const Array<double> x = {-1, 0.25, 3}, y = {0, 1, 1};
  expect_near(nn::sigmoid_binary_cross_entropy(x, y),
              {0.31326168751822286, 0.5759394198788437, 0.04858735157374196});
  expect_near(nn::squared_error(x, y), {1, 0.5625, 4});
  expect_near(nn::l2_loss(x, y), {0.5, 0.28125, 2});
  expect_near(nn::huber_loss(x, y), {0.5, 0.28125, 1.5});
}

TEST(Layers, FollowTheirFormulas) {
  const Array<double> x = {{1, 2, 3}, {4, 6, 11}}, w = {{1, 0}, {0, 1}, {1, 1}}, b = {10, 20};
  expect_near(nn::linear(x, w, b), {14, 25, 25, 37});
  expect_near(nn::standardize(x, {.epsilon = 0}),
              {-1.224744871391589, 0, 1.224744871391589, -1.019049330730136, -0.33968311024337877,
               1.3587324409735149});
  expect_near(nn::layer_norm(x, Array<double>{1, 1, 2}, Array<double>{1, 0, 0}, {.axis = 0, .epsilon = 0}),
              {0, -1, -2, 2, 1, 2});
  const Array<float> dropped = nn::dropout(random::key(0), 0.25, Array<float>(ones<float>({1000})));
  int kept = 0;
  for (float v : dropped.to_vector()) {
    EXPECT_TRUE(v == 0 || std::abs(v - 4 / 3.f) < 1e-6f);
    kept += v != 0;
  }
  EXPECT_NEAR(kept, 750, 50);
  EXPECT_THROW(nn::dropout(random::key(0), 1, dropped), ValueError);
}

}  // namespace losses_test
