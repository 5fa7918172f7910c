#include "both_devices.hpp"

// Functions that are made of expressions, copies, gathers, reductions and products.
namespace composed_test {

using namespace nax;
using namespace both_devices;

Array<float> matrix() { return waves(24).reshape({4, 6}); }
Array<float> square() { return matrix()(_, slice(0, 4)); }
Array<float> line() { return waves(10); }

TEST(ComposedOnGpu, Joins) {
  expect_same([](auto put) { return concatenate({put(matrix()), put(matrix())}, {.axis = 1}); });
  expect_same([](auto put) { return stack({put(matrix()), put(matrix())}, {.axis = 1}); });
  expect_same([](auto put) { return split(put(matrix()), 2, {.axis = 1})[1]; });
  expect_same([](auto put) {
    return jacfwd([&](const Array<float>& x) {
      return concatenate({x, x * x, put(Array<float>{1})});
    })(put(Array<float>{1, 2}));
  });
}

TEST(ComposedOnGpu, Rearrangements) {
  expect_same([](auto put) { return tile(put(matrix()), {2, 1}); });
  expect_same([](auto put) { return roll(put(matrix()), 3); });
  expect_same([](auto put) { return pad(put(matrix()), {{1, 2}, {0, 1}}); });
  expect_same([](auto put) { return diag(put(line())); });
  expect_same([](auto put) { return tril(put(matrix())); });
  expect_same([](auto put) { return zeros_like(put(matrix())) + put(matrix()); });
  expect_same([](auto put) {
    return grad([](const Array<float>& x) { return sum(diagonal(x) * diagonal(x)); })(put(matrix()));
  });
}

TEST(ComposedOnGpu, Products) {
  expect_same([](auto put) { return einsum("ij,kj->ik", put(matrix()), put(matrix())); }, 1e-6);
  expect_same([](auto put) { return einsum("ii->i", put(square())); });
  expect_same(
      [](auto put) { return grad([](const Array<float>& x) { return einsum("ii->", x); })(put(square())); });
  for (const char* mode : {"full", "same", "valid"})
    expect_same(
        [&](auto put) {
          return convolve(put(line()), put(Array<float>{1, 2, 3}), {.mode = mode});
        },
        1e-6);
  expect_same(
      [](auto put) {
        return grad<1>([](const Array<float>& x, const Array<float>& w) {
          return sum(convolve(x, w) * convolve(x, w));
        })(put(line()), put(Array<float>{1, 2, 3}));
      },
      1e-5);
}

TEST(ComposedOnGpu, Statistics) {
  expect_same([](auto put) { return var(put(matrix()), {.axis = 0}); }, 1e-6);
  expect_same([](auto put) { return nax::std(put(matrix()), {.axis = 1, .ddof = 1}); }, 1e-6);
  expect_same([](auto put) { return clip(put(matrix()), -.5f, .5f); });
  expect_same([](auto put) { return nanmean(put(matrix()), {.axis = 0}); }, 1e-6);
  expect_same([](auto put) { return average(put(matrix()), {.axis = 0, .weights = put(arange<float>(4))}); },
              1e-6);
  expect_same([](auto put) { return nn::layer_norm(put(matrix()), put(ones({6})), put(zeros({6}))); }, 1e-5);
  expect_same(
      [](auto put) {
        return grad([](const Array<float>& x) { return sum(nn::standardize(x) * x); })(put(matrix()));
      },
      1e-4);
}

// Gradients lie beside their loss, wherever the thread computes.
template <class T>
void expect_gradient_on_host() {
  const Array<T> x = Array<float>{1, 2, 3}.astype<T>();
  const detail::ComputeOn there(gpu());
  const Array<T> gradient = grad([](const Array<T>& v) { return sum(v * v); })(x);
  EXPECT_EQ(gradient.device(), devices("cpu")[0]);
  EXPECT_EQ(gradient.template astype<float>().to_vector(), (std::vector<float>{2, 4, 6}));
}
TEST(ComposedOnGpu, GradientsOfHostLossesLieOnTheHost) {
  expect_gradient_on_host<half>();
  expect_gradient_on_host<bfloat16>();
  expect_gradient_on_host<float>();
  expect_gradient_on_host<double>();
}

}  // namespace composed_test
