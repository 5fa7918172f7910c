// Matrices without factors or with several, and invalid arguments.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nax/linalg.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"
#include "support/refusal.hpp"

namespace degenerate_test {

namespace la = nax::linalg;
using A = nax::Array<double>;
constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

bool all_nan(const A& x) { return x.size() > 0 && nax::all(nax::isnan(x)).item(); }
bool finite(const A& x) { return nax::all(nax::isfinite(x)).item(); }

const A broken = {{1, nan}, {2, 3}}, good = {{2, 1}, {1, 3}}, both = nax::stack({broken, good});

TEST(Degenerate, OneMatrixOfABatchThatIsNotFinite) {
  const auto check = [](const A& x) {
    EXPECT_TRUE(all_nan(x(0)));
    EXPECT_TRUE(finite(x(1)));
  };
  check(la::qr(both).R);
  check(la::qr(both).Q);
  check(la::svdvals(both));
  check(la::svd(both).Vh);
  check(la::eigvalsh(both + nax::matrix_transpose(both)));
  check(nax::real(la::eigvals(both)));
  check(nax::imag(la::eig(both).eigenvectors));
  check(la::pinv(both));
  check(la::expm(both));
  check(nax::real(la::sqrtm(both)));
  check(la::schur(both).T);
  check(la::polar(both).u);
  check(la::lstsq(both, A{1, 2}).x);
  EXPECT_TRUE(all_nan(nax::vmap([](const A& x) { return la::svdvals(x); })(both)(0)));
}

TEST(Degenerate, TheOtherTriangleIsNotRead) {
  const A lower = {{2, nan}, {1, 3}}, upper = {{2, 1}, {nan, 3}};
  EXPECT_TRUE(finite(la::eigvalsh(lower)));
  EXPECT_TRUE(finite(la::eigh(upper, {.UPLO = 'U'}).eigenvectors));
  EXPECT_TRUE(finite(la::cholesky(lower)));
  EXPECT_TRUE(finite(la::cholesky(upper, {.upper = true})));
}

TEST(Degenerate, SingularMatrices) {
  const A singular = {{1, 2}, {2, 4}};
  EXPECT_EQ(la::cond(singular, 1).item(), inf);
  EXPECT_GT(la::cond(singular).item(), 1e15);
  EXPECT_EQ(la::cond(nax::zeros<double>({2, 2})).item(), inf);
  EXPECT_TRUE(std::isnan(la::cond(broken).item()));
  EXPECT_EQ(la::matrix_rank(singular).item(), 1);
  EXPECT_EQ(la::matrix_rank(nax::zeros<double>({3, 2})).item(), 0);
  EXPECT_EQ(la::matrix_rank(A{0, 2}).item(), 1);
  EXPECT_EQ(la::matrix_rank(good, {.tol = 10}).item(), 0);
  EXPECT_TRUE(finite(la::pinv(singular)));
  EXPECT_EQ(la::slogdet(singular).logabsdet.item(), -inf);
  EXPECT_TRUE(all_nan(la::cholesky(A{{-1}})));
  const A zero = nax::zeros<double>({2, 2});
  EXPECT_TRUE(nax::all(nax::equal(la::lu(zero).u, 0.0)).item());
  EXPECT_FALSE(finite(la::solve_sylvester(good, A(-good), good)));
}

TEST(Degenerate, RepeatedValues) {
  const A one = nax::eye<double>(3);
  const auto of_values = [](const A& x) { return nax::sum(la::eigvalsh(x) * A{1, 2, 3}); };
  EXPECT_TRUE(finite(nax::grad(of_values)(one)));
  const auto of_vectors = [](const A& x) { return nax::sum(la::eigh(x).eigenvectors * A{1, 2, 3}); };
  EXPECT_FALSE(finite(nax::grad(of_vectors)(one)));
  EXPECT_TRUE(finite(nax::grad([](const A& x) { return nax::sum(la::svdvals(x)); })(one)));
  EXPECT_TRUE(finite(nax::grad([](const A& x) { return nax::sum(la::pinv(x)); })(one)));
  EXPECT_TRUE(finite(nax::grad([](const A& x) { return nax::sum(la::polar(x).u * x); })(one)));
}

TEST(Degenerate, EmptyMatrices) {
  const A none = nax::zeros<double>({0, 3});
  EXPECT_EQ(nax::to_string(la::svd(none).Vh.shape()), "(3, 3)");
  EXPECT_EQ(nax::to_string(la::qr(none).R.shape()), "(0, 3)");
  EXPECT_EQ(nax::to_string(la::qr(nax::zeros<double>({3, 0}), {.mode = "complete"}).Q.shape()), "(3, 3)");
  EXPECT_EQ(nax::to_string(la::eig(nax::zeros<double>({2, 0, 0})).eigenvectors.shape()), "(2, 0, 0)");
  EXPECT_EQ(nax::to_string(la::eigvalsh(nax::zeros<double>({0, 2, 2})).shape()), "(0, 2)");
  EXPECT_EQ(nax::to_string(la::pinv(none).shape()), "(3, 0)");
  EXPECT_EQ(nax::to_string(la::lu(none).p.shape()), "(0, 0)");
  EXPECT_EQ(nax::to_string(la::expm(nax::zeros<double>({0, 0})).shape()), "(0, 0)");
  EXPECT_EQ(nax::to_string(la::block_diag(none, A{1}).shape()), "(1, 4)");
  EXPECT_EQ(refusal<nax::Error>([&] { la::cond(none); }), "cond: not defined on empty arrays");
}

TEST(Degenerate, MissingDerivativesThrow) {
  const A tall = {{1, 2}, {3, 4}, {5, 7}};
  const auto gradient = [&](const auto& f) {
    return refusal([&] { nax::grad([&](const A& x) { return nax::sum(f(x)); })(tall); });
  };
  EXPECT_EQ(gradient([](const A& x) { return la::svd(x).U; }).substr(0, 29), "svd: what full_matrices adds ");
  EXPECT_EQ(gradient([](const A& x) { return la::qr(x, {.mode = "complete"}).R; }).substr(0, 20),
            "qr: the columns that");
  EXPECT_EQ(
      refusal(
          [&] { nax::jvp([](const A& x) { return la::schur(x).T; }, std::tuple{good}, std::tuple{good}); }),
      "schur: not differentiable with regard to a; pass stop_gradient of it if it is meant to be a constant");
}

TEST(Degenerate, InvalidArgumentsThrow) {
  const A row = {1, 2}, wide = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(refusal<nax::Error>([&] { la::svd(row); }), "svd: the array must be at least 2-d, shape (2,)");
  EXPECT_EQ(refusal<nax::Error>([&] { la::eigh(wide); }),
            "eigh: the last two axes must be square, shape (2, 3)");
  EXPECT_EQ(refusal<nax::Error>([&] { la::eigh(good, {.UPLO = 'X'}); }),
            "eigh: UPLO must be 'L' or 'U', got 'X'");
  EXPECT_EQ(refusal<nax::Error>([&] { la::qr(good, {.mode = "raw"}); }),
            "qr: mode must be 'reduced', 'complete' or 'r', got 'raw'");
  EXPECT_EQ(refusal<nax::Error>([&] {
              la::lstsq(wide, A{1, 2, 3});
            }),
            "lstsq: a and b must have as many rows: (2, 3) and (3,)");
  EXPECT_EQ(refusal<nax::Error>([&] {
              la::lu_solve(la::lu_factor(good), A{1, 2, 3});
            }),
            "lu_solve: b has not as many rows as the matrix: shapes (2, 2) and (3,)");
  for (const int row : {2, -1}) {
    const auto factors = la::lu_factor(nax::stack(std::vector<A>{good, good}));
    EXPECT_EQ(refusal<nax::Error>([&] {
                la::lu_solve(la::LuFactor<double>{factors.lu, factors.piv.at(1, 1).set(row)}, A{1, 2});
              }),
              "lu_solve: piv holds " + std::to_string(row) + ", which is no row of 2");
  }
  EXPECT_EQ(refusal<nax::Error>([&] { la::multi_dot({good}); }), "multi_dot: expecting at least two arrays");
  EXPECT_EQ(refusal<nax::Error>([&] {
              la::multi_dot({good, wide, good});
            }),
            "multi_dot: inner dimensions differ: (2, 3) x (2, 2)");
  EXPECT_EQ(refusal<nax::Error>([&] { la::cross(row, row); }),
            "cross: the vectors must have 3 elements, shapes (2,) (2,)");
  EXPECT_EQ(refusal<nax::Error>([&] { la::outer(good, row); }),
            "outer: both arrays must be 1-d, shapes (2, 2) and (2,)");
  EXPECT_EQ(refusal<nax::Error>([&] { la::tensorinv(good, {.ind = 0}); }),
            "tensorinv: ind must be positive, got 0");
  EXPECT_EQ(refusal<nax::Error>([&] { la::polar(good, {.side = "up"}); }),
            "polar: side must be 'right' or 'left', got 'up'");
  EXPECT_EQ(refusal<nax::Error>([&] { la::norm(row, {.ord = "nuc"}); }),
            "norm: ord 'fro' and 'nuc' are matrix norms, the array has one axis");
  EXPECT_EQ(refusal<nax::Error>([&] { la::solve_triangular(good, row, {.trans = 3}); }),
            "linalg: trans must be 0, 1 or 2, got 3");
  EXPECT_EQ(refusal<nax::Error>([&] { la::pinv(good, {.rcond = 1, .rtol = 1}); }),
            "pinv: rcond and rtol are one option: give one");
}

}  // namespace degenerate_test
