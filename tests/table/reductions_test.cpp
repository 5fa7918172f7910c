// Reductions with their options, running sums, softmax, places. The other types are in tests/reductions.

#include "nax/nn/softmax.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/argmax.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/reductions/logsumexp.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/prod.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/reductions/variance.hpp"
#include "table/harness.hpp"

namespace reductions_test {
using namespace table;
using nax::Axis;
using nax::none;

// f(x, axis, keepdims) with every kind of axis.
template <class F>
std::vector<Row> all_axes(const std::string& name, F f, Smooth smooth = Smooth::twice,
                          bool of_nothing = true) {
  std::vector<Row> rows;
  const auto one = [&](const char* tag, const Axis& axis, bool keepdims, nax::Shape shape) {
    rows.push_back(row(
        name + tag, [=](const Operands& x) { return f(x[0], axis, keepdims); }, {{{shape}}}, smooth));
  };
  one("", none, false, {2, 5});
  rows.back().records.clear();
  one(".axis=0", 0, false, {2, 3, 4});
  one(".axis=-1", -1, false, {2, 9});
  one(".axis=1.keepdims", 1, true, {2, 3, 4});
  one(".axis=(0,2)", {0, 2}, false, {2, 3, 2});
  one(".axis=(-1,0).keepdims", {-1, 0}, true, {2, 3, 2});
  one(".keepdims", none, true, {2, 3});
  one(".0d", none, false, {});
  one(".empty.axis=1", 1, false, {0, 3});
  if (!of_nothing) return rows;
  one(".empty.axis=0", 0, false, {0, 3});
  if (name == "mean" || name == "var" || name == "std") rows.back().smooth = Smooth::no;  // NaN
  return rows;
}
#define AXES(function)                           \
#function, [](const auto& x, const Axis& axis, \
                bool keepdims) { return nax::function(x, {.axis = axis, .keepdims = keepdims}); }

// The second operand chooses elements of the first.
template <class F>
Row masked(std::string name, std::string record, F f) {
  Row r = row(std::move(name), f, {{{{3, 4}}, {{3, 4}, -.5, 1.5}}, {{{3, 4}}, {{4}, -.5, 1.5}}});
  r.records = {std::move(record)};
  return r;
}

const bool sums = add(all_axes(AXES(sum))) && add(all_axes(AXES(mean))) && add(all_axes(AXES(prod)));
const bool extrema =
    add(all_axes(AXES(max), Smooth::twice, false)) && add(all_axes(AXES(min), Smooth::twice, false));
const bool truths = add(all_axes(AXES(any), Smooth::no)) && add(all_axes(AXES(all), Smooth::no));
const bool exponentials = add(all_axes(AXES(logsumexp)));
const bool variances = add([] {
  auto rows = all_axes(AXES(var));
  rows.push_back(row("var.axis=0.ddof=1",
                     [](const Operands& x) { return nax::var(x[0], {.axis = 0, .ddof = 1}); }, {{{{4, 3}}}}));
  rows.push_back(masked("var.axis=1.where", "var.axis=1.where", [](const Operands& x) {
    return nax::var(x[0], {.axis = 1, .where = nax::Array<bool>(x[1] > 0)});
  }));
  return rows;
}());
// The root has no derivative where the variance is 0.
const bool deviations = add([] {
  auto rows = all_axes(AXES(std));
  std::erase_if(rows, [](const Row& r) { return r.name == "std.0d"; });
  return rows;
}());

const bool options = add({
    masked("sum_where", "sum.axis=1.initial=1.5.where",
           [](const Operands& x) {
             return nax::sum(x[0], {.axis = 1, .initial = 1.5, .where = nax::Array<bool>(x[1] > 0)});
           }),
    masked("prod_where", "prod.axis=1.initial=2.where",
           [](const Operands& x) {
             return nax::prod(x[0], {.axis = 1, .initial = 2, .where = nax::Array<bool>(x[1] > 0)});
           }),
    masked("max_where", "max.axis=1.initial=0.where",
           [](const Operands& x) {
             return nax::max(x[0], {.axis = 1, .initial = 0, .where = nax::Array<bool>(x[1] > 0)});
           }),
    masked("min_where", "min.axis=1.initial=0.where",
           [](const Operands& x) {
             return nax::min(x[0], {.axis = 1, .initial = 0, .where = nax::Array<bool>(x[1] > 0)});
           }),
    masked(
        "mean_where", "mean.axis=1.where",
        [](const Operands& x) { return nax::mean(x[0], {.axis = 1, .where = nax::Array<bool>(x[1] > 0)}); }),
});

Row along(std::string name, std::function<Real(const Real&)> f, nax::Shape shape = {3, 4},
          Smooth smooth = Smooth::twice) {
  return row(
      std::move(name), [f](const Operands& x) { return f(x[0]); }, {{{shape}}}, smooth);
}

const bool scans = add({
    along("cumsum", [](const Real& x) { return nax::cumsum(x); }),
    along("cumsum.axis=0", [](const Real& x) { return nax::cumsum(x, {.axis = 0}); }),
    along("cumsum.axis=-1", [](const Real& x) { return nax::cumsum(x, {.axis = -1}); }, {2, 0}),
    along("cumprod", [](const Real& x) { return nax::cumprod(x); }),
    along("cumprod.axis=0", [](const Real& x) { return nax::cumprod(x, {.axis = 0}); }),
    along("cumprod.axis=-1", [](const Real& x) { return nax::cumprod(x, {.axis = -1}); }, {2, 0}),
    along("softmax", [](const Real& x) { return nax::nn::softmax(x); }),
    along("softmax.axis=0", [](const Real& x) { return nax::nn::softmax(x, {.axis = 0}); }),
    unrecorded(along("softmax.axes",
                     [](const Real& x) {
                       return nax::nn::softmax(x, {.axis = {0, 2}});
                     },
                     {2, 2, 3})),
    along("log_softmax", [](const Real& x) { return nax::nn::log_softmax(x); }),
    along("log_softmax.axis=0", [](const Real& x) { return nax::nn::log_softmax(x, {.axis = 0}); }),
    unrecorded(along("logsumexp_weighted",
                     [](const Real& x) { return nax::logsumexp(x, {.axis = 1, .b = nax::exp(x)}); })),
    unrecorded(along("ptp", [](const Real& x) { return nax::ptp(x, {.axis = 0}); })),
    along(
        "argmax", [](const Real& x) { return real_of(nax::argmax(x)); }, {3, 4}, Smooth::no),
    along(
        "argmax.axis=0", [](const Real& x) { return real_of(nax::argmax(x, {.axis = 0})); }, {3, 4},
        Smooth::no),
    along(
        "argmax.axis=-1.keepdims",
        [](const Real& x) { return real_of(nax::argmax(x, {.axis = -1, .keepdims = true})); }, {3, 4},
        Smooth::no),
    along(
        "argmin", [](const Real& x) { return real_of(nax::argmin(x)); }, {3, 4}, Smooth::no),
    along(
        "argmin.axis=0", [](const Real& x) { return real_of(nax::argmin(x, {.axis = 0})); }, {3, 4},
        Smooth::no),
    along(
        "argmin.axis=-1.keepdims",
        [](const Real& x) { return real_of(nax::argmin(x, {.axis = -1, .keepdims = true})); }, {3, 4},
        Smooth::no),
    unrecorded(along(
        "count_nonzero", [](const Real& x) { return real_of(nax::count_nonzero(x, {.axis = 1})); }, {3, 4},
        Smooth::no)),
});

}  // namespace reductions_test

#undef AXES
