#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/optim/transformation.hpp"
#include "support/golden.hpp"

// Ten steps, as make_optim.py does them, against what optax gives.
namespace train {
using namespace nax;

struct Params {
  Array<float> w, b;
};

inline Array<float> record(const std::string& name) {
  const golden::Golden& g = golden::get("optim", name);
  return array(std::vector<float>(g.values.begin(), g.values.end())).reshape(Shape(g.shape));
}
inline void expect_near(const Array<float>& a, const Array<float>& expected, const std::string& name,
                        double tolerance) {
  ASSERT_EQ(a.shape(), expected.shape()) << name;
  for (std::int64_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a.data()[i], expected.data()[i], tolerance) << name << " at " << i;
}

template <class Optimizer>
Params ten_steps(const Optimizer& optimizer, Params params) {
  auto state = optimizer.init(params);
  for (int k = 0; k < 10; ++k) {
    const auto grads = tree::map([&](const auto& p) { return 2 * p - 0.25 * (k - 4); }, params);
    auto [updates, next] = optimizer.update(grads, state, params);
    params = optim::apply_updates(params, updates);
    state = std::move(next);
  }
  return params;
}
// Takes the steps with optim::step instead.
template <class Optimizer>
Params ten_whole_steps(const Optimizer& optimizer, Params params) {
  auto state = optimizer.init(params);
  for (int k = 0; k < 10; ++k) {
    const auto grads = tree::map([&](const auto& p) { return 2 * p - 0.25 * (k - 4); }, params);
    std::tie(params, state) = optim::step(optimizer, grads, std::move(state), std::move(params));
  }
  return params;
}
template <class Optimizer>
void check(const std::string& name, const Optimizer& optimizer) {
  const Params after = ten_steps(optimizer, {record(name + "/in0"), record(name + "/in1")});
  expect_near(after.w, record(name + "/out0"), name, 2e-6);
  expect_near(after.b, record(name + "/out1"), name, 2e-6);
  const Params whole = ten_whole_steps(optimizer, {record(name + "/in0"), record(name + "/in1")});
  expect_near(whole.w, after.w, name, 0);
  expect_near(whole.b, after.b, name, 0);
}

}  // namespace train
