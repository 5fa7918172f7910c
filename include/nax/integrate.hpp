#pragma once

// Ordinary differential equations and integrals, by SciPy's names. (Not part of nax.hpp.)

#include "nax/integrate/odeint.hpp"
#include "nax/integrate/quad.hpp"
#include "nax/integrate/solve_ivp.hpp"
