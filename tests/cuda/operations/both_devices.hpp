#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nax/nax.hpp>
#include <string>
#include <vector>

#include "needs_gpu.hpp"
#include "support/text_of.hpp"

// Compares a computation on the CPU with one on a GPU.
namespace both_devices {

inline nax::Device gpu() { return nax::devices("cuda")[0]; }

// n numbers between -1 and 1 without a pattern, the same wherever this thread computes.
inline nax::Array<float> waves(int n) {
  std::vector<float> values;
  for (int i = 0; i < n; ++i) values.push_back(std::sin(7.f * static_cast<float>(i)));
  return nax::asarray(values.data(), {n});
}

template <class T>
void expect_near(const nax::Array<T>& actual, const nax::Array<T>& expected, double tolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  const auto a = actual.to_vector(), e = expected.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(e[i]);
    if (x == y || (x != x && y != y)) continue;
    ASSERT_NEAR(x, y, tolerance * (1 + std::abs(y))) << "element " << i;
  }
}

// f(put) makes an array from inputs that `put` brings to the device. It runs on the CPU, on the GPU from a
// thread that computes on the CPU, and from one that computes on the GPU.
template <class F>
void expect_same(const F& f, double tolerance = 0) {
  const auto expected = nax::eval(f([](const auto& x) { return nax::eval(x); }));
  const auto put = [](const auto& x) { return nax::device_put(nax::eval(x), gpu()); };
  {
    SCOPED_TRACE("from the CPU");
    const auto actual = nax::eval(f(put));
    EXPECT_EQ(actual.device(), gpu());
    expect_near(actual, expected, tolerance);
  }
  SCOPED_TRACE("from the GPU");
  const nax::detail::ComputeOn there(gpu());
  const auto actual = nax::eval(f(put));
  EXPECT_EQ(actual.device(), gpu());
  expect_near(actual, expected, tolerance);
}

// Expects one error on both devices.
template <class E, class F>
void expect_same_error(const F& f) {
  const std::string expected = text_of<E>([&] { f([](const auto& x) { return nax::eval(x); }); });
  const std::string actual =
      text_of<E>([&] { f([](const auto& x) { return nax::device_put(nax::eval(x), gpu()); }); });
  EXPECT_EQ(actual, expected);
}

// Calls with indices wait for their verdict for as long as this lives.
struct ChecksAtOnce {
  ChecksAtOnce() { setenv("NAX_CHECK_INDICES", "1", 1); }
  ~ChecksAtOnce() { unsetenv("NAX_CHECK_INDICES"); }
  ChecksAtOnce(const ChecksAtOnce&) = delete;
  ChecksAtOnce& operator=(const ChecksAtOnce&) = delete;
};

}  // namespace both_devices
