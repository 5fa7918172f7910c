#include <cmath>

#include "nax/nax.hpp"
#include "support/compare.hpp"

// Jacobians and Hessians so large that derivatives are computed once a value and multiply all directions at
// once, against one direction at a time.
namespace many_directions_test {

using namespace nax;

template <class T>
Array<T> line(std::int64_t n, double low, double high) {
  return linspace<T>(low, high, n);
}

template <class T, class F>
void expect_columns(const F& f, const Array<T>& x, double tolerance) {
  const Array<T> forward = jacfwd(f)(x), reverse = jacrev(f)(x), basis = eye<T>(x.size());
  ASSERT_EQ(forward.shape(), reverse.shape());
  for (int j = 0; j < x.size(); ++j) {
    const auto [y, column] = jvp(f, std::tuple{x}, std::tuple{eval(basis(j))});
    ASSERT_TRUE(compare::close(eval(forward(_, j)), column, tolerance)) << "column " << j;
    ASSERT_TRUE(compare::close(eval(reverse(_, j)), column, tolerance)) << "column " << j;
  }
}

template <class T>
void expect_all(double tolerance) {
  const Array<T> x = line<T>(100, -2, 2), a = line<T>(100, .5, 1.5), square = outer(x, a);
  const auto expect = [&](const auto& f) { expect_columns(f, x, tolerance); };
  expect([&](const Array<T>& v) { return tanh(v * a + T(.5)) * v; });         // one array, more than once
  expect([&](const Array<T>& v) { return eval(v * v) * eval(exp(v)) - v; });  // shares that add up
  expect([&](const Array<T>& v) { return tanh(matmul(square, v)) / (T(2) + sin(matmul(v, square))); });
  expect([&](const Array<T>& v) { return exp(v(slice(3, 4)) * a); });  // a leaf that is repeated
  expect([&](const Array<T>& v) { return where(v > T(0), v * v, sin(v)); });
  expect([&](const Array<T>& v) { return nn::softplus(v) * nn::log_sigmoid(v) + nn::silu(v); });
}

TEST(ManyDirections, OfFloat) { expect_all<float>(1e-5); }
TEST(ManyDirections, OfDouble) { expect_all<double>(1e-13); }
TEST(ManyDirections, OfHalf) {
  const auto f = [](const Array<half>& v) { return eval(v * v) * half(.5f); };
  const Array<half> x = line<float>(100, -2, 2).astype<half>();
  expect_columns(f, x, 1e-2);
}

// Zero times a derivative that is infinite is zero.
TEST(ManyDirections, ZerosStayZero) {
  const Array<float> x = line<float>(100, 0, 99);
  const auto f = [](const Array<float>& v) { return sqrt(v); };
  for (const Array<float>& jacobian : {jacfwd(f)(x), jacrev(f)(x)}) {
    EXPECT_TRUE(std::isinf(jacobian(0, 0).item()));
    EXPECT_EQ(jacobian(4, 4).item(), .25f);
    EXPECT_EQ(sum(abs(jacobian(0, slice(1, _)))).item(), 0);
    EXPECT_EQ(sum(abs(jacobian(slice(1, _), 0))).item(), 0);
  }
}

TEST(ManyDirections, OfSecondOrder) {
  const Array<double> x = line<double>(100, -2, 2), a = line<double>(100, .5, 1.5);
  const auto f = [&](const Array<double>& v) {
    return sum(nn::softplus(-a * v) * tanh(v)) + square(sum(v * a));
  };
  const Array<double> h = hessian(f)(x), basis = eye<double>(100);
  for (int j = 0; j < 100; j += 7) {
    const auto [g, row] = jvp(grad(f), std::tuple{x}, std::tuple{eval(basis(j))});
    ASSERT_TRUE(compare::close(eval(h(j)), row, 1e-12)) << "row " << j;
  }
  const auto [value, third] = jvp(hessian(f), std::tuple{x}, std::tuple{a});
  EXPECT_TRUE(compare::close(third, jacfwd([&](const Array<double>& v) {
                               return get<1>(jvp(grad(f), std::tuple{v}, std::tuple{a}));
                             })(x),
                             1e-11));
}

}  // namespace many_directions_test
