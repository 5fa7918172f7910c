#pragma once

// Curves through points and values between those of a grid, by SciPy's names.

#include "nax/interpolate/cubic_spline.hpp"
#include "nax/interpolate/pchip.hpp"
#include "nax/interpolate/regular_grid.hpp"
