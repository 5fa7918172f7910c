// Polynomials: arithmetic, calculus, fits, roots.

#include "nax/numpy/polynomials/polyfit.hpp"
#include "nax/numpy/polynomials/roots.hpp"
#include "table/harness.hpp"

namespace polynomials_test {
using namespace table;

Row of(std::string name, Real (*f)(const Operands&), std::vector<std::vector<Operand>> cases) {
  return from_suite("numpy_more", row(std::move(name), f, std::move(cases)));
}
#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand five = {{5}}, three = {{3}, .5, 2}, two = {{2}};

const bool arithmetic = add({
    of("polyadd", OF(nax::polyadd(x[0], x[1])), {{five, three}, {five, {{}}}, {{{0}}, two}}),
    of("polysub", OF(nax::polysub(x[0], x[1])), {{two, five}}),
    of("polymul", OF(nax::polymul(x[0], x[1])), {{five, three}, {two, {{}}}}),
    of("polydiv.q", OF(nax::polydiv(x[0], x[1]).q), {{five, three}}),
    unrecorded(of("polydiv.r", OF(nax::polydiv(x[0], x[1]).r), {{five, three}, {five, {{5}, .5, 2}}})),
    of("polydiv.short", OF(nax::polydiv(x[0], x[1]).q), {{two, three}}),
    of("poly", OF(nax::poly(x[0])), {{five}, {{{0}}}, {{{}}}}),
    with_ulps(200, of("poly.matrix", OF(nax::poly(x[0])), {{{{3, 3}}}})),
    of("vander", OF(nax::vander(x[0])), {{three}, {{{0}}}}),
    of("vander.N=5.increasing", OF(nax::vander(x[0], {.N = 5, .increasing = true})), {{three}}),
});

const bool calculus = add({
    of("polyder", OF(nax::polyder(x[0])), {{five}, {{{1}}}}),
    of("polyder.m=2", OF(nax::polyder(x[0], 2)), {{five}}),
    of("polyint", OF(nax::polyint(x[0])), {{three}, {{{0}}}}),
    of("polyint.m=2.k", OF(nax::polyint(x[0], {.m = 2, .k = x[1]})), {{three, two}, {three, {{}}}}),
});

// Points with distances between them, whatever the operand is.
Real spread(const Real& x) { return x + 2 * nax::arange<double>(x.size()); }
#define FIT(call)                \
  OF([&] {                       \
    const Real p = spread(x[0]); \
    return Real(call);           \
  }())
const bool fits = add({
    unrecorded(of("polyfit", FIT(nax::polyfit(p, x[1], 2)), {{five, five}, {five, {{5, 2}}}})),
    unrecorded(
        of("polyfit.weights", FIT(nax::polyfit(p, x[1], 1, {.w = x[2]})), {{five, five, {{5}, .5, 2}}})),
    unrecorded(of("polyfit_cov", FIT(nax::polyfit_cov(p, x[1], 1).V), {{five, five}, {five, {{5, 2}}}})),
    unrecorded(
        of("polyfit_cov.unscaled", FIT(nax::polyfit_cov(p, x[1], 1, {.unscaled = true}).V), {{five, five}})),
});

// Invariants under the order of the roots: sums of their powers, real and imaginary parts.
Real of_roots(const Real& p) {
  const auto r = nax::roots(p, {.strip_zeros = false});
  return nax::stack({Real(nax::sum(nax::real(r * r * r))), Real(nax::sum(nax::imag(r) * nax::imag(r)))});
}
const bool roots = add({unrecorded(of("roots", OF(of_roots(x[0])), {{{{4}, .5, 2}}, {{{2}, .5, 2}}}))});

}  // namespace polynomials_test

#undef OF
#undef FIT
