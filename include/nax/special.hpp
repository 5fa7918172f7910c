#pragma once

// SciPy's special functions.

#include "nax/special/special.hpp"
