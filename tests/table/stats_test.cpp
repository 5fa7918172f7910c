// Distributions whose values tests/stats holds against SciPy's: their derivatives, those in loc and scale
// among them, and maps. (Their other functions share these parts.)

#include "nax/stats.hpp"

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "table/harness.hpp"

namespace stats_test {
using namespace table;
namespace st = nax::stats;

Row of(std::string name, Real (*f)(const Operands&), std::vector<Interval> in) {
  std::vector<Operand> shapes;
  for (const Interval& i : in) shapes.push_back({{shapes.empty() ? 3 : 1}, i.low, i.high});
  Row r = unrecorded(row(std::move(name), f, {shapes}));
  r.difference = 1e-5;
  return r;
}
#define OF(call) [](const Operands& x) -> Real { return st::call; }

const bool rows = add({
    of("norm", OF(norm::logpdf(x[0], {.loc = x[1], .scale = x[2]})), {{-2, 2}, {-1, 1}, {.5, 2}}),
    of("norm.cdf", OF(norm::cdf(x[0], {.loc = x[1], .scale = x[2]})), {{-2, 2}, {-1, 1}, {.5, 2}}),
    of("norm.logcdf", OF(norm::logcdf(x[0], {.loc = x[1]})), {{-2, 2}, {-1, 1}}),
    of("norm.ppf", OF(norm::ppf(x[0], {.loc = x[1], .scale = x[2]})), {{.1, .9}, {-1, 1}, {.5, 2}}),
    of("expon", OF(expon::logpdf(x[0], {.loc = x[1], .scale = x[2]})), {{1, 2}, {-1, .5}, {.5, 2}}),
    of("expon.logcdf", OF(expon::logcdf(x[0], {.scale = x[1]})), {{.3, 2}, {.5, 2}}),
    of("gamma", OF(gamma::logpdf(x[0], x[1], {.scale = x[2]})), {{.3, 3}, {.6, 3}, {.5, 2}}),
    of("gamma.cdf", OF(gamma::cdf(x[0], x[1], {.scale = x[2]})), {{.3, 3}, {.6, 3}, {.5, 2}}),
    of("chi2", OF(chi2::pdf(x[0], x[1])), {{.3, 3}, {1, 5}}),
    of("beta", OF(beta::logpdf(x[0], x[1], x[2])), {{.2, .8}, {.6, 3}, {.6, 3}}),
    of("beta.cdf", OF(beta::cdf(x[0], 1.5, 2.5, {.loc = x[1]})), {{.3, .8}, {-.1, .1}}),
    of("t", OF(t::logpdf(x[0], x[1], {.scale = x[2]})), {{-2, 2}, {1, 5}, {.5, 2}}),
    of("logistic", OF(logistic::logpdf(x[0], {.loc = x[1]})), {{1, 2}, {-1, .5}}),
    of("cauchy.cdf", OF(cauchy::cdf(x[0], {.scale = x[1]})), {{-2, 2}, {.5, 2}}),
    of("pareto", OF(pareto::logpdf(x[0], x[1])), {{1.2, 3}, {.5, 2}}),
    of("poisson", OF(poisson::cdf(4.0, x[0])), {{.5, 3}}),
    of("binom", OF(binom::logpmf(2.0, 5.0, x[0])), {{.2, .8}}),
    of("dirichlet", OF(dirichlet::logpdf(x[0] * 0.25, x[1] * nax::ones<double>({4}))), {{.3, 1.3}, {.6, 2}}),
    of("multivariate_normal",
       [](const Operands& x) -> Real {
         const Real a = x[2] * Real{{1, 0.5}, {-0.5, 1}, {0.25, 2}};
         const Real cov = nax::matmul(a, nax::matrix_transpose(a)) + nax::eye<double>(3) * 2.0;
         return st::multivariate_normal::logpdf(x[0], x[1], cov);
       },
       {{-1, 1}, {-1, 1}, {.3, 1}}),
});

}  // namespace stats_test

#undef OF
