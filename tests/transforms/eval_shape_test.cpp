// Shapes of results that are not computed, transposes of linear functions, and calls that jit leaves alone.
#include <gtest/gtest.h>

#include <limits>

#include "nax/nax.hpp"
#include "support/refusal.hpp"

namespace eval_shape_test {
using namespace nax;

TEST(EvalShape, GivesTheTreeOfTheResultWithoutComputing) {
  int calls = 0;
  const auto f = [&](const Array<float>& x, const std::vector<Array<double>>& many) {
    ++calls;
    return std::tuple(matmul(x, x.T()), std::vector{many[0], many[1]}, sum(x) > 0.f);
  };
  // 4 TB each, were they made.
  const Array<float> x = broadcast_to(Array<float>(1.f), {1 << 20, 1 << 20});
  const Array<double> y = broadcast_to(Array<double>(1.0), {3, 1 << 30});
  const auto [product, many, truth] = eval_shape(f, x, std::vector{y, Array<double>{1, 2}});
  EXPECT_EQ(product.shape(), Shape({1 << 20, 1 << 20}));
  ASSERT_EQ(many.size(), 2u);
  EXPECT_EQ(many[0].shape(), Shape({3, 1 << 30}));
  EXPECT_EQ(many[1].to_vector(), std::vector<double>({0, 0}));
  EXPECT_EQ(truth.dtype(), DType::boolean);
  EXPECT_EQ(calls, 1);
  // Of a gradient, for arrays that are shapes alone.
  const auto loss = [](const Array<float>& w, const Array<float>& v) { return sum(square(matmul(w, v))); };
  const Array<float> w = broadcast_to(Array<float>(0.f), {100000, 1000});
  EXPECT_EQ(eval_shape(grad(loss), w, ones<float>({1000})).shape(), w.shape());
}

TEST(EvalShape, ThrowsWhatTheFunctionThrows) {
  const auto f = [](const Array<float>& a, const Array<float>& b) { return matmul(a, b); };
  EXPECT_THROW(eval_shape(f, ones<float>({2, 3}), ones<float>({4, 5})), ShapeError);
  const auto reads = [](const Array<float>& a) { return a * (a(0).item() > 0 ? 1.f : 2.f); };
  EXPECT_THROW(eval_shape(reads, ones<float>({2})), DeviceError);
}

TEST(LinearTranspose, IsTheAdjointWhereverItIsAskedFor) {
  const Array<double> m = {{1, 2, 3}, {4, 5, 6}};
  const auto f = [&](const Array<double>& x) { return matmul(m, x) * 2.0; };
  const double inf = std::numeric_limits<double>::infinity();
  const auto transpose = linear_transpose(f, Array<double>{inf, 0, 1});
  EXPECT_EQ(std::get<0>(transpose(Array<double>{1, -1})).to_vector(), std::vector<double>({-6, -6, -6}));
  const auto both =
      linear_transpose([](const Array<double>& x, const Array<double>& y) { return x - 3.0 * y; },
                       zeros<double>({2}), zeros<double>({2}));
  const auto [x, y] = both(Array<double>{1, 2});
  EXPECT_EQ(x.to_vector(), std::vector<double>({1, 2}));
  EXPECT_EQ(y.to_vector(), std::vector<double>({-3, -6}));
}

TEST(DisableJit, CallsTheFunctionEachTime) {
  int calls = 0;
  const auto f = jit([&](const Array<float>& x) {
    ++calls;
    return x * 2.f;
  });
  const Array<float> x = {1, 2};
  f(x), f(x);
  EXPECT_EQ(calls, 1);
  disable_jit();
  EXPECT_EQ(f(x).to_vector(), std::vector<float>({2, 4}));
  f(x);
  disable_jit(false);
  EXPECT_EQ(calls, 3);
  f(x);
  EXPECT_EQ(calls, 3);
}

TEST(BroadcastedIota, CountsAlongAnAxis) {
  EXPECT_EQ(lax::broadcasted_iota<int>({2, 3}, 1).to_vector(), std::vector<int>({0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(lax::broadcasted_iota<double>({2, 3}, -2).to_vector(), std::vector<double>({0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(lax::broadcasted_iota<int>({2, 0}, 0).shape(), Shape({2, 0}));
  EXPECT_THROW(lax::broadcasted_iota<int>({2, 3}, 2), IndexError);
  EXPECT_THROW(lax::broadcasted_iota<int>({}, 0), IndexError);
}

TEST(DeviceGet, BringsTreesToTheHost) {
  const Array<float> x = {1, 2};
  const auto tree = device_get(std::pair{x, std::vector{x}});
  EXPECT_EQ(tree.first.device(), devices("cpu")[0]);
  EXPECT_EQ(tree.second[0].to_vector(), x.to_vector());
  EXPECT_EQ(default_backend(), "cpu");
}

}  // namespace eval_shape_test
