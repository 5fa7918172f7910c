// Quantiles by every method, orders, running sums, differences; reductions over what `where` chooses.

#include "nax/numpy/elementwise/number_parts.hpp"
#include "nax/numpy/products/matvec.hpp"
#include "nax/numpy/reductions/running.hpp"
#include "nax/numpy/sequences/unwrap.hpp"
#include "nax/numpy/sorting/order.hpp"
#include "nax/numpy/sorting/quantile.hpp"
#include "nax/numpy/sorting/unique.hpp"
#include "table/harness.hpp"

namespace orders_test {
using namespace table;

Row of(std::string name, std::function<Real(const Operands&)> f, std::vector<std::vector<Operand>> cases,
       Smooth smooth = Smooth::twice) {
  return from_suite("numpy_more", row(std::move(name), f, std::move(cases), smooth));
}
#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand line = {{7}}, lines = {{2, 7}}, matrix = {{3, 4}}, choice = {{4}, -.5, 1.5};

// The larger numbers become NaN.
Real holed(const Real& x) { return nax::where(x > 1.2, std::nan(""), x); }

const bool quantiles = [] {
  const std::vector<double> q = {0, .1, .25, .5, .7, 1};
  for (const char* method : {"inverted_cdf", "averaged_inverted_cdf", "closest_observation",
                             "interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased",
                             "normal_unbiased", "lower", "higher", "midpoint", "nearest"}) {
    const std::string name = method;
    add({of("quantile." + name,
            [=](const Operands& x) { return nax::quantile(x[0], q, {.axis = 1, .method = name}); }, {}),
         of(
             "nanquantile." + name,
             [=](const Operands& x) { return nax::nanquantile(holed(x[0]), q, {.axis = 1, .method = name}); },
             name == "hazen" ? std::vector<std::vector<Operand>>{{lines}}
                             : std::vector<std::vector<Operand>>{})});
  }
  return add({
      of("nanmedian", OF(nax::nanmedian(holed(x[0]), {.axis = 0})), {{{{3, 2}}}}),
      of("nanpercentile", OF(nax::nanpercentile(holed(x[0]), 30, {.axis = {0, 1}, .keepdims = true})),
         {{lines}}),
      of("quantile.weights",
         OF(nax::quantile(x[0], Real{0, .1, .25, .5, .7, 1},
                          {.axis = 1, .method = "inverted_cdf", .weights = x[1]})),
         {{lines, {{2, 7}, .5, 2}}}),
      of("quantile.weights_1d",
         OF(nax::quantile(x[0], .4, {.axis = 1, .method = "inverted_cdf", .weights = x[1]})),
         {{lines, {{7}, .5, 2}}}),
      of("nanquantile.weights",
         OF(nax::nanquantile(holed(x[0]), .6, {.axis = 1, .method = "inverted_cdf", .weights = x[1]})),
         {{lines, {{2, 7}, .5, 2}}}),
  });
}();

const bool orders = add({
    of("partition.2", OF(nax::partition(x[0], 2)), {{{{2, 4}}}}),
    unrecorded(of("argpartition",
                  OF(real_of(nax::argpartition(x[0], std::vector<std::int64_t>{1, 0}, {.axis = 0}))),
                  {{matrix}}, Smooth::no)),
    of("sort.descending", OF(nax::sort(x[0], {.axis = 0, .stable = true, .descending = true})), {{matrix}}),
    of("lexsort", OF(real_of(nax::lexsort({x[1], x[0]}))), {{{{2, 6}, 0, 3, true}, {{2, 6}}}}, Smooth::no),
    unrecorded(
        of("unique.size", OF(nax::unique(x[0], {.size = 5, .fill_value = 9})), {{line}, {{{}}}, {{{2, 2}}}})),
});

const bool running = add({
    of("cumulative_sum.axis=1.initial", OF(nax::cumulative_sum(x[0], {.axis = 1, .include_initial = true})),
       {{matrix}, {{{2, 0}}}}),
    of("cumulative_prod", OF(nax::cumulative_prod(x[0])), {{{{4}}}}),
    of("nancumsum.holes.axis=0", OF(nax::nancumsum(holed(x[0]), {.axis = 0})), {{matrix}}),
    of("nancumprod.holes", OF(nax::nancumprod(holed(x[0]))), {{{{5}}}}),
    of("ediff1d", OF(nax::ediff1d(x[0], {.to_end = x[1], .to_begin = x[2]})), {{{{2, 3}}, {{2}}, {{1}}}}),
    of("unwrap", OF(nax::unwrap(x[0])), {{{{6}, -8, 8}}, {{{2, 1}}}}),
    of("unwrap.axis=0.period=4", OF(nax::unwrap(x[0], {.axis = 0, .period = 4})), {{{{3, 2}, -8, 8}}}),
    of("unwrap.discont=5", OF(nax::unwrap(x[0], {.discont = 5})), {{{{6}, -8, 8}}}),
    of("matvec", OF(nax::matvec(x[0], x[1])), {{{{2, 3, 4}}, {{4}}}, {{{3, 4}}, {{2, 4}}}}),
    of("vecmat", OF(nax::vecmat(x[0], x[1])), {{{{2, 1, 3}}, {{2, 3, 4}}}, {{{3}}, {{3, 2}}}}),
    of("around.decimals=1", OF(nax::around(x[0], {.decimals = 1})), {{matrix}}, Smooth::no),
});

nax::Array<bool> chosen(const Real& x) { return x > 0; }
const bool chosen_ones = add({
    of("nansum.where", OF(nax::nansum(holed(x[0]), {.axis = 1, .initial = 1.5, .where = chosen(x[1])})),
       {{matrix, choice}}),
    of("nanprod.where", OF(nax::nanprod(holed(x[0]), {.axis = 1, .initial = 2, .where = chosen(x[1])})),
       {{matrix, choice}}),
    of("nanmean.where", OF(nax::nanmean(holed(x[0]), {.axis = 1, .where = chosen(x[1])})), {}),
    of("nanvar.where", OF(nax::nanvar(holed(x[0]), {.axis = 1, .where = chosen(x[1])})), {}),
    of("nanmax.where", OF(nax::nanmax(holed(x[0]), {.axis = 1, .initial = -1, .where = chosen(x[1])})),
       {{matrix, choice}}),
    of("nanmin.where", OF(nax::nanmin(holed(x[0]), {.axis = 1, .initial = 1, .where = chosen(x[1])})),
       {{matrix, choice}}),
    of("std.correction", OF(nax::std(x[0], {.axis = 1, .correction = 1})), {{matrix}}),
});

}  // namespace orders_test

#undef OF
