#pragma once

// Ordinary differential equations and integrals, by SciPy's names.

#include "nax/integrate/odeint.hpp"
#include "nax/integrate/quad.hpp"
#include "nax/integrate/sdeint.hpp"
#include "nax/integrate/solve_ivp.hpp"
