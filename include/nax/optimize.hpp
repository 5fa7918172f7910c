#pragma once

// Solvers by SciPy's names: least squares, minima, roots, assignments.

#include "nax/modules/optimize/assignment.hpp"
#include "nax/modules/optimize/curve_fit.hpp"
#include "nax/modules/optimize/kmeans.hpp"
#include "nax/modules/optimize/least_squares.hpp"
#include "nax/modules/optimize/minimize.hpp"
#include "nax/modules/optimize/root.hpp"
#include "nax/modules/optimize/scalar.hpp"
#include "nax/modules/optimize/solver.hpp"
