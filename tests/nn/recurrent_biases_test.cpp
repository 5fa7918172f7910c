#include <gtest/gtest.h>

#include <nax/nax.hpp>

namespace recurrent_biases_test {
using namespace nax;
using F = Array<float>;

void expect_near(const F& a, const F& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_LT(max(abs(a - b)).item(), 2e-6f) << a << b;
}

// Without biases a layer is one whose biases are 0, and has no leaves for them.
template <template <class> class Layer>
void expect_no_biases() {
  const auto key = random::key(5);
  const F x = random::normal(key, {4, 2, 3});
  const auto without = Layer<float>::make(key, {.in = 3, .units = 5, .bias = false});
  auto zero = Layer<float>::make(key, {.in = 3, .units = 5});
  zero.cell.bias = zeros_like(*zero.cell.bias);
  expect_near(without(without.state({2}), x).second, zero(zero.state({2}), x).second);
  EXPECT_EQ(tree::leaves(without).size(), 2u);
}

TEST(Recurrent, HasNoBiases) {
  expect_no_biases<nn::RNN>();
  expect_no_biases<nn::LSTM>();
  expect_no_biases<nn::GRU>();
  const auto deep = nn::Stacked<nn::Bidirectional<nn::GRU<float>>>::make(
      random::key(5), {.in = 3, .units = 5, .layers = 2, .bias = false});
  EXPECT_EQ(tree::leaves(deep).size(), 8u);
}

}  // namespace recurrent_biases_test
