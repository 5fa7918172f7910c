#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "nax/core/array_base.hpp"

NAX_BEGIN

// Counts of what jit has done since the start, over all functions and threads. It prints, a line a reason.
struct JitReport {
  std::int64_t recordings = 0;                     // programs and graphs that were made
  std::map<std::string, std::int64_t> plain = {};  // by reason: calls of functions as they are
};

// Says how much jit has recorded, and for what reasons it has called functions as they are. A reason names
// the function of nax that could not be recorded, or the argument. Calls within other transforms and after
// disable_jit() do not count.
NAX_ENGINE JitReport jit_report();
NAX_ENGINE std::ostream& operator<<(std::ostream& out, const JitReport& report);

namespace detail {

inline std::atomic<std::int64_t> jit_recordings{0};
// A reason for plain calls, with their count; it lasts as long as the program.
using PlainCalls = std::pair<const std::string, std::atomic<std::int64_t>>;
NAX_ENGINE PlainCalls& plain_calls(const std::string& reason);
// Counts a plain call. Throws DeviceError with the reason instead where recording is required.
NAX_ENGINE void count_plain(PlainCalls& calls, bool required);

// Can a call on `device` be recorded whose arguments lie in this buffer?
inline bool takes_part(const BufferRef& buffer, Device device) {
  return !buffer || (buffer->device == device && (!buffer->source || buffer->source->lies_in_memory()));
}
// Says why it cannot.
NAX_ENGINE std::string not_on_device(std::size_t argument, const BufferRef& buffer, Device device);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/jit/report-inl.hpp"
#endif
