// Norms, chains of products, tensors as matrices, and matrices of a pattern.

#include "nax/linalg/cholesky.hpp"
#include "nax/linalg/companion_matrices.hpp"
#include "nax/linalg/norm.hpp"
#include "nax/linalg/products.hpp"
#include "nax/linalg/special_matrices.hpp"
#include "table/harness.hpp"

namespace matrices_test {
using namespace table;
namespace la = nax::linalg;

Real regular(const Real& x) { return x + 4.0 * nax::eye<double>(x.shape(-1)); }
Real spread(const Real& x) {
  return nax::reshape(x, {6, 2, 3}) + 4.0 * nax::reshape(nax::eye<double>(6), {6, 2, 3});
}

Row of(std::string name, Real (*f)(const Operands&), std::vector<std::vector<Operand>> cases) {
  Row r = unrecorded(row(std::move(name), f, std::move(cases)));
  r.difference = 1e-5;
  return r;
}
#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand square = {{3, 3}, -1, 1}, squares = {{2, 2, 2}, -1, 1}, tall = {{4, 2}, -1, 1};

const bool rows = add({
    of("norm.2", OF(la::norm(x[0], {.ord = 2})), {{square}, {tall}}),
    of("norm.nuc", OF(la::norm(x[0], {.ord = "nuc", .axis = {0, 2}, .keepdims = true})), {{{{2, 2, 3}}}}),
    of("matrix_norm", OF(la::matrix_norm(x[0])), {{square}, {squares}}),
    of("matrix_norm.-2", OF(la::matrix_norm(x[0], {.keepdims = true, .ord = -2})), {{square}, {squares}}),
    of("matrix_norm.1", OF(la::matrix_norm(x[0], {.ord = 1})), {{squares}}),
    of("vector_norm", OF(la::vector_norm(x[0])), {{squares}, {tall}}),
    of("vector_norm.axes", OF(la::vector_norm(x[0], {.axis = {0, -1}, .keepdims = true, .ord = 3})),
       {{squares}}),
    of("cond", OF(la::cond(regular(x[0]))), {{square}, {squares}}),
    of("cond.1", OF(la::cond(regular(x[0]), 1)), {{square}, {squares}}),
    of("multi_dot", OF(la::multi_dot({x[0], x[1], x[2]})),
       {{{{2, 3}}, {{3, 4}}, {{4, 2}}}, {{{3}}, {{3, 4}}, {{4}}}, {{{3}}, {{3, 1}}, {{1, 2}}}}),
    of("cross", OF(la::cross(x[0], x[1])), {{{{3}}, {{3}}}, {{{2, 3}}, {{3}}}}),
    of("cross.axis", OF(la::cross(x[0], x[1], {.axis = 0})), {{{{3, 2}}, {{3, 2}}}}),
    of("outer", OF(la::outer(x[0], x[1])), {{{{3}}, {{2}}}}),
    of("trace", OF(la::trace(x[0], {.offset = 1})), {{squares}, {tall}}),
    of("diagonal", OF(la::diagonal(x[0], {.offset = -1})), {{squares}, {tall}}),
    of("tensorsolve", OF(la::tensorsolve(spread(x[0]), x[1])), {{{{6, 6}, -1, 1}, {{6}}}}),
    of("tensorinv", OF(la::tensorinv(spread(x[0]), {.ind = 1})), {{{{6, 6}, -1, 1}}}),
    of("block_diag", OF(la::block_diag(x[0], x[1], x[2])),
       {{square, {{2}}, {{}}}, {{{0, 2}}, {{1}}, {{2, 1}}}}),
    of("toeplitz", OF(la::toeplitz(x[0], x[1])), {{{{3}}, {{2}}}, {{{2, 3}}, {{4}}}}),
    of("toeplitz.symmetric", OF(la::toeplitz(x[0])), {{{{3}}}}),
    of("circulant", OF(la::circulant(x[0])), {{{{3}}}, {{{2, 3}}}}),
    of("hankel", OF(la::hankel(x[0], x[1])), {{{{3}}, {{2}}}, {{{2, 3}}, {{4}}}}),
    of("companion", OF(la::companion(x[0])), {{{{4}, 1, 2}}}),
    of("fiedler_companion", OF(la::fiedler_companion(x[0])), {{{{5}, 1, 2}}}),
    of("leslie", OF(la::leslie(x[0], x[1])), {{{{3}}, {{2}}}}),
    of("convolution_matrix", OF(la::convolution_matrix(x[0], 4, "same")), {{{{3}}}}),
    of("solve_triangular.trans", OF(la::solve_triangular(regular(x[0]), x[1], {.trans = "T", .lower = true})),
       {{square, {{3, 2}}}, {squares, {{2}}}}),
    of("cholesky.upper",
       OF(la::cholesky(nax::matmul(x[0], x[0].T()) + 2.0 * nax::eye<double>(3), {.upper = true})),
       {{square}}),
});

}  // namespace matrices_test

#undef OF
