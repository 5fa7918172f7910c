#pragma once

// NumPy's linalg and SciPy's.

#include "nax/linalg/cholesky.hpp"
#include "nax/linalg/matrices.hpp"
#include "nax/linalg/norm.hpp"
#include "nax/linalg/solve.hpp"
