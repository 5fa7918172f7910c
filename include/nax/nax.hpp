#pragma once

// Everything that a program of nax needs. (io/gzip.hpp and what reads gzip files are apart: they need zlib;
// signal.hpp is, since `signal` is a function of C's.)

// clang-format off
// First, since it refuses flags and targets in the first lines of what a compiler says.
#include "nax/core/abi.hpp"
// clang-format on

#include "nax/core.hpp"
#include "nax/data.hpp"
#include "nax/distributed.hpp"
#include "nax/image.hpp"
#include "nax/integrate.hpp"
#include "nax/io.hpp"
#include "nax/lax.hpp"
#include "nax/metrics.hpp"
#include "nax/nn.hpp"
#include "nax/optim.hpp"
#include "nax/optimize.hpp"
#include "nax/profiler.hpp"
#include "nax/stats.hpp"
#include "nax/storage.hpp"
#include "nax/training.hpp"

// Where an engine has their bodies these cost nothing; programs of headers alone, which would compile them,
// name them.
#if defined(NAX_CALLS_LIBRARY)
#include "nax/exporting.hpp"
#include "nax/interpolate.hpp"
#include "nax/mcmc.hpp"
#include "nax/modules/data/tokenizer.hpp"
#include "nax/neighbours.hpp"
#endif
