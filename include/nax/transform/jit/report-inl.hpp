#pragma once

#include <mutex>

#include "nax/core/at_fork.hpp"
#include "nax/transform/jit/report.hpp"

NAX_BEGIN
namespace detail {

struct PlainCalls {
  ForkMutex mutex;
  std::map<std::string, std::atomic<std::int64_t>> by_reason;
  static PlainCalls& instance() {
    static PlainCalls* const all = new PlainCalls;  // functions are called at any time
    return *all;
  }
};

NAX_ENGINE std::atomic<std::int64_t>& plain_calls(const std::string& reason) {
  PlainCalls& all = PlainCalls::instance();
  const std::lock_guard lock(all.mutex);
  return all.by_reason[reason];
}

}  // namespace detail

NAX_ENGINE JitReport jit_report() {
  JitReport report;
  report.recordings = detail::jit_recordings.load(std::memory_order_relaxed);
  detail::PlainCalls& all = detail::PlainCalls::instance();
  const std::lock_guard lock(all.mutex);
  for (const auto& [reason, count] : all.by_reason)
    if (const std::int64_t n = count.load(std::memory_order_relaxed)) report.plain[reason] = n;
  return report;
}

NAX_ENGINE std::ostream& operator<<(std::ostream& out, const JitReport& report) {
  std::int64_t calls = 0;
  for (const auto& [reason, count] : report.plain) calls += count;
  out << report.recordings << " recordings, " << calls << " plain calls\n";
  for (const auto& [reason, count] : report.plain) out << "  " << count << ": " << reason << '\n';
  return out;
}

NAX_END
