#pragma once

// Markov chain Monte Carlo: samplers by gradients, and what their draws are worth.

#include "nax/mcmc/diagnostics.hpp"
#include "nax/mcmc/sample.hpp"
