#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <nax/nax.hpp>

// Moving averages of zero gradients decay to zero, not into the subnormal numbers.

namespace subnormal_test {

using namespace nax;

// The numbers of an array that are neither zero nor normal.
template <class T>
std::int64_t subnormals(const Array<T>& a) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) count += std::fpclassify(a.data()[i]) == FP_SUBNORMAL;
  return count;
}

// One gradient near the end of the normal numbers, then none. Sizes of one element, and for a pass in blocks.
template <class T, class Optimizer, class Means>
void check(const Optimizer& optimizer, const Means& means) {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{20001}}) {
    const T least = std::numeric_limits<T>::min();
    Array<T> params = ones<T>({n}), grads = full<T>({n}, 16 * least);
    auto state = optimizer.init(params);
    for (int k = 0; k < 60; ++k) {
      std::tie(params, state) = optim::step(optimizer, grads, std::move(state), std::move(params));
      means(state, [&](const Array<T>& mean) { EXPECT_EQ(subnormals(mean), 0) << "step " << k; });
      if (k == 0) grads = zeros<T>({n});
    }
    means(state, [](const Array<T>& mean) { EXPECT_FALSE(any(mean != T(0)).item()); });
  }
}

const auto trace_of = [](const auto& state, const auto& see) { see(*state.trace); };
const auto mu_of = [](const auto& state, const auto& see) { see(state.mu); };

TEST(Subnormal, MomentumEndsAtZero) {
  check<float>(optim::sgd(0.1, {.momentum = 0.5}), trace_of);
  check<double>(optim::sgd(0.1, {.momentum = 0.5, .nesterov = true}), trace_of);
  check<float>(optim::lion(0.1, {.b2 = 0.5}), mu_of);
}

TEST(Subnormal, MeansOfAdamEndAtZero) {
  check<float>(optim::adam(0.1, {.b1 = 0.5, .b2 = 0.5}), [](const auto& state, const auto& see) {
    see(state.mu);
    see(state.nu);
  });
}

// 1e-36, the square of the gradient, is near the end of the normal numbers.
TEST(Subnormal, MeanSquaresEndAtZero) {
  const auto optimizer = optim::rmsprop(0.1, {.decay = 0.5});
  Array<float> params = ones({3}), grads = full({3}, 1e-18f);
  auto state = optimizer.init(params);
  for (int k = 0; k < 60; ++k) {
    std::tie(params, state) = optim::step(optimizer, grads, std::move(state), std::move(params));
    EXPECT_EQ(subnormals(state.nu), 0) << "step " << k;
    if (k == 0) {
      EXPECT_GT(min(state.nu).item(), 0);
      grads = zeros({3});
    }
  }
  EXPECT_EQ(max(state.nu).item(), 0);
}

// Half numbers are computed as floats, of which these are normal.
TEST(Subnormal, HalfNumbersStay) {
  const auto optimizer = optim::sgd(0.1, {.momentum = 0.5});
  Array<half> params = ones<half>({3});
  auto state = optimizer.init(params);
  std::tie(params, state) =
      optim::step(optimizer, full<half>({3}, 0x1p-22f), std::move(state), std::move(params));
  std::tie(params, state) = optim::step(optimizer, zeros<half>({3}), std::move(state), std::move(params));
  EXPECT_EQ(static_cast<float>((*state.trace)(0).item()), 0x1p-23f);
}

TEST(Subnormal, PartsOfComplexNumbers) {
  using C = std::complex<float>;
  const float least = std::numeric_limits<float>::min();
  const Array<C> x = {C(least, least / 2), C(-least / 4, 3), C(0, -2 * least)};
  const Array<C> expected = {C(least, 0), C(0, 3), C(0, -2 * least)};
  EXPECT_TRUE(array_equal(optim::detail::flush_subnormals(1 * x), expected).item());
}

// Through a step the derivative is that of the sum.
TEST(Subnormal, DerivativeOfAStep) {
  const auto optimizer = optim::sgd(0.1, {.momentum = 0.5});
  const auto after_two = [&](const Array<double>& g) {
    Array<double> params = ones<double>({4});
    auto state = optimizer.init(params);
    for (int k = 0; k < 2; ++k)
      std::tie(params, state) = optim::step(optimizer, g, std::move(state), std::move(params));
    return params;
  };
  const Array<double> g = {1, -2, 0, 3};
  // -0.1 (g + 1.5 g)
  EXPECT_TRUE(allclose(jacrev(after_two)(g), -0.25 * eye<double>(4)).item());
  EXPECT_TRUE(allclose(jacfwd(after_two)(g), -0.25 * eye<double>(4)).item());
}

}  // namespace subnormal_test
