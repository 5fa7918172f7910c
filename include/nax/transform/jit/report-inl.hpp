#pragma once

#include <mutex>

#include "nax/core/at_fork.hpp"
#include "nax/transform/jit/report.hpp"

NAX_BEGIN
namespace detail {

struct PlainReasons {
  ForkMutex mutex;
  std::map<std::string, std::atomic<std::int64_t>> by_reason;
  static PlainReasons& instance() {
    static PlainReasons* const all = new PlainReasons;  // functions are called at any time
    return *all;
  }
};

NAX_ENGINE PlainCalls& plain_calls(const std::string& reason) {
  PlainReasons& all = PlainReasons::instance();
  const std::lock_guard lock(all.mutex);
  return *all.by_reason.try_emplace(reason).first;
}
NAX_ENGINE void count_plain(PlainCalls& calls, bool required) {
  if (required) throw DeviceError(calls.first);
  ++calls.second;
}

NAX_ENGINE std::string not_on_device(std::size_t argument, const BufferRef& buffer, Device device) {
  const std::string name = "jit: argument " + std::to_string(argument);
  if (buffer->device == device) return name + " lies in shards on several devices";
  return name + " lies on " + to_string(buffer->device) + ", and the function is called on " +
         to_string(device);
}

}  // namespace detail

NAX_ENGINE JitReport jit_report() {
  JitReport report;
  report.recordings = detail::jit_recordings.load(std::memory_order_relaxed);
  detail::PlainReasons& all = detail::PlainReasons::instance();
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
