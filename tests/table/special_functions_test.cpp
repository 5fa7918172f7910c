// Special functions whose values tests/special holds against mpmath: their derivatives and maps.

#include "nax/special.hpp"
#include "table/harness.hpp"

namespace special_functions_test {
using namespace table;
namespace sp = nax::special;

Row one(std::string name, Real (*f)(const Operands&), double low, double high) {
  return unrecorded(row(std::move(name), f, {{{{5}, low, high}}, {{{}, low, high}}, {{{0, 2}, low, high}}}));
}
Row two(std::string name, Real (*f)(const Operands&), Interval a, Interval b) {
  return unrecorded(row(std::move(name), f, {{{{2, 1}, a.low, a.high}, {{3}, b.low, b.high}}}));
}
#define ONE(name, low, high) \
  one(                       \
      #name, [](const Operands& x) -> Real { return sp::name(x[0]); }, low, high)
#define TWO(name, ...) \
  two(                 \
      #name, [](const Operands& x) -> Real { return sp::name(x[0], x[1]); }, __VA_ARGS__)

const bool gammas = add({
    TWO(gammainc, {.6, 4}, {.5, 6}),
    TWO(gammaincc, {.6, 4}, {.5, 6}),
    TWO(poch, {.6, 4}, {.3, 2.7}),
    ONE(factorial, .2, 3),
    ONE(loggamma, .6, 4),
    TWO(beta, {.6, 4}, {.7, 3}),
    TWO(betaln, {.6, 4}, {.7, 3}),
    one(
        "betainc", [](const Operands& x) -> Real { return sp::betainc(2.5, 1.5, x[0]); }, .2, .8),
    TWO(comb, {4, 7}, {1.2, 3.3}),
    one(
        "multigammaln", [](const Operands& x) -> Real { return sp::multigammaln(x[0], 2); }, 1.2, 5),
    TWO(zeta, {1.6, 5}, {.6, 4}),
});

const bool others = add({
    ONE(erfcx, -1, 3),
    ONE(dawsn, -2, 3),
    ONE(log_ndtr, -3, 2),
    ONE(ndtri, .1, .9),
    TWO(owens_t, {.2, 2}, {.2, 2}),
    ONE(i0, .3, 3),
    ONE(i0e, .3, 3),
    ONE(i1, .3, 3),
    ONE(i1e, .3, 3),
    one(
        "bessel_jn", [](const Operands& x) -> Real { return sp::bessel_jn(x[0], {.v = 2}); }, .4, 5),
    one(
        "expn", [](const Operands& x) -> Real { return sp::expn(2, x[0]); }, .4, 3),
    ONE(exp1, .4, 3),
    ONE(expi, .6, 3),
    one(
        "sici", [](const Operands& x) -> Real { return sp::sici(x[0]).si * sp::sici(x[0]).ci; }, .5, 6),
    ONE(spence, .2, .9),
    one(
        "fresnel", [](const Operands& x) -> Real { return sp::fresnel(x[0]).S * sp::fresnel(x[0]).C; }, .3,
        2),
    one(
        "wofz",
        [](const Operands& x) -> Real { return nax::real(sp::wofz(x[0])) + nax::imag(sp::wofz(x[0])); }, .3,
        2),
    two("sph_harm_y",
        [](const Operands& x) -> Real {
          const auto y = sp::sph_harm_y(3, -2, x[0], x[1]);
          return nax::real(y) + nax::imag(y);
        },
        {.3, 2}, {.2, 4}),
    one(
        "hyp1f1", [](const Operands& x) -> Real { return sp::hyp1f1(1.5, 2.5, x[0]); }, -2, 2),
    one(
        "hyp2f1", [](const Operands& x) -> Real { return sp::hyp2f1(.5, 1.5, 2.5, x[0]); }, -2, .8),
    TWO(kl_div, {.3, 2}, {.4, 2}),
    TWO(rel_entr, {.3, 2}, {.4, 2}),
    TWO(boxcox, {.3, 2}, {-1, 1}),
    TWO(boxcox1p, {.3, 2}, {-1, 1}),
});

}  // namespace special_functions_test

#undef ONE
#undef TWO
