// Indexing, updates, gathers along axes, sorting and searching. Operands that are whole numbers serve as
// indices.

#include "nax/numpy/indexing/indexing.hpp"

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/at.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/numpy/sorting/sort.hpp"
#include "table/harness.hpp"

namespace indexing_test {
using namespace table;
using nax::_;
using nax::ellipsis;
using nax::newaxis;
using nax::Shape;
using nax::slice;

using Ints = nax::Array<std::int32_t>;
Ints whole(const Real& x) { return x.astype<std::int32_t>(); }

Row of(std::string name, Real (*f)(const Operands&), std::vector<Operand> operands,
       Smooth smooth = Smooth::once) {
  return row(std::move(name), f, {std::move(operands)}, smooth);
}
#define OF(call) [](const Operands& x) -> Real { return call; }
Operand index(Shape shape, double low, double high) { return {shape, low, high, true}; }
const Operand cube = {{2, 3, 4}}, matrix = {{3, 4}};

const bool views = add({
    unrecorded(of("index.integer", OF(x[0](1)), {cube})),
    unrecorded(of("index.negative", OF(x[0](-1, _, -2)), {cube})),
    unrecorded(of("index.slice", OF(x[0](_, slice(0, 2))), {cube})),
    unrecorded(of("index.reversed", OF(x[0](slice(_, _, -1), ellipsis, slice(3, _, -2))), {cube})),
    unrecorded(of("index.newaxis", OF(x[0](ellipsis, newaxis, 1)), {cube})),
    unrecorded(of("index.nothing", OF(x[0](slice(1, 1))), {cube})),
    unrecorded(of("index.array", OF(x[0](whole(x[1]))), {cube, index({2, 3}, -2, 1)})),
    unrecorded(of("index.arrays", OF(x[0](whole(x[1]), _, whole(x[2]))),
                  {cube, index({3}, 0, 1), index({2, 1}, -4, 3)})),
    unrecorded(
        of("index.array_after_slice", OF(x[0](_, whole(x[1]), slice(1, 3))), {cube, index({2, 2}, 0, 2)})),
    unrecorded(of("index.scalar_array", OF(x[0](_, whole(x[1]))), {cube, index({}, 0, 2)})),
});

const bool updates = add({
    unrecorded(of("at.set", OF(x[0].at(1).set(x[1])), {matrix, {{4}}})),
    unrecorded(of("at.set_slice", OF(x[0].at(_, slice(_, _, 2)).set(x[1])), {matrix, {{3, 1}}})),
    unrecorded(of("at.add", OF(x[0].at(whole(x[2])).add(x[1])), {matrix, {{2, 4}}, index({2}, 0, 2)})),
    unrecorded(
        of("at.add_repeated", OF(x[0].at(whole(x[2]), 1).add(x[1])), {matrix, {{7}}, index({7}, 0, 2)})),
    unrecorded(of("at.multiply", OF(x[0].at(slice(0, 2)).multiply(x[1])), {matrix, {{4}}}, Smooth::twice)),
    unrecorded(of("at.divide", OF(x[0].at(0).divide(x[1])), {matrix, {{4}, .5, 2}}, Smooth::twice)),
    unrecorded(of("at.min", OF(x[0].at(slice(0, 2)).min(x[1])), {matrix, {{4}}})),
    unrecorded(of("at.max", OF(x[0].at(slice(0, 2)).max(x[1])), {matrix, {{4}}})),
});

const bool gathers = add({
    of("take.1d.axis=0", OF(nax::take(x[0], whole(x[1]), {.axis = 0})), {matrix, index({3}, -3, 2)}),
    of("take.2d.axis=1", OF(nax::take(x[0], whole(x[1]), {.axis = 1})), {matrix, index({2, 2}, -4, 3)}),
    of("take.0d.axis=1", OF(nax::take(x[0], whole(x[1]), {.axis = 1})), {matrix, index({}, 0, 3)}),
    of("take.1d", OF(nax::take(x[0], whole(x[1]))), {matrix, index({4}, 0, 11)}),
    of("take.empty.axis=0", OF(nax::take(x[0], whole(x[1]), {.axis = 0})), {matrix, index({0}, 0, 0)}),
    of("take_along_axis.axis=1", OF(nax::take_along_axis(x[0], whole(x[1]), 1)),
       {matrix, index({3, 2}, 0, 3)}),
    of("take_along_axis.axis=0", OF(nax::take_along_axis(x[0], whole(x[1]), 0)),
       {matrix, index({1, 4}, 0, 2)}),
    unrecorded(of("put_along_axis", OF(nax::put_along_axis(x[0], whole(x[1]), x[2], 1)),
                  {matrix, index({3, 1}, 0, 3), {{3, 1}}})),
    unrecorded(of("put_along_axis.again", OF(nax::put_along_axis(x[0], whole(x[1]), x[2], 1)),
                  {matrix, index({3, 3}, 0, 1), {{3, 3}}})),
});

const bool orders = add({
    of("sort", OF(nax::sort(x[0])), {{{3, 7}}}),
    of("sort.axis=0", OF(nax::sort(x[0], {.axis = 0})), {{{5, 3}}}),
    of("sort.empty", OF(nax::sort(x[0])), {{{0}}}),
    unrecorded(of("sort.descending", OF(nax::sort(x[0], {.descending = true})), {{{2, 5}}})),
    of("argsort", OF(real_of(nax::argsort(x[0]))), {{{3, 7}}}, Smooth::no),
    of("argsort.axis=0", OF(real_of(nax::argsort(x[0], {.axis = 0}))), {{{5, 3}}}, Smooth::no),
    of("argsort.stable", OF(real_of(nax::argsort(x[0]))), {{{5}}}, Smooth::no),
    of("argsort.nan", OF(real_of(nax::argsort(x[0]))), {{{5}}}, Smooth::no),
    of("argsort.descending", OF(real_of(nax::argsort(x[0], {.descending = true}))), {{{5}}}, Smooth::no),
    of("sort.nan", OF(nax::sort(x[0])), {{{5}}}),
    unrecorded(of("top_k", OF(nax::top_k(x[0], 2).values), {{{3, 5}}})),
    of("searchsorted.left", OF(real_of(nax::searchsorted(nax::sort(x[0]), x[1]))), {{{5}}, {{2, 3}}},
       Smooth::no),
    of("searchsorted.right", OF(real_of(nax::searchsorted(nax::sort(x[0]), x[1], {.side = "right"}))),
       {{{5}}, {{2, 3}}}, Smooth::no),
});

}  // namespace indexing_test

#undef OF
