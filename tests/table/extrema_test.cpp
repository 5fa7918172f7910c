// Extrema, rounding, and what makes up a floating-point number.

#include "nax/numpy/elementwise/extrema.hpp"

#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/floating.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/elementwise/rounding.hpp"
#include "table/harness.hpp"

namespace extrema_test {
using namespace table;
using nax::bfloat16;
using nax::half;
using Halves = Types<float, half, bfloat16>;
using Ordered =
    Types<half, bfloat16, std::int16_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t>;

std::vector<std::vector<Operand>> chosen(double low, double high) {
  const auto of = [&](nax::Shape c, nax::Shape x, nax::Shape y) {
    return std::vector<Operand>{{c}, {x, low, high}, {y, low, high}};
  };
  return {of({3, 4}, {3, 4}, {3, 4}), of({3, 1}, {4}, {2, 1, 1}), of({}, {3}, {}), of({0}, {}, {0})};
}

const bool rows = add({
    binary("maximum", NAX_FUNCTION(nax::maximum), {}, {}, Ordered()),
    binary("minimum", NAX_FUNCTION(nax::minimum), {}, {}, Ordered()),
    unrecorded(binary("fmax", NAX_FUNCTION(nax::fmax), {}, {})),
    unrecorded(binary("fmin", NAX_FUNCTION(nax::fmin), {}, {})),
    unrecorded(binary("copysign", NAX_FUNCTION(nax::copysign), {.5, 2}, {})),
    unrecorded(binary("heaviside", NAX_FUNCTION(nax::heaviside), {}, {})),
    unrecorded(binary("nextafter", NAX_FUNCTION(nax::nextafter), {}, {}, {}, Smooth::no)),
    unrecorded(unary("ldexp", [](const auto& x) { return nax::ldexp(x, 3); }, {})),
    unrecorded(unary("nan_to_num", [](const auto& x) { return nax::nan_to_num(x); }, {})),
    unary("floor", NAX_FUNCTION(nax::floor), {}, Halves()),
    unary("ceil", NAX_FUNCTION(nax::ceil), {}, Halves()),
    unary("round", NAX_FUNCTION(nax::round), {}, Halves()),
    unrecorded(unary("round.decimals", [](const auto& x) { return nax::round(x, {.decimals = 1}); }, {})),
    unary("trunc", NAX_FUNCTION(nax::trunc), {}, Halves()),
    unary(
        "clip.-1,0.5", [](const auto& x) { return nax::clip(x, -1, 0.5); }, {}, Types<float>()),
    row("clip.arrays", [](const Operands& x) { return nax::clip(x[0], x[1], x[2]); },
        {{{{3, 4}, -2, 2}, {{4}, -2, -.5}, {{3, 1}, .5, 2}}, {{{0}}, {{0}}, {{}}}}),
    unrecorded(unary("clip.low", [](const auto& x) { return nax::clip(x, -0.5, nax::none); }, {})),
    [] {
      Row where = row(
          "where", [](const Operands& x) { return nax::where(x[0] > 0, x[1], x[2]); }, chosen(-2, 2));
      where.records = {"where", "where.broadcast", "where.0d", "where.empty"};
      return where;
    }(),
    unrecorded(unary(
        "astype", [](const auto& x) { return nax::astype<double>(nax::astype<float>(x)); }, {-2, 2},
        Types<>(), Smooth::no)),
});

}  // namespace extrema_test
