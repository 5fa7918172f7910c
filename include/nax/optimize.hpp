#pragma once

// Solvers by SciPy's names: least squares, minima, roots, assignments.

#include "nax/optimize/assignment.hpp"
#include "nax/optimize/curve_fit.hpp"
#include "nax/optimize/kmeans.hpp"
#include "nax/optimize/least_squares.hpp"
#include "nax/optimize/minimize.hpp"
#include "nax/optimize/root.hpp"
#include "nax/optimize/scalar.hpp"
#include "nax/optimize/solver.hpp"
