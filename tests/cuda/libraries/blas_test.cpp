#include "cuda/runtime/blas.hpp"

#include "cuda/runtime/on_stand_in.hpp"
#include "operations/both_devices.hpp"

// Calls of cuBLASLt, on its stand-in.
namespace blas_test {

using namespace nax;
using both_devices::expect_near, both_devices::waves;
using nn::Activation;
using A = Array<float>;

class Blas : public on_stand_in::OnStandIn {
 protected:
  ~Blas() override { blas_stand_in::refuses_epilogues = false, blas_stand_in::has_kernels = true; }
  static A numbers(std::int64_t rows, std::int64_t columns) {
    return there(waves(static_cast<int>(rows * columns)).reshape({rows, columns}));
  }
  // Products that f launches.
  template <class F>
  static long products(const F& f) {
    const long before = blas_stand_in::products;
    f();
    return blas_stand_in::products - before;
  }
};

// A step of three layers: a product a layer forward, two back, but one for the first.
TEST_F(Blas, LinearTakesAProductAndTwoForItsGradients) {
  const A x = numbers(8, 24);
  const std::vector<A> w = {numbers(24, 16), numbers(16, 8), numbers(8, 4)},
                       b = {numbers(1, 16)(0), numbers(1, 8)(0), numbers(1, 4)(0)};
  const auto loss = [&](const std::vector<A>& w, const std::vector<A>& b) {
    A y = nn::linear(x, w[0], b[0], Activation::gelu);
    y = nn::linear(y, w[1], b[1], Activation::relu);
    return A(mean(square(nn::linear(y, w[2], b[2], Activation::identity))));
  };
  EXPECT_EQ(products([&] { grad<0, 1>(loss)(w, b); }), 3 + 5);
}

TEST_F(Blas, WithoutKernelsForEpiloguesPartsAreComputed) {
  const auto loss = [](const A& x, const A& w, const A& b, Activation activation) {
    return A(sum(square(nn::linear(x, w, b, activation))));
  };
  const A x = numbers(5, 16), w = numbers(16, 8), b = numbers(1, 8)(0);
  const Device cpu = devices("cpu")[0];
  const A hx = device_put(x, cpu), hw = device_put(w, cpu), hb = device_put(b, cpu);
  for (const bool refuses : {true, false})
    for (const Activation activation : {Activation::identity, Activation::relu, Activation::gelu}) {
      SCOPED_TRACE(static_cast<int>(activation));
      // Other leading extents than before: plans are kept.
      const std::int64_t rows = refuses ? 3 : 5;
      blas_stand_in::refuses_epilogues = refuses;
      const auto of = [&](const A& x, const A& w, const A& b) {
        return grad<0, 1, 2>([&](const A& x, const A& w, const A& b) { return loss(x, w, b, activation); })(
            A(x(slice(0, rows))), w, b);
      };
      const auto actual = of(x, w, b), expected = of(hx, hw, hb);
      expect_near(std::get<0>(actual), std::get<0>(expected), 1e-5);
      expect_near(std::get<1>(actual), std::get<1>(expected), 1e-5);
      expect_near(std::get<2>(actual), std::get<2>(expected), 1e-5);
    }
}

// Of batches that do not merge, the axis of most products is one call.
TEST_F(Blas, BatchesTakeACallForEachOfTheFewest) {
  const auto heads = [](const A& x, const Shape& shape) { return x.reshape(shape).transpose({0, 2, 1, 3}); };
  for (const auto& [batch, count] : {std::pair{2, 4}, std::pair{5, 3}}) {
    const A x = numbers(batch * 3, count * 6), y = numbers(batch * 6, count * 4);
    const Device cpu = devices("cpu")[0];
    const auto product = [&, n = batch, h = count](const A& x, const A& y) {
      return matmul(heads(x, {n, 3, h, 6}), heads(y, {n, 6, h, 4}));
    };
    EXPECT_EQ(products([&] { product(x, y); }), std::min(batch, count));
    expect_near(product(x, y), product(device_put(x, cpu), device_put(y, cpu)), 1e-5);
    const auto loss = [&](const A& x, const A& y) { return A(sum(square(product(x, y)))); };
    expect_near(grad(loss)(x, y), grad(loss)(device_put(x, cpu), device_put(y, cpu)), 1e-4);
  }
}

// Where an element of a factor meets many others, a copy of it makes all of them one call.
TEST_F(Blas, BatchesOfLargerMatricesAreOneCall) {
  const auto heads = [](const A& x) { return x.reshape({5, 40, 3, 6}).transpose({0, 2, 1, 3}); };
  const A x = numbers(200, 18), y = there(waves(4000)(slice(400, _)).reshape({200, 18}));
  const Device cpu = devices("cpu")[0];
  const auto logits = [&](const A& x, const A& y) { return matmul(heads(x), swapaxes(heads(y), 2, 3)); };
  const auto values = [&](const A& x, const A& y) { return matmul(logits(x, y), heads(y)); };
  EXPECT_EQ(products([&] { logits(x, y); }), 1);
  EXPECT_EQ(products([&] { values(x, y); }), 2);
  expect_near(values(x, y), values(device_put(x, cpu), device_put(y, cpu)), 1e-4);
  const auto loss = [&](const A& x, const A& y) { return A(sum(square(values(x, y)))); };
  EXPECT_EQ(products([&] { grad(loss)(x, y); }), 4);
}

// The operand of gelu is written in rows of eight; other rows are done in parts.
TEST_F(Blas, GradientsOfGeluInRowsOfAnyLength) {
  const A x = numbers(4, 5), w = numbers(5, 7), b = numbers(1, 7)(0);
  const Device cpu = devices("cpu")[0];
  const auto of = [](const A& x, const A& w, const A& b) {
    return grad([&](const A& w) { return A(sum(square(nn::linear(x, w, b, Activation::gelu)))); })(w);
  };
  expect_near(of(x, w, b), of(device_put(x, cpu), device_put(w, cpu), device_put(b, cpu)), 1e-5);
}

TEST_F(Blas, TakesManyBatchesInParts) {
  const A x = there(waves(70'000 * 2).reshape({70'000, 1, 2})),
          y = there(waves(70'000 * 2).reshape({70'000, 2, 1}));
  A product;
  EXPECT_EQ(products([&] { product = matmul(x, y); }), 2);
  const Device cpu = devices("cpu")[0];
  expect_near(product, matmul(device_put(x, cpu), device_put(y, cpu)), 1e-5);
}

