#pragma once

// SciPy's special functions.

#include "nax/special/bessel.hpp"
#include "nax/special/faddeeva.hpp"
#include "nax/special/fixed.hpp"
#include "nax/special/gamma.hpp"
#include "nax/special/harmonics.hpp"
#include "nax/special/hypergeometric.hpp"
#include "nax/special/integrals.hpp"
#include "nax/special/normal.hpp"
#include "nax/special/recorded.hpp"
#include "nax/special/special.hpp"
