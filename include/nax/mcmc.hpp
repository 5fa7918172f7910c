#pragma once

// Markov chain Monte Carlo: samplers by gradients, and what their draws are worth.

#include "nax/modules/mcmc/diagnostics.hpp"
#include "nax/modules/mcmc/sample.hpp"
