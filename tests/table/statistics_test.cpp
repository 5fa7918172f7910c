// Quantiles, averages, reductions that skip NaN, convolutions, bins.

#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/reductions/nan_reductions.hpp"
#include "nax/numpy/sequences/convolve.hpp"
#include "nax/numpy/sorting/quantile.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "table/harness.hpp"

namespace statistics_test {
using namespace table;
using nax::Axis;

// The larger numbers become NaN.
Real holed(const Real& x) { return nax::where(x > 1.2, std::nan(""), x); }

Row of(std::string name, Real (*f)(const Operands&), std::vector<std::vector<Operand>> cases,
       Smooth smooth = Smooth::twice) {
  return unrecorded(row(std::move(name), f, std::move(cases), smooth));
}
#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand matrix = {{3, 4}};

const bool quantiles = add({
    of("quantile", OF(nax::quantile(x[0], .3)), {{matrix}}),
    of("quantile.axis", OF(nax::quantile(x[0], .7, {.axis = 0, .keepdims = true})), {{matrix}}),
    of("quantile.nearest", OF(nax::quantile(x[0], .7, {.axis = 1, .method = "nearest"})), {{matrix}}),
    of("quantile.several", OF(nax::quantile(x[0], Real{.25, .5}, {.axis = 1})), {{matrix}}),
    of("percentile", OF(nax::percentile(x[0], 40, {.axis = 0})), {{matrix}}),
    of("median", OF(nax::median(x[0], {.axis = 1})), {{matrix}}),
    of("average", OF(nax::average(x[0], {.axis = 1, .weights = x[1]})),
       {{matrix, {{4}, .5, 2}}, {matrix, {{3, 4}, .5, 2}}}),
});

const bool without_nan = add({
    of("nansum", OF(nax::nansum(holed(x[0]), {.axis = 0})), {{matrix}}),
    of("nanprod", OF(nax::nanprod(holed(x[0]), {.axis = 1})), {{matrix}}),
    of("nanmean", OF(nax::nanmean(holed(x[0]), {.axis = 1})), {{{{2, 6}}}}),
    of("nanvar", OF(nax::nanvar(holed(x[0]), {.axis = 1})), {{{{2, 6}}}}),
    of("nanstd", OF(nax::nanstd(holed(x[0]))), {{{{2, 6}}}}),
    of("nanmax", OF(nax::nanmax(holed(x[0]), {.axis = 1})), {{{{2, 6}}}}),
    of("nanmin", OF(nax::nanmin(holed(x[0]), {.axis = 1})), {{{{2, 6}}}}),
    of("nanargmax", OF(real_of(nax::nanargmax(holed(x[0]), {.axis = 1}))), {{{{2, 6}}}}, Smooth::no),
    of("nanargmin", OF(real_of(nax::nanargmin(holed(x[0]), {.axis = 1}))), {{{{2, 6}}}}, Smooth::no),
});

const bool convolutions = add({
    of("convolve", OF(nax::convolve(x[0], x[1])), {{{{5}}, {{3}}}, {{{2}}, {{4}}}}),
    of("convolve.same", OF(nax::convolve(x[0], x[1], {.mode = "same"})), {{{{5}}, {{3}}}, {{{2}}, {{4}}}}),
    of("convolve.valid", OF(nax::convolve(x[0], x[1], {.mode = "valid"})), {{{{5}}, {{3}}}}),
    of("correlate", OF(nax::correlate(x[0], x[1])), {{{{5}}, {{3}}}, {{{2}}, {{4}}}}),
    of("correlate.full", OF(nax::correlate(x[0], x[1], {.mode = "full"})), {{{{5}}, {{3}}}}),
    of("cross", OF(nax::cross(x[0], x[1])), {{{{3}}, {{3}}}, {{{2, 3}}, {{3}}}, {{{2, 1, 3}}, {{4, 3}}}}),
});

const bool bins = add({
    of("digitize", OF(real_of(nax::digitize(x[0], Real{-1, 0, .5}))), {{matrix}}, Smooth::no),
});

}  // namespace statistics_test

#undef OF
