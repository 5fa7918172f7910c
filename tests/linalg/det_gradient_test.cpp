// Derivatives of determinants at singular matrices, against their cofactors and JAX's values.

#include <gtest/gtest.h>

#include <cmath>

#include "nax/linalg/determinant.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/conversion/print.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jacobian.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"

namespace det_gradient_test {

namespace la = nax::linalg;
using A = nax::Array<double>;

void expect_near(const A& got, const A& want, double tolerance = 1e-12) {
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape()));
  EXPECT_TRUE(nax::all(nax::abs(got - want) <= tolerance * (1 + nax::abs(want))).item())
      << got << "\n is not\n"
      << want;
}

const auto det = [](const A& x) { return nax::sum(la::det(x)); };

// The minor of rows without i and columns without j, with its sign.
double cofactor(const A& a, std::int64_t i, std::int64_t j) {
  const std::int64_t n = a.shape(0);
  std::vector<double> rest;
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < n; ++c)
      if (r != i && c != j) rest.push_back(a(r, c).item());
  const A minor = nax::array(rest).reshape({n - 1, n - 1});
  return ((i + j) % 2 == 0 ? 1 : -1) * (n == 1 ? 1 : la::det(minor).item());
}
A cofactors(const A& a) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < a.shape(0); ++i)
    for (std::int64_t j = 0; j < a.shape(0); ++j) all.push_back(cofactor(a, i, j));
  return nax::array(all).reshape({a.shape(0), a.shape(0)});
}

TEST(DetGradient, IsTheAdjugateAtEveryRank) {
  expect_near(nax::grad(det)(A{{1, 2}, {2, 4}}), A{{4, -2}, {-2, 1}});
  expect_near(nax::grad(det)(A{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}), A{{-3, 6, -3}, {6, -12, 6}, {-3, 6, -3}});
  expect_near(nax::grad(det)(A{{1, 2, 3}, {2, 4, 6}, {3, 6, 9}}), nax::zeros<double>({3, 3}));
  expect_near(nax::grad(det)(nax::zeros<double>({2, 2})), nax::zeros<double>({2, 2}));
  expect_near(nax::grad(det)(A{{0}}), A{{1}});
  EXPECT_EQ(nax::grad(det)(nax::zeros<double>({0, 0})).size(), 0);
  // Ten rows, of rank 10, 9, 8.
  std::uint32_t state = 1;
  std::vector<double> values(100);
  for (double& v : values) v = ((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0 - 1;
  const A a = nax::array(values).reshape({10, 10});
  const A once = a.at(3).set(a(1) * 2.0 - a(7)), twice = once.at(8).set(once(2) + once(1));
  for (const A& x : {a, once, twice}) expect_near(nax::grad(det)(x), cofactors(x), 1e-11);
  const A t = a * 0.5 + 1.0;
  const auto along = nax::jvp([](const A& x) { return la::det(x); }, std::tuple{once}, std::tuple{t}).second;
  expect_near(along, nax::sum(cofactors(once) * t), 1e-11);
}

TEST(DetGradient, OfBatchesAndUnderVmap) {
  const A many = {{{1, 2}, {2, 4}}, {{4, 1}, {1, 3}}, {{0, 0}, {0, 0}}};
  const A want = {{{4, -2}, {-2, 1}}, {{3, -1}, {-1, 4}}, {{0, 0}, {0, 0}}};
  expect_near(nax::grad(det)(many), want);
  expect_near(nax::vmap(nax::grad(det))(many), want);
}

// The second derivative of det along two directions at a singular matrix is a polynomial's, as the first is.
TEST(DetGradient, SecondDerivatives) {
  const A hessian = nax::hessian(det)(A{{1, 2}, {2, 4}});
  A want = nax::zeros<double>({2, 2, 2, 2});
  want = want.at(0, 0, 1, 1).set(1).at(1, 1, 0, 0).set(1).at(0, 1, 1, 0).set(-1).at(1, 0, 0, 1).set(-1);
  expect_near(hessian, want);
  const A dull = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, bright = {{4, 1, -2}, {0.5, -3, 1}, {2, 0.3, 5}};
  const A v = {{1, -0.5, 2}, {0.3, 0.7, -1}, {-2, 1, 0.4}};
  const A both = nax::stack({dull, bright}), zero = nax::zeros<double>({3, 3});
  const auto slope = [&](const A& x) { return nax::sum(nax::grad(det)(x) * v); };
  const auto exact = [&](const A& x) {  // of the polynomial det(x + s v), by its values
    return cofactors(x + v) - 2.0 * cofactors(x) + cofactors(x - v);
  };
  // Cofactors are quadratic: central differences of step 1 are their derivatives but for rounding.
  const auto change = [&](const A& x) { return 0.5 * (cofactors(x + v) - cofactors(x - v)); };
  for (const A& x : {dull, bright, zero}) {
    expect_near(nax::grad(slope)(x), change(x), 1e-11);
    expect_near(nax::jvp(nax::grad(det), std::tuple{x}, std::tuple{v}).second, change(x), 1e-11);
    const auto second = [&](const A& y) { return nax::sum(nax::grad(slope)(y) * v); };
    expect_near(nax::grad(second)(x), exact(x), 1e-11);
  }
  expect_near(nax::grad(slope)(both), nax::stack({change(dull), change(bright)}), 1e-11);
}

}  // namespace det_gradient_test
