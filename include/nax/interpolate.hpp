#pragma once

// Curves through points and values between those of a grid, by SciPy's names.

#include "nax/modules/interpolate/cubic_spline.hpp"
#include "nax/modules/interpolate/pchip.hpp"
#include "nax/modules/interpolate/regular_grid.hpp"
