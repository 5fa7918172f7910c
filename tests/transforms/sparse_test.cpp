// Sparse Jacobians and Hessians next to dense ones: patterns, colors, transforms, errors.

#include <gtest/gtest.h>

// clang-format off
#include <nax/backend/cpu/factor/eigen_core.hpp>  // before Eigen's other headers
#include <Eigen/SparseCore>
// clang-format on
#include <cmath>
#include <cstdint>
#include <nax/numpy.hpp>
#include <nax/transform.hpp>
#include <string>
#include <vector>

#include "support/refusal.hpp"

namespace sparse_test {

using nax::slice, nax::_;
using Real = nax::Array<double>;

void expect_equal(const Real& a, const Real& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_LE(nax::max(nax::abs(a - b), {.initial = 0}).item(),
            1e-12 * (1 + nax::max(nax::abs(b), {.initial = 0}).item()));
}

// Rosenbrock's residuals: two and one in turn.
Real chain(const Real& x) {
  return nax::concatenate({10. * (x(slice(1, _)) - square(x(slice(_, -1)))), 1. - x(slice(_, -1))});
}
// Distances of points whose numbers are drawn.
struct Distances {
  nax::Array<std::int64_t> a, b;
  Distances(std::int64_t count, std::int64_t points) {
    std::vector<std::int64_t> i, j;
    for (std::int64_t k = 0; k < count; ++k) {
      i.push_back(k * 7 % points);
      j.push_back((k * 13 + 5 + k / points) % points);
    }
    a = nax::asarray(i), b = nax::asarray(j);
  }
  Real operator()(const Real& p) const {
    const Real d = take(p, a, {.axis = 0}) - take(p, b, {.axis = 0});
    return sqrt(1. + sum(d * d, {.axis = 1}));
  }
};

TEST(SparseJacobian, EqualsTheDenseOne) {
  const Real x = nax::sin(nax::arange<double>(20));
  for (const char* mode : {"auto", "forward", "reverse"}) {
    const auto jac = nax::sparse_jacobian(chain, x, {.mode = mode});
    EXPECT_LE(jac.colors(), 3);
    for (const Real& at : {x, Real(x * x + 2.)}) {
      const auto [r, J] = jac(at);
      expect_equal(r, chain(at));
      EXPECT_EQ(*J.shape, (nax::Shape{38, 20}));
      EXPECT_EQ(J.data.size(), 3 * 19);
      expect_equal(J.todense(), nax::jacfwd(chain)(at));
    }
  }
  // Of arrays of more axes: rows and columns in row-major order.
  const Distances f(60, 12);
  const Real points = nax::sin(nax::arange<double>(36)).reshape({12, 3});
  const auto [r, J] = nax::sparse_jacobian(f, points)(points);
  expect_equal(J.todense(), nax::jacfwd(f)(points).reshape({60, 36}));
  const auto [v, V] = nax::sparse_jacobian([](const Real& x) { return x * x; }, points)(points);
  expect_equal(v, points * points);
  expect_equal(V.data, 2. * points.reshape({-1}));
}

TEST(SparseJacobian, FewestColorsOfRowsOrColumns) {
  // A full row needs as many colors as columns, and two of rows; a full column the other way round.
  const auto row = [](const Real& x) { return nax::concatenate({2. * x, sum(x * x, {.keepdims = true})}); };
  const auto column = [](const Real& x) { return x * x(0); };
  const Real x = nax::arange<double>(10) + 1.;
  EXPECT_EQ(nax::sparse_jacobian(row, x).colors(), 2);
  EXPECT_EQ(nax::sparse_jacobian(row, x, {.mode = "forward"}).colors(), 10);
  EXPECT_EQ(nax::sparse_jacobian(column, x).colors(), 2);
  EXPECT_EQ(nax::sparse_jacobian(column, x, {.mode = "reverse"}).colors(), 10);
  expect_equal(nax::sparse_jacobian(row, x)(x).second.todense(), nax::jacfwd(row)(x));
}

TEST(SparseJacobian, OfFloatsAndNothing) {
  const nax::Array<float> x{1, 2, 3};
  const auto f = [](const nax::Array<float>& x) { return x * x; };
  const auto [r, J] = nax::sparse_jacobian(f, x)(x);
  EXPECT_TRUE(array_equal(J.todense(), nax::diag(2.f * x)));
  const auto constant = [](const Real& x) { return Real(0. * stop_gradient(x)); };
  const auto none = nax::sparse_jacobian(constant, Real{1, 2});
  EXPECT_EQ(none(Real{1, 2}).second.data.size(), 0);
  expect_equal(none(Real{1, 2}).second.todense(), nax::zeros<double>({2, 2}));
}

TEST(SparseJacobian, IsAnEigenMatrix) {
  const Real x = nax::sin(nax::arange<double>(8));
  const auto [r, J] = nax::sparse_jacobian(chain, x)(x);
  const auto map = as_eigen(J);
  EXPECT_EQ(map.rows(), 14);
  EXPECT_EQ(map.cols(), 8);
  EXPECT_EQ(map.nonZeros(), 21);
  const Real dense = nax::jacfwd(chain)(x);
  const Eigen::SparseMatrix<double> normal = map.transpose() * map;
  const Real wanted = matmul(dense.T(), dense);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) EXPECT_NEAR(normal.coeff(i, j), wanted(i, j).item(), 1e-12);
}

