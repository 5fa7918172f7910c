// Histograms, differentiated by their weights and edges; covariances.

#include "nax/numpy/statistics/covariance.hpp"
#include "nax/numpy/statistics/histogramdd.hpp"
#include "table/harness.hpp"

namespace histograms_test {
using namespace table;

Row of(std::string name, Real (*f)(const Operands&), std::vector<std::vector<Operand>> cases,
       Smooth smooth = Smooth::twice) {
  return from_suite("numpy_more", row(std::move(name), f, std::move(cases), smooth));
}
#define OF(call) [](const Operands& x) -> Real { return call; }
const Operand values = {{4, 5}}, weights = {{4, 5}, .5, 2}, matrix = {{3, 4}};

const bool histograms = add({
    of("histogram", OF(nax::histogram(x[0]).hist), {{values}}),
    of("histogram.edges", OF(nax::histogram(x[0]).bin_edges), {{values}, {{{}}}}),
    of("histogram.range", OF(nax::histogram(x[0], {.bins = 4, .range = {-1, 1.5}}).hist),
       {{values}, {{{0}}}}),
    of("histogram.weights", OF(nax::histogram(x[0], {.bins = 4, .range = {-1, 1.5}, .weights = x[1]}).hist),
       {{values, weights}}),
    of("histogram.density",
       OF(nax::histogram(x[0], {.bins = {-2, -1, .5, 2}, .density = true, .weights = x[1]}).hist),
       {{values, weights}}),
    of("histogram.one_value", OF(nax::histogram(x[0], {.bins = 3}).bin_edges), {}),
    of("histogram.empty", OF(nax::histogram(x[0], {.bins = 3}).bin_edges), {{{{0}}}}),
    of("histogram.edge_values", OF(nax::histogram(x[0], {.bins = 5}).hist), {}),
    of("histogram2d", OF(nax::histogram2d(x[0], x[1], {.bins = 3, .range = {{-2, 2}, {-1, 1}}}).H),
       {{{{6}}, {{6}}}}),
    of("histogram2d.bins", OF(nax::histogram2d(x[0], x[1], {.bins = {2, {-2, 0, 1, 2}}, .weights = x[2]}).H),
       {{{{6}}, {{6}}, {{6}}}}),
    of("histogramdd", OF(nax::histogramdd(x[0], {.bins = {2, 3, 2}}).H), {{{{6, 3}}}}),
    of("histogramdd.density", OF(nax::histogramdd(x[0], {.bins = 2, .density = true, .weights = x[1]}).H),
       {{{{6, 3}}, {{6}, .5, 2}}}),
});

nax::Array<int> times() { return {1, 2, 3, 1}; }
const bool covariances = add({
    of("cov", OF(nax::cov(x[0])), {{matrix}, {{{1, 4}}}}),
    of("cov.1d", OF(nax::cov(x[0])), {{{{5}}}}),
    of("cov.rowvar=False.bias", OF(nax::cov(x[0], {.rowvar = false, .bias = true})), {{matrix}}),
    of("cov.y.ddof=0", OF(nax::cov(x[0], {.y = x[1], .ddof = 0})), {{matrix, {{2, 4}}}, {matrix, {{4}}}}),
    of("cov.aweights", OF(nax::cov(x[0], {.aweights = x[1]})), {{matrix, {{4}, .5, 2}}}),
    of("cov.fweights", OF(nax::cov(x[0], {.fweights = times()})), {{matrix}}),
    of("cov.both.ddof=0", OF(nax::cov(x[0], {.ddof = 0, .fweights = times(), .aweights = x[1]})),
       {{matrix, {{4}, .5, 2}}}),
    of("corrcoef", OF(nax::corrcoef(x[0])), {{{{2, 5}}}}),
    of("corrcoef.y.rowvar=False", OF(nax::corrcoef(x[0], {.y = x[1], .rowvar = false})),
       {{{{5, 2}}, {{5, 1}}}}),
});

}  // namespace histograms_test

#undef OF
