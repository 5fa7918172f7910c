#pragma once

#include <limits>

#include "nax/numpy/indexing/slice.hpp"

// NumPy's constants; `newaxis` is in numpy/indexing/slice.hpp. C++ numbers are weak next to arrays, so that x
// * pi is of x's type.
NAX_BEGIN

// (In a namespace of their own, so that no header's variable `e` hides one.)
inline namespace constants {
inline constexpr double pi = 3.14159265358979323846, e = 2.71828182845904523536,
                        euler_gamma = 0.57721566490153286061, inf = std::numeric_limits<double>::infinity(),
                        nan = std::numeric_limits<double>::quiet_NaN();
}  // namespace constants

NAX_END
