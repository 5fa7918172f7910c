// cumulative functions, segments, scans and windows against JAX's records, and their derivatives against
// differences.

#include "nax/lax.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "table/harness.hpp"

namespace lax_functions_test {
using namespace table;
using nax::Shape;
namespace lax = nax::lax;

Row of_lax(Row r) { return with_ulps(64, from_suite("lax", std::move(r))); }

template <class F>
std::vector<Row> cumulative(const std::string& name, F f) {
  std::vector<Row> rows;
  for (const Shape& shape : {Shape{5}, Shape{3, 4}, Shape{2, 3, 2}})
    for (std::int64_t axis = -static_cast<std::int64_t>(shape.size());
         axis < static_cast<std::int64_t>(shape.size()); ++axis)
      for (const bool reverse : {false, true}) {
        std::string text;
        for (const std::int64_t n : shape) text += (text.empty() ? "" : "x") + std::to_string(n);
        rows.push_back(of_lax(
            row(name + "." + text + ".axis=" + std::to_string(axis) + ".reverse=" + (reverse ? "1" : "0"),
                [=](const Operands& x) {
                  return f(x[0], lax::CumulativeOptions{axis, reverse});
                },
                {{{shape}}})));
      }
  rows.push_back(unrecorded(row(
      name + ".empty", [=](const Operands& x) { return f(x[0], lax::CumulativeOptions{}); }, {{{{0, 3}}}})));
  return rows;
}
#define NAX_CUMULATIVE(name) \
  const bool name = add(     \
      cumulative(#name, [](const Real& x, const lax::CumulativeOptions& o) { return lax::name(x, o); }));
NAX_CUMULATIVE(cumsum)
NAX_CUMULATIVE(cumprod)
NAX_CUMULATIVE(cummax)
NAX_CUMULATIVE(cummin)
NAX_CUMULATIVE(cumlogsumexp)

std::vector<Row> associative() {
  std::vector<Row> rows;
  for (const std::int64_t n : {1, 2, 3, 7, 8})
    for (const bool reverse : {false, true})
      rows.push_back(of_lax(row("associative_scan." + std::to_string(n) + ".reverse=" + (reverse ? "1" : "0"),
                                [=](const Operands& x) {
                                  return lax::associative_scan(NAX_FUNCTION(nax::matmul), x[0],
                                                               {.reverse = reverse});
                                },
                                {{{{n, 2, 2}}}})));
  rows.push_back(of_lax(row("associative_scan.axis=1",
                            [](const Operands& x) {
                              return lax::associative_scan([](const auto& a, const auto& b) { return a + b; },
                                                           x[0], {.axis = 1});
                            },
                            {{{{2, 5}}}})));
  return rows;
}
const bool associative_scan = add(associative());

// (Made where the tests compute.)
nax::Array<int> ids() { return {0, 2, 2, 5, -1, 0}; }
nax::Array<int> full_ids() { return {0, 2, 2, 1, -1, 0}; }
// With records: one segment is empty, and infinite for extrema. Without: none is.
template <class F>
std::vector<Row> segments(const std::string& name, F f) {
  Row recorded = row(
      name, [=](const Operands& x) { return f(x[0], ids(), nax::SegmentOptions{.num_segments = 4}); },
      {{{{6, 3}}}}, Smooth::no);
  return {of_lax(std::move(recorded)),
          unrecorded(row(name + ".full",
                         [=](const Operands& x) { return f(x[0], full_ids(), nax::SegmentOptions{}); },
                         {{{{6, 3}}}}))};
}
#define NAX_SEGMENTS(name) \
  const bool name =        \
      add(segments(#name, [](const auto& x, const auto& i, const auto& o) { return nax::name(x, i, o); }));
NAX_SEGMENTS(segment_sum)
NAX_SEGMENTS(segment_prod)
NAX_SEGMENTS(segment_max)
NAX_SEGMENTS(segment_min)

const bool dynamic_slice = add({of_lax(row("dynamic_slice",
                                           [](const Operands& x) {
                                             return lax::dynamic_slice(x[0], {1, 7}, {2, 3});
                                           },
                                           {{{{4, 5}}}}))});
const bool dynamic_update_slice = add({of_lax(row("dynamic_update_slice",
                                                  [](const Operands& x) {
                                                    return lax::dynamic_update_slice(x[0], x[1], {-1, 1});
                                                  },
                                                  {{{{4, 5}}, {{2, 3}}}}))});

}  // namespace lax_functions_test

#undef NAX_CUMULATIVE
#undef NAX_SEGMENTS
