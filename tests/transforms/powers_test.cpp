#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <tuple>

// Derivatives of x^n for a whole C++ number n, which stays one in derivatives of any order and type.
namespace powers_test {
using namespace nax;

template <class T>
Array<T> numbers() {
  return Array<double>{.5, .75, 1., 1.25, 1.5, 2.}.astype<T>();
}
template <class T>
void expect_close(const Array<T>& a, const Array<T>& b, double tolerance, int n) {
  const auto wide = [](const Array<T>& x) { return Array<double>(x.template astype<double>()); };
  const Array<double> x = wide(a), y = wide(b);
  EXPECT_LE(max(Array<double>(abs(x - y) - tolerance * abs(y))).item(), 0) << a << b << n;
}

// Of second order: plain, under jit and by jvp, and what n (n - 1) x^(n - 2) is.
template <class T>
void expect_second_derivatives(double tolerance) {
  using A = Array<T>;
  const A x = numbers<T>();
  for (const int n : {-2, -1, 0, 1, 2, 3, 4}) {
    const auto f = [n](const A& v) { return A(pow(v, n)); };
    const auto second = vmap(grad(grad(f)));
    const auto pushed = [f](const A& v) {
      const auto slope = [&](const A& u) { return A(grad([&](const A& w) { return A(sum(f(w))); })(u)); };
      return A(jvp(slope, std::tuple{v}, std::tuple{ones_like(v)}).second);
    };
    const A wanted = A(Array<double>(double(n) * (n - 1) * pow(x.template astype<double>(), double(n - 2)))
                           .template astype<T>());
    expect_close(second(x), wanted, tolerance, n);
    expect_close(jit(second)(x), second(x), tolerance, n);
    expect_close(pushed(x), wanted, tolerance, n);
    expect_close(A(jit(pushed)(x)), pushed(x), tolerance, n);
  }
}

TEST(Powers, OfHalfTypesHaveSecondDerivatives) {
  expect_second_derivatives<half>(4e-3);
  expect_second_derivatives<bfloat16>(4e-2);
}

TEST(Powers, OfOtherTypesHaveSecondDerivatives) {
  expect_second_derivatives<float>(1e-6);
  expect_second_derivatives<double>(1e-14);
}

// In expressions of several operations and types, to third order.
template <class T>
void expect_within_expressions(double tolerance) {
  using A = Array<T>;
  const A x = numbers<T>();
  const auto f = [](const A& v) { return A(exp(pow(v, 3) * T(.25)) + pow(sin(v), 2)); };
  const auto third = vmap(grad(grad(grad(f))));
  expect_close(A(jit(third)(x)), third(x), tolerance, 3);
  const auto hessians = [f](const A& v) { return A(hessian([&](const A& u) { return A(sum(f(u))); })(v)); };
  expect_close(A(jit(hessians)(x)), hessians(x), tolerance, 2);
}

TEST(Powers, WithinExpressionsHaveThirdDerivatives) {
  expect_within_expressions<half>(2e-2);
  expect_within_expressions<bfloat16>(2e-1);
  expect_within_expressions<float>(1e-5);
  expect_within_expressions<double>(1e-13);
  using D = Array<double>;
  using F = Array<float>;
  const D y = numbers<double>();
  const auto mixed = [y](const F& v) { return D(pow(v, 3) * pow(y, 2)); };
  const auto second = [mixed](const F& v) {
    const auto slope = [&](const F& u) { return F(grad([&](const F& w) { return D(sum(mixed(w))); })(u)); };
    return F(grad([&](const F& u) { return F(sum(slope(u))); })(v));
  };
  const F x = numbers<float>(), wanted = F(D(6. * x.astype<double>() * y * y).astype<float>());
  expect_close(second(x), wanted, 1e-6, 3);
  expect_close(F(jit(second)(x)), wanted, 1e-6, 3);
}

}  // namespace powers_test
