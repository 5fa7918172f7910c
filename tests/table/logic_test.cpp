// Comparisons, truth and bits: values in their types, and mapped against a loop. Other types are in
// tests/elementwise.

#include "nax/numpy/elementwise/logic.hpp"

#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/bitwise.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/floating.hpp"
#include "nax/numpy/elementwise/rational.hpp"
#include "nax/numpy/reductions/close.hpp"
#include "table/harness.hpp"

namespace logic_test {
using namespace table;
using Halves = Types<nax::half, nax::bfloat16>;
using Every = Types<nax::half, std::int8_t, std::uint32_t, std::uint64_t, bool, std::complex<double>>;
using Ordered = Types<nax::bfloat16, std::int16_t, std::int32_t, std::uint8_t>;

template <class F, class Named>
Row compares(std::string name, F f, Named named) {
  return binary(std::move(name), f, {}, {}, named, Smooth::no);
}
template <class F>
Row tests(std::string name, F f) {
  return unary(std::move(name), f, {}, Halves(), Smooth::no);
}
const std::vector<std::vector<Operand>> kPairs = {{{{3, 4}, 0, 12, true}, {{4}, 0, 5, true}},
                                                  {{{}, 0, 9, true}, {{2}, 0, 3, true}}};
// A function of integers.
template <class F>
Row integers(std::string name, F f) {
  const auto of_numbers = [f](const Operands& x) {
    return f(x[0].astype<std::int32_t>(), x[1].astype<std::int32_t>());
  };
  Row r = row(std::move(name), of_numbers, kPairs, Smooth::no);
  r.typed = {typed<2, std::int64_t>(f), typed<2, std::uint32_t>(f)};
  return r;
}

const bool comparisons = add({
    compares("equal", NAX_FUNCTION(nax::equal), Every()),
    compares("not_equal", NAX_FUNCTION(nax::not_equal), Every()),
    compares("less", NAX_FUNCTION(nax::less), Ordered()),
    compares("less_equal", NAX_FUNCTION(nax::less_equal), Ordered()),
    compares("greater", NAX_FUNCTION(nax::greater), Ordered()),
    compares("greater_equal", NAX_FUNCTION(nax::greater_equal), Ordered()),
    compares("logical_and", NAX_FUNCTION(nax::logical_and), Types<nax::half, bool>()),
    compares("logical_or", NAX_FUNCTION(nax::logical_or), Types<nax::half, bool>()),
    compares("logical_xor", NAX_FUNCTION(nax::logical_xor), Types<nax::half, bool>()),
    tests("logical_not", NAX_FUNCTION(nax::logical_not)),
    tests("isnan", NAX_FUNCTION(nax::isnan)),
    tests("isinf", NAX_FUNCTION(nax::isinf)),
    tests("isfinite", NAX_FUNCTION(nax::isfinite)),
    unrecorded(unary("signbit", NAX_FUNCTION(nax::signbit), {}, Types<>(), Smooth::no)),
});

constexpr auto close_to = [](const auto& x, const auto& y) {
  return nax::isclose(x, y, {.rtol = .25, .atol = .5});
};
constexpr auto close_or_nan = [](const auto& x, const auto& y) {
  return nax::isclose(x, y, {.equal_nan = true});
};
template <class F>
Row whole(std::string name, F f) {
  const auto of = [f](const Operands& x) { return real_of(f(x[0], x[1])); };
  return unrecorded(row(std::move(name), of, kPairs, Smooth::no));
}
Row nan_is_close() {
  Row r = row(
      "isclose.equal_nan", [](const Operands& x) { return real_of(close_or_nan(x[0], x[1])); },
      {{{{}}, {{}}}}, Smooth::no);
  r.records = {"isclose.equal_nan.special"};
  r.typed = {typed<2, float>(close_or_nan)};
  return r;
}
const bool closeness = add({
    compares("isclose", close_to, Types<nax::half, std::int32_t, std::complex<double>>()),
    nan_is_close(),
    whole("allclose", [](const Real& x, const Real& y) { return nax::allclose(x, y, {.rtol = 9}); }),
    whole("array_equal",
          [](const Real& x, const Real& y) { return nax::array_equal(x, nax::round(x + 0 * y)); }),
});

const bool bits = add({
    integers("bitwise_and", NAX_FUNCTION(nax::bitwise_and)),
    integers("bitwise_or", NAX_FUNCTION(nax::bitwise_or)),
    integers("bitwise_xor", NAX_FUNCTION(nax::bitwise_xor)),
    integers("left_shift", NAX_FUNCTION(nax::left_shift)),
    integers("right_shift", NAX_FUNCTION(nax::right_shift)),
    unrecorded(row(
        "gcd", [](const Operands& x) { return nax::gcd(x[0].astype<int>(), x[1].astype<int>()); }, kPairs,
        Smooth::no)),
    unrecorded(row(
        "lcm", [](const Operands& x) { return nax::lcm(x[0].astype<int>(), x[1].astype<int>()); }, kPairs,
        Smooth::no)),
});

}  // namespace logic_test
