#pragma once

// The part of the engine that this module is (compiled/engine.cpp).

#include "nax/profiler.hpp"

NAX_BEGIN
namespace profiler::detail {
[[maybe_unused]] const bool traces_from_start = trace_from_environment();
}  // namespace profiler::detail
NAX_END