TEST_F(Blas, TakesABiasAtAnyAddress) {
  const A x = numbers(4, 16), w = numbers(16, 8), b = numbers(1, 9)(0, slice(1, none));
  const Device cpu = devices("cpu")[0];
  A y;
  EXPECT_EQ(products([&] { y = nn::linear(x, w, b, Activation::relu); }), 1);
  expect_near(y, nn::linear(device_put(x, cpu), device_put(w, cpu), device_put(b, cpu), Activation::relu),
              1e-5);
}

// The array that is added lies elsewhere than the result, at any address.
TEST_F(Blas, AddsAnArrayToAProduct) {
  const A x = numbers(5, 16), w = numbers(16, 8), b = numbers(1, 8)(0), y = numbers(1, 41)(0);
  const Device cpu = devices("cpu")[0];
  const A hx = device_put(x, cpu), hw = device_put(w, cpu), hb = device_put(b, cpu), hy = device_put(y, cpu);
  for (const int first : {0, 1}) {
    const auto rows = [&](const A& y) { return y(slice(first, first + 40)).reshape({5, 8}); };
    A z;
    EXPECT_EQ(products([&] { z = nn::add_linear(rows(y), x, w, b); }), 1);
    expect_near(z, nn::add_linear(rows(hy), hx, hw, hb), 1e-5);
    expect_near(y, hy, 0);
  }
}

// A heuristic may name a kernel and say that it does not run.
TEST_F(Blas, ReadsTheStateOfAHeuristic) {
  const A x = numbers(3, 17), y = numbers(17, 2);
  blas_stand_in::has_kernels = false;
  EXPECT_THROW(matmul(x, y), DeviceError);
  blas_stand_in::has_kernels = true;
}

}  // namespace blas_test
