// Factorisations, tested by functions of their results that do not depend on the scale of eigenvectors.

#include "nax/linalg/eig.hpp"
#include "nax/linalg/eigh.hpp"
#include "nax/linalg/lu.hpp"
#include "nax/linalg/matrix_functions.hpp"
#include "nax/linalg/pinv.hpp"
#include "nax/linalg/qr.hpp"
#include "nax/linalg/svd.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "table/harness.hpp"

namespace factorisations_test {
using namespace table;
namespace la = nax::linalg;
using nax::matmul;
using nax::matrix_transpose;

Real symmetric(const Real& x) { return x + matrix_transpose(x); }
Real positive(const Real& x) { return matmul(x, matrix_transpose(x)) + 2.0 * nax::eye<double>(x.shape(-2)); }
Real diagonal_matrix(const Real& w) { return nax::expand_dims(w, -2) * nax::eye<double>(w.shape(-1)); }

Row of(std::string name, Real (*f)(const Operands&), std::vector<std::vector<Operand>> cases) {
  Row r = unrecorded(row(std::move(name), f, std::move(cases)));
  r.difference = 1e-5;
  return r;
}
#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand square = {{3, 3}, -1, 1}, squares = {{2, 2, 2}, -1, 1}, tall = {{4, 2}, -1, 1},
              wide = {{2, 3}, -1, 1}, many = {{2, 1, 3, 2}, -1, 1}, none = {{0, 0}}, no_rows = {{2, 0, 3}};

Real eigh_function(const Real& x) {
  const auto [w, v] = la::eigh(symmetric(x));
  return matmul(matmul(v, diagonal_matrix(nax::exp(w))), matrix_transpose(v));
}
Real svd_function(const Real& x) {
  const auto [u, s, vh] = la::svd(x, {.full_matrices = false});
  return matmul(matmul(u, diagonal_matrix(nax::sin(s))), vh);
}
Real eig_function(const Real& x) {
  const auto [w, v] = la::eig(x);
  return nax::real(
      matmul(v, nax::expand_dims(w * w, -1) * nax::expand_dims(v(nax::ellipsis, 0, nax::_), -1)));
}

const bool rows = add({
    of("qr.Q", OF(la::qr(x[0]).Q), {{square}, {tall}, {wide}, {many}, {none}, {no_rows}}),
    of("qr.R", OF(la::qr(x[0]).R), {{square}, {tall}, {wide}, {squares}}),
    of("qr.r", OF(la::qr(x[0], {.mode = "r"}).R), {{square}}),
    of("qr.complete", OF(la::qr(x[0], {.mode = "complete"}).Q), {{square}, {wide}}),
    of("eigh", OF(eigh_function(x[0])), {{square}, {squares}, {none}}),
    of("eigh.eigenvalues", OF(la::eigh(symmetric(x[0]), {.UPLO = 'U'}).eigenvalues), {{square}, {squares}}),
    of("eigvalsh", OF(la::eigvalsh(symmetric(x[0]))), {{square}, {squares}, {none}}),
    of("svd", OF(svd_function(x[0])), {{square}, {tall}, {wide}, {many}, {no_rows}}),
    of("svd.U", OF(la::svd(x[0], {.full_matrices = false}).U), {{square}, {tall}}),
    of("svd.hermitian", OF(la::svd(symmetric(x[0]), {.hermitian = true}).S), {{square}, {squares}}),
    of("svdvals", OF(la::svdvals(x[0])), {{square}, {tall}, {wide}, {many}, {no_rows}}),
    of("eig", OF(eig_function(x[0])), {{square}, {squares}}),
    of("eig.eigenvectors", OF(nax::imag(la::eig(x[0]).eigenvectors) + nax::real(la::eig(x[0]).eigenvectors)),
       {{square}}),
    of("eigvals", OF(nax::imag(la::eigvals(x[0])) + 2.0 * nax::real(la::eigvals(x[0]))),
       {{square}, {squares}}),
    of("pinv", OF(la::pinv(x[0])), {{square}, {tall}, {wide}, {many}, {no_rows}}),
    of("lstsq", OF(la::lstsq(x[0], x[1]).x),
       {{tall, {{4}}}, {wide, {{2, 2}}}, {square, {{3, 1}}}, {many, {{2, 1, 3, 2}}}}),
    of("lstsq.residuals", OF(la::lstsq(x[0], x[1]).residuals), {{tall, {{4}}}, {tall, {{4, 2}}}}),
    of("lu.l", OF(la::lu(x[0]).l), {{square}, {tall}, {wide}, {many}, {no_rows}}),
    of("lu.u", OF(la::lu(x[0]).u), {{square}, {tall}, {wide}, {squares}}),
    of("lu_solve", OF(la::lu_solve(la::lu_factor(x[0]), x[1])), {{square, {{3}}}, {squares, {{2, 2, 1}}}}),
    of("lu_solve.T", OF(la::lu_solve(la::lu_factor(x[0]), x[1], {.trans = 1})), {{square, {{3, 2}}}}),
    of("cho_solve", OF(la::cho_solve(la::cho_factor(positive(x[0])), x[1])),
       {{square, {{3}}}, {squares, {{2, 2}}}}),
    of("cho_solve.lower", OF(la::cho_solve(la::cho_factor(positive(x[0]), {.lower = true}), x[1])),
       {{square, {{3, 2}}}}),
    of("expm", OF(la::expm(x[0])), {{square}, {squares}, {{{2, 2}, -8, 8}}, {none}}),
    of("sqrtm", OF(nax::real(la::sqrtm(positive(x[0])))), {{square}, {squares}, {none}}),
    of("solve_sylvester", OF(la::solve_sylvester(positive(x[0]), positive(x[1]), x[2])),
       {{square, {{2, 2}, -1, 1}, {{3, 2}}}, {squares, {{1, 1}, 1, 2}, {{2, 1}}}}),
    of("polar.u", OF(la::polar(x[0]).u), {{square}, {tall}, {wide}, {squares}}),
    of("polar.p", OF(la::polar(x[0], {.side = "left"}).p), {{square}, {tall}, {wide}}),
});

}  // namespace factorisations_test

#undef OF
