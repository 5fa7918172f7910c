// Linear algebra of well-conditioned matrices.

#include "nax/linalg/cholesky.hpp"
#include "nax/linalg/determinant.hpp"
#include "nax/linalg/matrices.hpp"
#include "nax/linalg/norm.hpp"
#include "nax/linalg/solve.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "table/harness.hpp"

namespace linalg_test {
using namespace table;
namespace la = nax::linalg;
using nax::Shape;

// Far from singular; symmetric and positive.
Real regular(const Real& x) { return x + 4.0 * nax::eye<double>(x.shape(-1)); }
Real positive(const Real& x) {
  return nax::matmul(x, nax::matrix_transpose(x)) + 2.0 * nax::eye<double>(x.shape(-2));
}

Row of(std::string name, Real (*f)(const Operands&), std::vector<std::vector<Operand>> cases) {
  Row r = unrecorded(row(std::move(name), f, std::move(cases)));
  r.difference = 1e-5;
  return r;
}
#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand square = {{3, 3}, -1, 1}, squares = {{2, 2, 2}, -1, 1}, none = {{0, 0}};

const bool rows = add({
    of("solve", OF(la::solve(regular(x[0]), x[1])),
       {{square, {{3}}}, {square, {{3, 2}}}, {squares, {{2, 2, 1}}}, {squares, {{2, 3}}}}),
    of("inv", OF(la::inv(regular(x[0]))), {{square}, {squares}, {none}}),
    of("det", OF(la::det(regular(x[0]))), {{square}, {squares}, {none}}),
    of("slogdet", OF(la::slogdet(regular(x[0])).logabsdet), {{square}, {squares}}),
    of("matrix_power", OF(la::matrix_power(x[0], 3)), {{square}, {squares}}),
    of("matrix_power.inverse", OF(la::matrix_power(regular(x[0]), -2)), {{square}}),
    of("matrix_power.zero", OF(la::matrix_power(x[0], 0)), {{square}}),
    of("cholesky", OF(la::cholesky(positive(x[0]))), {{square}, {squares}, {none}}),
    of("solve_triangular", OF(la::solve_triangular(regular(x[0]), x[1])),
       {{square, {{3, 2}}}, {square, {{3}}}}),
    of("solve_triangular.lower", OF(la::solve_triangular(regular(x[0]), x[1], {.lower = true})),
       {{square, {{3, 2}}}}),
    of("norm", OF(la::norm(x[0])), {{{{3, 4}}}, {{{5}}}}),
    of("norm.axis", OF(la::norm(x[0], {.axis = 1})), {{{{3, 4}}}}),
    of("norm.ord", OF(la::norm(x[0], {.ord = 3, .axis = 0, .keepdims = true})), {{{{3, 4}}}}),
});

}  // namespace linalg_test

#undef OF
