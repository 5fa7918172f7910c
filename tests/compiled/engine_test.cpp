// Programs that link nax::nax call the engine, and bring the factorisations that they call.
#include <gtest/gtest.h>

#include <nax/nax.hpp>

#include "program/fuses.hpp"

#if !defined(NAX_CALLS_LIBRARY) || defined(NAX_CALLS_FACTORISATIONS)
#error "this file is to be compiled with the engine alone"
#endif

namespace engine_test {
using namespace nax;

template <class A, class B>
void expect_close(const A& a, const B& b, double tolerance = 1e-5) {
  EXPECT_TRUE(allclose(a, b, {.rtol = tolerance, .atol = tolerance})) << a << '\n' << b;
}

TEST(Engine, JitFusesMaps) {
  const auto f = [](const Array<float>& x) {
    const Array<float> y = tanh(x * 2.f);
    const Array<float> z = y * y + x;
    return Array<float>(square(z) - 1.f);
  };
  const Array<float> x = linspace<float>(-1, 1, 1000);
  auto g = jit(f);
  expect_close(g(x), f(x));
  expect_close(g(x), f(x));
  expect_steps(make_program(f)(x).text(), 1);
}

TEST(Engine, SecondDerivatives) {
  const auto f = [](const Array<double>& x) { return sum(tanh(x) * x * x); };
  const Array<double> x = {.5, -1, 2};
  const auto numbers = [&](double h) {
    Array<double> rows = zeros<double>({3, 3});
    for (int i = 0; i < 3; ++i) {
      const Array<double> step = eye<double>(3)(i) * h;
      rows = rows.at(i).set((grad(f)(x + step) - grad(f)(x - step)) / (2 * h));
    }
    return rows;
  };
  expect_close(hessian(f)(x), numbers(1e-5), 1e-7);
  expect_close(jit(hessian(f))(x), hessian(f)(x), 1e-12);
}

TEST(Engine, KernelsOfManyKinds) {
  const Array<float> x = random::normal<float>(random::key(3), {4, 6});
  const Array<float> a = matmul(x, x.T()) + 4.f * eye<float>(4);
  expect_close(matmul(linalg::inv(a), a), eye<float>(4), 1e-4);
  expect_close(matmul(linalg::cholesky(a), linalg::cholesky(a).T()), a, 1e-4);
  const auto [u, s, vt] = linalg::svd(x, {.full_matrices = false});
  expect_close(matmul(u * s, vt), x, 1e-4);
  expect_close(linalg::eigvalsh(a), sort(real(linalg::eigvals(a))), 1e-4);
  expect_close(real(fft::ifft(fft::fft(x))), x);
  expect_close(sort(x)(0), take_along_axis(x, argsort(x), -1)(0));
  expect_close(sum(nn::softmax(x), {.axis = -1}), ones<float>({4}));
  expect_close(lax::conv(reshape(x, {1, 1, 4, 6}), ones<float>({1, 1, 1, 1}), {1, 1}, "SAME"),
               reshape(x, {1, 1, 4, 6}));
  EXPECT_EQ(random::gamma<float>(random::key(1), 2.f, {7}).shape(), (Shape{7}));
  EXPECT_EQ(random::permutation(random::key(2), 9).size(), 9);
  expect_close(roots(Array<double>{1, -3, 2}), Array<std::complex<double>>{2., 1.}, 1e-10);
}

TEST(Engine, ElementsOfOtherTypes) {
  const Array<std::int16_t> i = {3, 1, 2};
  EXPECT_TRUE(array_equal(sort(i), Array<std::int16_t>{1, 2, 3}));
  EXPECT_EQ(sum(i).item(), 6);
  const Array<half> h = {half(1.f), half(2.f)};
  EXPECT_EQ(static_cast<float>(sum(h * h).item()), 5.f);
  using C = std::complex<float>;
  const Array<C> z = {C(1, 2), C(3, 4)};
  expect_close(abs(z * conj(z)), Array<float>{5, 25});
}

}  // namespace engine_test
