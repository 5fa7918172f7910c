// Trigonometric and hyperbolic functions.

#include "nax/numpy/elementwise/trigonometric.hpp"

#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "table/harness.hpp"

namespace trigonometric_test {
using namespace table;
using Complex = Types<float, nax::half, nax::bfloat16, std::complex<float>, std::complex<double>>;

const bool rows = add({
    unary("sin", NAX_FUNCTION(nax::sin), {-3, 3}, Complex()),
    unary("cos", NAX_FUNCTION(nax::cos), {-3, 3}, Complex()),
    unary("tan", NAX_FUNCTION(nax::tan), {-1, 1}, Complex()),
    unary("arcsin", NAX_FUNCTION(nax::arcsin), {-.8, .8}, Floats()),
    unary("arccos", NAX_FUNCTION(nax::arccos), {-.8, .8}, Floats()),
    unary("arctan", NAX_FUNCTION(nax::arctan), {-3, 3}, Floats()),
    unary("sinh", NAX_FUNCTION(nax::sinh), {}, Complex()),
    unary("cosh", NAX_FUNCTION(nax::cosh), {}, Complex()),
    unary("tanh", NAX_FUNCTION(nax::tanh), {}, Complex()),
    unary("arcsinh", NAX_FUNCTION(nax::arcsinh), {-3, 3}, Floats()),
    unary("arccosh", NAX_FUNCTION(nax::arccosh), {1.3, 3}, Floats()),
    unary("arctanh", NAX_FUNCTION(nax::arctanh), {-.8, .8}, Floats()),
    binary("arctan2", NAX_FUNCTION(nax::arctan2), {}, {.5, 2}, Floats()),
    binary("hypot", NAX_FUNCTION(nax::hypot), {}, {.5, 2}, Floats()),
    unrecorded(unary("deg2rad", NAX_FUNCTION(nax::deg2rad), {})),
    unrecorded(unary("rad2deg", NAX_FUNCTION(nax::rad2deg), {})),
    unrecorded(unary("sinc", NAX_FUNCTION(nax::sinc), {})),
});

}  // namespace trigonometric_test
