#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "nax/core/compiled_once.hpp"
#include "nax/core/device.hpp"
#include "nax/core/shape.hpp"

// Events that the engine notes while a profile is taken.
//
// Without a profile a Span costs one relaxed load and a branch that is never taken. During a profile it reads
// the clock twice and appends one event to its thread's list, under an uncontended lock. A thread keeps its
// last `most_events`; what it dropped is counted. A thread that ends leaves its list, and its lane to the
// next thread of the same name.
//
// Devices that compute behind the host's back have times of their own (DeviceTimes), and tools of theirs that
// want to know the names of operations (NameRanges): libraries that bring such devices provide both.
NAX_BEGIN
namespace profiler::detail {
// Starts the trace that NAX_TRACE asks for. In modules/profiler/trace-inl.hpp, which a program may lack.
#if defined(__ELF__)
[[gnu::weak]] bool trace_from_environment();
#endif
}  // namespace profiler::detail
namespace detail::profile {

enum class Kind : std::uint8_t {
  operation,   // computing
  collective,  // in a collective, waiting included
  copy,        // between devices
  data,        // a stage of a pipeline, in one of its threads
  wait_data,   // a loop or a stage that waits for the next element
  scope,       // named by the user
  idle,        // a stage's thread without room for more
};
inline constexpr int kinds = 7;

// When a device did what was handed over during an event. Asked when the trace is collected.
class DeviceTimes {
 public:
  virtual ~DeviceTimes() = default;
  virtual void end() noexcept = 0;  // all has been handed over
  // Waits for the device. Nanoseconds of this host's clock; false where it cannot tell.
  virtual bool read(std::int64_t& begin, std::int64_t& end) noexcept = 0;
};
// By platform: begins to take the device's time, in the calling thread's stream; null where it cannot.
using TimeDevice = std::shared_ptr<DeviceTimes>(Device) noexcept;
inline constinit TimeDevice* time_device[platform_count] = {};

// Tools outside of the program that show what it does by name.
struct NameRanges {
  void (*begin)(const char* name) noexcept;
  void (*end)() noexcept;
};
inline constinit NameRanges name_ranges = {};

struct Event {
  static constexpr std::size_t name_bytes = 40;
  static constexpr int most_axes = 4;

  std::int64_t begin = 0, end = 0;  // nanoseconds
  char name[name_bytes] = {};
  Kind kind = Kind::operation;
  Device device;
  std::int8_t axes = -1;  // of the result; -1: no shape
  std::int64_t shape[most_axes] = {};
  std::uint64_t bytes = 0;  // read and written
  double flops = 0;
  std::shared_ptr<DeviceTimes> times;  // of what a device was handed, until they have been read
  bool timed = false;                  // the device's own event tells the same operation
};

// Bits of what is noted.
inline constexpr int tracing = 1, naming_ranges = 2, environment_unread = 4;
inline constinit std::atomic<int> on{environment_unread};
// Returns the bits, after it has read the environment.
NAX_ENGINE int noted_now();
inline std::atomic<unsigned> traces{0};  // that have begun

// Nanoseconds of the steady clock.
NAX_ENGINE std::int64_t now();

inline constinit thread_local const char* this_name = nullptr;  // of the thread, where it has one

// Sets the name of this thread in profiles from its first event on; the text must outlive the thread.
inline void name_thread(const char* name) { this_name = name; }

// An event that lasts as long as this lives, on the stack of a thread.
class Span {
 public:
  // The name's two parts become one.
  explicit Span(Kind kind, const char* name, const char* more = "") {
    if (const int what = on.load(std::memory_order_relaxed)) [[unlikely]]
      begin(what, kind, name, more, current_device);
  }
  // Of what this device computes.
  Span(Kind kind, const char* name, Device device) {
    if (const int what = on.load(std::memory_order_relaxed)) [[unlikely]]
      begin(what, kind, name, "", device);
  }
  Span() = default;  // of nothing
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (event_ || named_) [[unlikely]]
      end();
  }
  // The event, for callers that add details; null if no profile is taken.
  Event* event() const { return event_; }

 private:
  [[gnu::cold]] void begin(int what, Kind kind, const char* name, const char* more, Device device);
  [[gnu::cold]] void end() noexcept;

  Event* event_ = nullptr;
  bool named_ = false;
};

// Of a result of this shape, and the bytes and operations that it took.
NAX_ENGINE void describe(Event& event, const Dims& shape, std::uint64_t bytes, double flops);

}  // namespace detail::profile
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/core/profile-inl.hpp"
#endif