TEST(SparseJacobian, ComposesWithTransforms) {
  const Real x = nax::sin(nax::arange<double>(6));
  const auto jac = nax::sparse_jacobian(chain, x);
  const auto size = [&](const Real& x) { return sum(square(jac(x).second.data)); };
  const auto dense = [&](const Real& x) { return sum(square(nax::jacfwd(chain)(x))); };
  expect_equal(nax::grad(size)(x), nax::grad(dense)(x));
  expect_equal(nax::jit(nax::grad(size))(x), nax::grad(dense)(x));
  const Real both = nax::stack({x, 2. * x});
  expect_equal(nax::vmap(size)(both), nax::vmap(dense)(both));
}

TEST(SparseHessian, EqualsTheDenseOne) {
  const auto f = [](const Real& x) { return sum(square(chain(x))); };
  const Real x = nax::sin(nax::arange<double>(30));
  const auto hess = nax::sparse_hessian(f, x);
  EXPECT_EQ(hess.colors(), 3);
  for (const Real& at : {x, Real(x + 2.)}) {
    const auto [g, H] = hess(at);
    expect_equal(g, nax::grad(f)(at));
    EXPECT_EQ(H.data.size(), 3 * 30 - 2);
    expect_equal(H.todense(), nax::hessian(f)(at));
  }
}

TEST(SparseJacobian, PatternsAndColorsByHand) {
  const Real x{1, 2, 3, 4};
  const auto f = [](const Real& x) { return x * roll(x, 1); };
  const nax::Array<bool> pattern{{1, 0, 0, 1}, {1, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}};
  const Real dense = nax::jacfwd(f)(x);
  const auto jac = nax::sparse_jacobian(f, x, {.pattern = pattern, .colors = {0, 1, 0, 1}});
  EXPECT_EQ(jac.colors(), 2);
  expect_equal(jac(x).second.todense(), dense);
  const nax::SparsityPattern rows({0, 2, 4, 6, 8}, {3, 0, 1, 0, 1, 2, 3, 2});
  expect_equal(nax::sparse_jacobian(f, x, {.pattern = rows})(x).second.todense(), dense);
  // A branch that the start does not take.
  const auto bent = [](const Real& x) { return Real(where(x > 100., x * roll(x, 1), x)); };
  const Real far{200, 201, 202, 203};
  expect_equal(nax::sparse_jacobian(bent, x, {.pattern = pattern})(far).second.todense(),
               nax::jacfwd(bent)(far));
}

TEST(SparseJacobian, RefusesBadInput) {
  const Real x{1, 2, 3, 4};
  const auto f = [](const Real& x) { return x * roll(x, 1); };
  const auto with = [&](const nax::SparseJacobianOptions& o) {
    return refusal([&] { nax::sparse_jacobian(f, x, o); });
  };
  EXPECT_EQ(with({.pattern = nax::eye<bool>(4)}),
            "sparse_jacobian: pattern: row 0 has derivatives outside of the pattern");
  EXPECT_EQ(with({.pattern = nax::eye<bool>(3)}),
            "sparse_jacobian: pattern: it has 3 rows, the matrix has shape (4, 4)");
  EXPECT_EQ(with({.pattern = {{0, 1, 2, 3, 4}, {0, 1, 4, 2}}}),
            "sparse_jacobian: pattern: row 2 names column 4, which is out of bounds");
  EXPECT_EQ(with({.pattern = {{0, 2, 2, 3, 4}, {1, 1, 3, 2}}}),
            "sparse_jacobian: pattern: row 0 names column 1 twice");
  EXPECT_EQ(with({.colors = {0, 1, 1, 0}}),
            "sparse_jacobian: colors: two columns of color 0 have elements in row 0");
  EXPECT_EQ(with({.colors = {0, 1}}), "sparse_jacobian: colors: 2 for 4 columns");
  EXPECT_EQ(with({.colors = {0, 1, 0, -1}}), "sparse_jacobian: colors: -1 is no color");
  EXPECT_EQ(with({.colors = {0, 1, 0, 1}, .mode = "reverse"}),
            "sparse_jacobian: colors are those of columns, mode is 'reverse'");
  EXPECT_EQ(with({.mode = "backward"}),
            "sparse_jacobian: mode must be 'auto', 'forward' or 'reverse', not 'backward'");
  EXPECT_EQ(refusal([&] {
              nax::SparsityPattern({0, 2, 1}, {0});
            }),
            "SparsityPattern: indptr must rise from 0 to the number of indices, 1");
  EXPECT_EQ(refusal<nax::ShapeError>([&] { nax::SparsityPattern(nax::ones<bool>({3})); }),
            "SparsityPattern: the matrix must have two axes, got shape (3,)");
  EXPECT_EQ(refusal<nax::ShapeError>([&] {
              nax::sparse_jacobian(f, x)(Real{1, 2});
            }),
            "sparse_jacobian: x must have shape (4,), not (2,)");
  EXPECT_EQ(refusal<nax::ShapeError>([&] { nax::sparse_hessian(f, x); }).substr(0, 5), "grad:");
}

}  // namespace sparse_test
