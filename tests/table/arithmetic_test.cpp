// Arithmetic. Integer types are in tests/elementwise.

#include "nax/numpy/elementwise/arithmetic.hpp"

#include "table/harness.hpp"

namespace arithmetic_test {
using namespace table;
using nax::bfloat16;
using nax::half;
using Halves = Types<float, half, bfloat16>;
using Signs = Types<half, bfloat16, std::complex<double>>;
using Every = Types<half, bfloat16, std::int16_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t,
                    bool, std::complex<float>, std::complex<double>>;
using Ordered =
    Types<half, bfloat16, std::int16_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t>;

const bool rows = add({
    unary("negative", NAX_FUNCTION(nax::negative), {}, Signs()),
    unary("abs", NAX_FUNCTION(nax::abs), {}, Signs()),
    unrecorded(unary("fabs", NAX_FUNCTION(nax::fabs), {})),
    unary("sign", NAX_FUNCTION(nax::sign), {}, Halves()),
    unary("square", NAX_FUNCTION(nax::square), {}, Signs()),
    unary("reciprocal", NAX_FUNCTION(nax::reciprocal), {.5, 2}, Signs()),
    unrecorded(unary("positive", NAX_FUNCTION(nax::positive), {})),
    binary("add", NAX_FUNCTION(nax::add), {}, {}, Every()),
    binary("subtract", NAX_FUNCTION(nax::subtract), {}, {}, Signs()),
    binary("multiply", NAX_FUNCTION(nax::multiply), {}, {}, Every()),
    binary("divide", NAX_FUNCTION(nax::divide), {}, {.5, 2},
           Types<half, bfloat16, std::uint8_t, std::complex<double>>()),
    binary("floor_divide", NAX_FUNCTION(nax::floor_divide), {}, {.7, .9}, Ordered()),
    binary("mod", NAX_FUNCTION(nax::mod), {}, {.7, .9}, Ordered()),
    unrecorded(binary("fmod", NAX_FUNCTION(nax::fmod), {}, {.7, .9})),
});

}  // namespace arithmetic_test
