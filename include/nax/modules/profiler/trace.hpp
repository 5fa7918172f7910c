#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nax/core/at_fork.hpp"
#include "nax/core/profile.hpp"
#include "nax/io/new_file.hpp"

// Timelines: what each thread of the program did when, for chrome://tracing, ui.perfetto.dev and summary().
//
// Lanes are threads: the program's own, a pipeline's (by the name of the stage), pmap's devices. Events of
// the engine are computed expressions and reductions (by the name of their outermost function), products,
// collectives, copies between devices, and the stages of pipelines; a Scope adds your own. On GPUs a thread's
// event is the time that the host takes to hand the work over. When the card did it stands in another lane
// ("cuda:0 for main"), by events that the card records around each operation while a trace is taken: they are
// read when it ends, which waits for the card.
NAX_BEGIN
namespace profiler {
namespace detail {

using nax::detail::profile::Event;
using nax::detail::profile::Kind;

struct LaneEvents {
  std::string name;
  std::vector<Event> events;  // by beginning
  bool worker = false;
  bool on_device = false;  // what a device did, by its own clock
};
struct Session {
  std::int64_t begin = 0, end = 0;
  std::vector<LaneEvents> lanes;
  std::uint64_t dropped = 0;
};

// Counts open sessions, and keeps the last one collected.
class Sessions {
 public:
  static Sessions& instance() {
    static Sessions* const sessions = new Sessions;
    return *sessions;
  }
  std::int64_t begin();
  Session end(std::int64_t since);
  // The session that is open, or the last one.
  Session seen();

 private:
  static Session collect(std::int64_t since);
  nax::detail::ForkMutex mutex_;
  int open_ = 0;
  Session last_;
};

inline const char* kind_name(Kind kind) {
  constexpr const char* names[] = {"operation",     "collective", "copy", "data",
                                   "wait for data", "scope",      "idle"};
  return names[static_cast<int>(kind)];
}

NAX_ENGINE void append_event(std::string& out, const Event& event, std::int64_t begin, std::size_t lane);

NAX_ENGINE std::string json_of(const Session& session);

NAX_ENGINE void write_json(const std::string& path, const Session& session);

// One trace, from here to its end. A program that ends by an uncaught exception writes it too.
class Tracing {
 public:
  explicit Tracing(std::string path);
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  // Writes the trace after an exception as well, if possible; the exception is what reaches the caller.
  ~Tracing();
  void write();

 private:
  // Of all that are open, the outermost last.
  static void write_all() noexcept;
  static std::vector<Tracing*>& open();
  static void leave(Tracing* tracing);

  std::string path_;
  std::int64_t begin_;
};

// NAX_TRACE=file: everything from the program's first event to its end; with the library, from its start.
NAX_ENGINE bool trace_from_environment();

}  // namespace detail

// Calls f and writes what happened meanwhile, on all threads, to a file that chrome://tracing and
// ui.perfetto.dev open. Returns what f returns. Throws IoError where the file cannot be written. A thread
// keeps its last 262 144 events.
template <class F>
decltype(auto) trace(const std::string& path, F&& f) {
  using Result = decltype(f());
  detail::Tracing tracing(path);
  if constexpr (std::is_void_v<Result>) {
    f();
    tracing.write();
  } else {
    Result result = f();
    tracing.write();
    return static_cast<Result>(std::forward<Result>(result));
  }
}

// A part of the program by a name of your own: `profiler::Scope part("augment");`. Scopes nest.
class Scope {
 public:
  explicit Scope(const std::string& name) : Scope(name.c_str()) {}
  explicit Scope(const char* name) : span_(nax::detail::profile::Kind::scope, name) {}

 private:
  nax::detail::profile::Span span_;
};

}  // namespace profiler
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/profiler/trace-inl.hpp"
#endif
