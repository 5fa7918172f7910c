// The part of nax::compiled for solvers: their steps on vectors of doubles.
#define NAX_COMPILED_ENGINE
#include "nax/optimize/assignment_core.hpp"
#include "nax/optimize/least_squares_core.hpp"
#include "nax/optimize/minimize_core.hpp"
#include "nax/optimize/root_core.hpp"
