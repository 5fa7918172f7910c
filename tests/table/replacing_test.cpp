// Elements replaced, numbers taken apart, index makers, bits.

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/exponential.hpp"
#include "nax/numpy/elementwise/number_parts.hpp"
#include "nax/numpy/grids/open_grids.hpp"
#include "nax/numpy/manipulation/pack_bits.hpp"
#include "nax/numpy/updates/replace.hpp"
#include "table/harness.hpp"

namespace replacing_test {
using namespace table;

#define CALL(call) []([[maybe_unused]] const Operands& x) -> Real { return real_of(call); }
const Operand matrix = {{3, 4}};
Row of(std::string name, Function f, std::vector<std::vector<Operand>> cases, Smooth smooth = Smooth::once) {
  return from_suite("numpy_names", row(std::move(name), std::move(f), std::move(cases), smooth));
}
using Ints = std::vector<int>;

const bool replaced = add({
    of("put", CALL(nax::put(x[0], Ints{0, -1, 5}, x[1])), {{matrix, {{3}}}, {matrix, {{}}}}),
    of("put.repeated", CALL(nax::put(x[0], Ints{0, 3, 4, 5, 7}, x[1])), {{matrix, {{2}}}}),
    of("put.wrap", CALL(nax::put(x[0], Ints{13, -2}, x[1], {.mode = "wrap"})), {{matrix, {{2}}}}),
    of("put.clip", CALL(nax::put(x[0], Ints{99, -2}, x[1], {.mode = "clip"})), {{matrix, {{2}}}}),
    of("place", CALL(nax::place(x[0], x[0] > 0, x[1])), {{matrix, {{3}}}, {matrix, {{}}}}),
    of("fill_diagonal", CALL(nax::fill_diagonal(x[0], x[1])), {{matrix, {{2}}}, {matrix, {{}}}}),
    of("fill_diagonal.tall", CALL(nax::fill_diagonal(x[0], x[1])), {{{{7, 3}}, {{2}}}}),
    of("fill_diagonal.wide", CALL(nax::fill_diagonal(x[0], x[1])), {{{{3, 5}}, {{2}}}}),
    of("fill_diagonal.cube", CALL(nax::fill_diagonal(x[0], x[1])), {{{{3, 3, 3}}, {{2}}}}),
    of("fill_diagonal.wrap", CALL(nax::fill_diagonal(x[0], x[1], {.wrap = true})), {{{{7, 3}}, {{1}}}}),
    of("select",
       CALL(nax::select({x[0]<-0.5, x[0]> 0.5, x[0] > 0}, {x[0], x[1], x[0] * x[1]}, {.default_ = 7})),
       {{matrix, matrix}}, Smooth::twice),
    of("piecewise",
       CALL(nax::piecewise(
           x[0], {x[0] < 0, x[0] >= 1},
           {[](const Real& v) { return v * v; }, 3, [](const Real& v) { return nax::exp(v); }})),
       {{matrix}}, Smooth::twice),
    of("piecewise.last",
       CALL(nax::piecewise(x[0], {x[0] < 1, x[0] < 0},
                           {[](const Real& v) { return -v; }, [](const Real& v) { return v * v; }})),
       {{matrix}}, Smooth::twice),
});

// Made where the tests compute.
Real odd() { return {0., -0., 1., -2.5, 1e-310, 1e300, HUGE_VAL, -HUGE_VAL, NAN, .75, -8.}; }
const bool parts = add({
    of("modf.fractional", CALL(nax::modf(x[0]).fractional), {{{{3, 4}, .1, .9}}}),
    of("modf.integral", CALL(nax::modf(x[0]).integral), {{matrix}}, Smooth::no),
    of("modf.fractional.special", CALL(nax::modf(odd()).fractional), {}),
    of("modf.integral.special", CALL(nax::modf(odd()).integral), {}),
    of("frexp.mantissa", CALL(nax::frexp(x[0]).mantissa), {{{{3, 4}, 1.1, 1.9}}}),
    of("frexp.exponent", CALL(nax::frexp(x[0]).exponent), {{matrix}}, Smooth::no),
    of("frexp.mantissa.special", CALL(nax::frexp(odd()).mantissa), {}),
    of("frexp.exponent.special", CALL(nax::frexp(odd()).exponent), {}),
    of("spacing.special", CALL(nax::spacing(odd())), {}),
    of("divmod.quotient", CALL(nax::divmod(x[0], x[1]).quotient), {}),
    of("divmod.remainder", CALL(nax::divmod(x[0], x[1]).remainder), {}),
    unrecorded(of("spacing", CALL(nax::spacing(x[0])), {{matrix}}, Smooth::no)),
});

nax::Array<bool> third() { return nax::arange<int>(26).reshape({2, 13}) % 3 == 0; }
const bool indices = add({
    of("indices", CALL(nax::indices({2, 3})), {}),
    of("tril_indices", CALL(nax::stack(nax::tril_indices(4, {.k = 1, .m = 3}))), {}),
    of("triu_indices", CALL(nax::stack(nax::triu_indices(3, {.k = -1, .m = 5}))), {}),
    of("diag_indices", CALL(nax::stack(nax::diag_indices(3, {.ndim = 3}))), {}),
    of("mask_indices",
       CALL(
           nax::stack(nax::mask_indices(4, [](const auto& m, auto o) { return nax::triu(m, o); }, {.k = 2}))),
       {}),
    of("ravel_multi_index",
       CALL(nax::ravel_multi_index({nax::Array<int>{{1}, {2}}, nax::Array<int>{0, 3, 2}}, {3, 4})), {}),
    of("ravel_multi_index.F",
       CALL(nax::ravel_multi_index({nax::Array<int>{1, 2}, nax::Array<int>{3, 0}}, {3, 4}, {.order = "F"})),
       {}),
    of("ravel_multi_index.wrap",
       CALL(nax::ravel_multi_index({nax::Array<int>{-1, 4}, nax::Array<int>{5, -6}}, {3, 4},
                                   {.mode = "wrap"})),
       {}),
    of("ravel_multi_index.clip",
       CALL(nax::ravel_multi_index({nax::Array<int>{-1, 4}, nax::Array<int>{5, -6}}, {3, 4},
                                   {.mode = "clip"})),
       {}),
    of("unravel_index", CALL(nax::stack(nax::unravel_index(nax::Array<int>{{22, 41}, {37, 0}}, {7, 6}))), {}),
    of("unravel_index.F", CALL(nax::stack(nax::unravel_index(Ints{22, 41, 37}, {7, 6}, {.order = "F"}))), {}),
    of("mgrid", CALL(nax::mgrid(nax::slice(0, 3), nax::slice(1, 7, 2))), {}),
    of("fromfunction",
       CALL(nax::fromfunction([](const auto& i, const auto& j) { return i * 10 + j; }, {2, 3})), {}),
    of("packbits", CALL(nax::packbits(third(), {.axis = 1})), {}),
    of("packbits.little", CALL(nax::packbits(third(), {.bitorder = "little"})), {}),
    of("unpackbits", CALL(nax::unpackbits(nax::Array<std::uint8_t>{{2, 7}, {23, 255}}, {.axis = 0})), {}),
    of("unpackbits.count",
       CALL(nax::unpackbits(nax::Array<std::uint8_t>{{2}, {7}, {23}},
                            {.axis = 1, .count = -3, .bitorder = "little"})),
       {}),
    of("bitwise_count", CALL(nax::bitwise_count(nax::Array<std::int8_t>{-128, -1, 0, 7, 127})), {}),
    // Under vmap as in a loop.
    unrecorded(of("ravel_multi_index.mapped",
                  CALL(nax::ravel_multi_index({x[0].astype<int>(), x[1].astype<int>()}, {3, 4})),
                  {{{{3}, 0, 2, true}, {{3}, 0, 3, true}}}, Smooth::no)),
    unrecorded(of("unravel_index.mapped", CALL(nax::stack(nax::unravel_index(x[0].astype<int>(), {3, 4}))),
                  {{{{3}, 0, 11, true}}}, Smooth::no)),
    unrecorded(of("packbits.mapped", CALL(nax::packbits(x[0] > 0)), {{{{11}}}}, Smooth::no)),
    unrecorded(of("unpackbits.mapped", CALL(nax::unpackbits(x[0].astype<std::uint8_t>())),
                  {{{{2}, 0, 255, true}}}, Smooth::no)),
    unrecorded(
        of("bitwise_count.mapped", CALL(nax::bitwise_count(x[0].astype<int>())), {{matrix}}, Smooth::no)),
});

}  // namespace replacing_test

#undef CALL
