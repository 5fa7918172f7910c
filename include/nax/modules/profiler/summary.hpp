#pragma once

#include <iostream>
#include <map>

#include "nax/modules/profiler/trace.hpp"

// Where the time went, in numbers.
NAX_BEGIN
namespace profiler {

// Seconds of a lane, which together are those of the trace. What lies within another event is counted there
// and not in the outer one.
struct LaneTotals {
  std::string name;
  double busy = 0;                // in operations and copies, those of pipeline stages included
  double pipeline = 0;            // in the stages of a pipeline otherwise
  double waiting_for_data = 0;    // for the next element, or making it where the loop's own thread does
  double waiting_for_others = 0;  // in collectives
  double idle = 0;                // a stage's or a device's thread without work
  double host = 0;                // all the rest
};
// A stage of a pipeline: what its own code took, operations within it included, its waits and the stages
// before it not.
struct StageTotals {
  std::string name;
  double seconds = 0;
  int threads = 0;   // that worked for it at once, at most
  double share = 0;  // of the time of each of them: near 1, and it is what the loop waits for
};
struct OperationTotals {
  std::string name;
  std::int64_t count = 0;
  double seconds = 0;
  double bytes = 0, flops = 0;
};
struct Totals {
  double seconds = 0;
  std::vector<LaneTotals> lanes;
  std::vector<OperationTotals> operations;  // by name, the most expensive first; waits have their own names
  std::vector<StageTotals> stages;          // the slowest first
  std::uint64_t dropped_events = 0;
};

namespace detail {

// An event's own time, and where it lies: within which stage (itself, where it is one), and within a wait for
// data.
struct Own {
  const Event* event;
  double seconds;
  const Event* stage;
  bool in_wait;
};

// f(own) for each event of a lane.
template <class F>
void for_each_own(const std::vector<Event>& events, const F& f) {
  struct Open {
    Own own;
    std::int64_t left;
  };
  std::vector<Open> open;
  const auto close = [&] {
    open.back().own.seconds = static_cast<double>(open.back().left) * 1e-9;
    f(open.back().own);
    open.pop_back();
  };
  for (const Event& event : events) {
    while (!open.empty() && open.back().own.event->end <= event.begin) close();
    if (!open.empty()) open.back().left -= std::min(event.end, open.back().own.event->end) - event.begin;
    const Event* const around = open.empty() ? nullptr : open.back().own.stage;
    const bool waits = event.kind == Kind::wait_data;
    const Event* const stage = event.kind == Kind::data ? &event : waits ? nullptr : around;
    const bool in_wait = waits || (!open.empty() && open.back().own.in_wait);
    open.push_back({{&event, 0, stage, in_wait}, event.end - event.begin});
  }
  while (!open.empty()) close();
}

NAX_ENGINE Totals totals_of(const Session& session);

}  // namespace detail

// Of the trace that is being taken, or the last one.
NAX_ENGINE Totals totals();

// Prints for each lane the shares of the time, then the ten operations that took most of it.
NAX_ENGINE void summary(std::ostream& out = std::cout);

}  // namespace profiler
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/profiler/summary-inl.hpp"
#endif
