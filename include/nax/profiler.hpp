#pragma once

// Timelines and where the time went.

#include "nax/modules/profiler/config.hpp"
#include "nax/modules/profiler/summary.hpp"
#include "nax/modules/profiler/trace.hpp"
