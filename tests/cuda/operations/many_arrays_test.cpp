#include "both_devices.hpp"

// Expressions of more arrays than one kernel takes.
namespace many_arrays_test {

using namespace nax;
using namespace both_devices;

Array<float> twenty(const Array<float>& x, const Array<float>& row) {
  return tanh(x * row + x * row + x * row + x * row + x * row - x * row) *
             sin(x + row + x + row + x + row - x * x) +
         x;
}

TEST(ManyArraysOnGpu, ValuesAndGradients) {
  const auto loss = [](const Array<float>& x, const Array<float>& row) { return sum(twenty(x, row)); };
  const auto matrix = [] { return waves(24).reshape({4, 6}); };
  expect_same([&](auto put) { return twenty(put(matrix()), put(waves(6))); }, 1e-5);
  expect_same([&](auto put) { return grad(loss)(put(matrix()), put(waves(6))); }, 1e-5);
  expect_same([&](auto put) { return grad<1>(loss)(put(matrix()), put(waves(6))); }, 1e-5);
  expect_same(
      [&](auto put) {
        return vmap(grad(loss), {.in_axes = {0, none}})(put(matrix()), put(waves(6)));
      },
      1e-5);
}

}  // namespace many_arrays_test
