// Exponentials, logarithms, powers and roots.

#include "nax/numpy/elementwise/exponential.hpp"

#include "nax/numpy/elementwise/power.hpp"
#include "table/harness.hpp"

namespace exponential_test {
using namespace table;
using Complex = Types<float, nax::half, nax::bfloat16, std::complex<float>, std::complex<double>>;

const bool rows = add({
    unary("exp", NAX_FUNCTION(nax::exp), {}, Complex()),
    unary("exp2", NAX_FUNCTION(nax::exp2), {}, Floats()),
    unary("expm1", NAX_FUNCTION(nax::expm1), {}, Floats()),
    unary("log", NAX_FUNCTION(nax::log), {.2, 3}, Complex()),
    unary("log2", NAX_FUNCTION(nax::log2), {.2, 3}, Floats()),
    unary("log10", NAX_FUNCTION(nax::log10), {.2, 3}, Floats()),
    unary("log1p", NAX_FUNCTION(nax::log1p), {-.6, 2}, Floats()),
    unary("sqrt", NAX_FUNCTION(nax::sqrt), {.3, 3}, Complex()),
    unary("cbrt", NAX_FUNCTION(nax::cbrt), {.3, 3}, Floats()),
    unary("rsqrt", NAX_FUNCTION(nax::rsqrt), {.3, 3}, Floats()),
    binary("power", NAX_FUNCTION(nax::power), {.3, 2}, {}, Complex()),
    unrecorded(unary("power_of_whole", [](const auto& x) { return nax::power(x, 3); }, {})),
    unrecorded(binary("float_power", NAX_FUNCTION(nax::float_power), {.3, 2}, {})),
    binary("logaddexp", NAX_FUNCTION(nax::logaddexp), {}, {}, Floats()),
    unrecorded(binary("logaddexp2", NAX_FUNCTION(nax::logaddexp2), {}, {})),
});

}  // namespace exponential_test
