#pragma once

// Ordinary differential equations and integrals, by SciPy's names.

#include "nax/modules/integrate/odeint.hpp"
#include "nax/modules/integrate/quad.hpp"
#include "nax/modules/integrate/sdeint.hpp"
#include "nax/modules/integrate/solve_ivp.hpp"
