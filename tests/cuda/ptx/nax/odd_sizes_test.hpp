#pragma once

#include "cuda/operations/both_devices.hpp"

// nax's kernels on odd sizes and strides.
namespace odd_sizes_test {

using namespace nax;
using namespace both_devices;

TEST(OddSizesOnPtx, Elementwise) {
  for (const int n : {1, 3, 255, 257, 1030})
    expect_same([n](auto put) { return put(waves(n)) * 2.f + put(waves(n)); });
  expect_same([](auto put) { return put(waves(35).reshape({5, 7})).T() + 1.f; });
  expect_same([](auto put) { return put(waves(35).reshape({5, 7}))(slice(1, 5, 2), slice(1, 7, 3)) * 3.f; });
  expect_same([](auto put) { return put(waves(7)) + put(waves(5).reshape({5, 1})); });
  expect_same([](auto put) { return exp(put(waves(33))) + sin(put(waves(33)) * 1e6f); }, 1e-5);
}

TEST(OddSizesOnPtx, Reductions) {
  for (const int n : {1, 31, 33, 1025, 3001}) {
    expect_same([n](auto put) { return sum(put(waves(n))); }, 1e-4);
    expect_same([n](auto put) { return max(put(waves(n))); });
    expect_same([n](auto put) { return argmin(put(waves(n))); });
  }
  expect_same([](auto put) { return sum(put(waves(7 * 45).reshape({7, 45})), {.axis = 0}); }, 1e-5);
  expect_same([](auto put) { return sum(put(waves(7 * 45).reshape({7, 45})), {.axis = 1}); }, 1e-5);
  expect_same([](auto put) { return sum(put(waves(7 * 45).reshape({3, 7, 15})), {.axis = {0, 2}}); }, 1e-5);
}

TEST(OddSizesOnPtx, Products) {
  expect_same([](auto put) {
    return matmul(put(arange<int>(15).reshape({3, 5})), put(arange<int>(35).reshape({5, 7})));
  });
  expect_same(
      [](auto put) {
        return matmul(put(waves(15).reshape({3, 5})), put(waves(35).reshape({7, 5})).T());
      },
      1e-5);
}

}  // namespace odd_sizes_test
