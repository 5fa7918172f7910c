#pragma once

// Timelines and where the time went.

#include "nax/profiler/config.hpp"
#include "nax/profiler/summary.hpp"
#include "nax/profiler/trace.hpp"
