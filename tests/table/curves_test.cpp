// diff, integrals, and functions given by points or by coefficients.

#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/polynomials/polynomial.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/sequences/differences.hpp"
#include "nax/numpy/sequences/interpolate.hpp"
#include "table/harness.hpp"

namespace curves_test {
using namespace table;

#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand matrix = {{3, 4}};

// Ascending points.
Real ascending(const Real& x) { return nax::cumsum(nax::exp(x)); }

const bool differences = add({
    row("diff", OF(nax::diff(x[0])), {{matrix}}, Smooth::once),
    row("diff.n=2.axis=0", OF(nax::diff(x[0], {.n = 2, .axis = 0})), {{matrix}}, Smooth::once),
    unrecorded(row("diff.n=0", OF(nax::diff(x[0], {.n = 0, .prepend = x[0]})), {{matrix}}, Smooth::once)),
    unrecorded(row("diff.n=5", OF(nax::diff(x[0], {.n = 5})), {{matrix}}, Smooth::once)),
    unrecorded(row("diff.empty", OF(nax::diff(x[0])), {{{{0}}}}, Smooth::once)),
    unrecorded(row("diff.edges", OF(nax::diff(x[0], {.axis = 0, .prepend = x[1], .append = x[2]})),
                   {{matrix, {{1, 4}}, {{2, 4}}}, {matrix, {{}}, {{}}}}, Smooth::once)),
});

const bool integrals = add({
    row("trapezoid", OF(nax::trapezoid(x[0])), {{matrix}}, Smooth::once),
    row("trapezoid.dx=0.5.axis=0", OF(nax::trapezoid(x[0], {.dx = .5, .axis = 0})), {{matrix}}, Smooth::once),
    row("trapezoid.x", OF(nax::trapezoid(x[0], {.x = x[1]})), {{matrix, {{4}}}}),
    unrecorded(row("trapezoid.axis", OF(nax::trapezoid(x[0], {.x = x[1], .axis = 0})),
                   {{matrix, {{3}}}, {matrix, matrix}})),
});

const bool curves = add({
    unrecorded(
        row("interp.points", OF(nax::interp(x[0], ascending(x[1]), x[2])), {{{{2, 3}, 0, 9}, {{5}}, {{5}}}})),
    row("interp", OF(nax::interp(x[0], x[1], x[2])), {}),
    row("interp.left=-9.right=9", OF(nax::interp(x[0], x[1], x[2], {.left = -9., .right = 9.})), {}),
    row("polyval", OF(nax::polyval(x[0], x[1])), {{{{4}}, {{2, 3}}}, {{{0}}, {{3}}}, {{{1}}, {{}}}}),
});

}  // namespace curves_test

#undef OF
