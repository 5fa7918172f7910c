// Norms of zeros: their derivatives are 0, plain and under each transform.

#include <gtest/gtest.h>

#include "nax/linalg/norm.hpp"
#include "nax/nax.hpp"

namespace zero_norms_test {
using namespace nax;

template <class V, class F>
void expect_zero_derivatives(const std::string& what, const F& f, const Array<V>& zero) {
  const auto slope = grad(f);
  const auto expect_zeros = [&](const std::string& how, const Array<V>& d) {
    EXPECT_FALSE(any(d != V(0)).item()) << what << ", " << how << ": " << d;
  };
  const Array<V> several = stack(std::vector{zero, zero});
  expect_zeros("grad", slope(zero));
  expect_zeros("vmap", vmap(slope)(several));
  expect_zeros("jit", jit(slope)(zero));
  expect_zeros("jit of vmap", jit(vmap(slope))(several));
  expect_zeros("jvp", jvp(f, std::tuple{zero}, std::tuple{ones_like(zero)}).second);
  expect_zeros("hessian", hessian(f)(zero));
  expect_zeros("hessian under jit", jit(hessian(f))(zero));
}

template <class T>
void check_norms() {
  using A = Array<T>;
  const A zero = zeros<T>({2, 3});
  const auto total = [](const auto& options) {
    return [=](const A& x) { return A(sum(linalg::norm(x, options))); };
  };
  using O = linalg::NormOptions;
  expect_zero_derivatives("all", total(O{}), zero);
  expect_zero_derivatives("rows", total(O{.axis = 1}), zero);
  expect_zero_derivatives("fro", total(O{.ord = "fro"}), zero);
  for (const double p : {1., 1.5, 3., linalg::inf})
    expect_zero_derivatives("p = " + std::to_string(p), total(O{.ord = p, .axis = 1}), zero);
  expect_zero_derivatives(
      "global_norm", [](const A& x) { return optim::global_norm(x).template astype<T>(); }, zero);
}
TEST(ZeroNorms, HaveDerivativesOfZero) {
  check_norms<double>();
  check_norms<float>();
  check_norms<half>();
  check_norms<bfloat16>();
}
TEST(ZeroNorms, OfRowsBesideOthers) {
  const Array<double> x{{0, 0}, {3, 4}}, want{{0, 0}, {.6, .8}};
  const auto f = [](const Array<double>& v) { return Array<double>(sum(linalg::norm(v, {.axis = 1}))); };
  EXPECT_LT(max(abs(grad(f)(x) - want)).item(), 1e-15);
  EXPECT_LT(max(abs(jit(grad(f))(x) - want)).item(), 1e-15);
  EXPECT_EQ(linalg::norm(x, {.ord = -1, .axis = 1})(0).item(), 0);
}
TEST(ZeroNorms, OfComplexNumbers) {
  const auto zero = zeros<std::complex<double>>({3});
  const auto f = [](const Array<std::complex<double>>& z) { return linalg::norm(z); };
  EXPECT_FALSE(any(grad(f)(zero) != std::complex<double>()).item());
  EXPECT_FALSE(any(jit(grad(f))(zero) != std::complex<double>()).item());
}
TEST(ZeroNorms, NormalizeLeavesZeroGradients) {
  const Array<float> zero = zeros<float>({3});
  const auto normal = optim::normalize();
  EXPECT_FALSE(any(normal.update(zero, optim::EmptyState{}).first != 0.f).item());
}

}  // namespace zero_norms_test
