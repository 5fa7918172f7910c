#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>

#include "nax/core/abi.hpp"
#include "nax/core/compiled_once.hpp"

NAX_BEGIN

// Counts of what jit has done since the start, over all functions and threads. It prints, a line a reason.
struct JitReport {
  std::int64_t recordings = 0;                     // programs and graphs that were made
  std::map<std::string, std::int64_t> plain = {};  // by reason: calls of functions as they are
};

// Says how much jit has recorded, and for what reasons it has called functions as they are. Calls within
// other transforms and after disable_jit() do not count.
NAX_ENGINE JitReport jit_report();
NAX_ENGINE std::ostream& operator<<(std::ostream& out, const JitReport& report);

namespace detail {

inline std::atomic<std::int64_t> jit_recordings{0};
// The counter of plain calls for a reason; it lasts as long as the program.
NAX_ENGINE std::atomic<std::int64_t>& plain_calls(const std::string& reason);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/jit/report-inl.hpp"
#endif
