#pragma once

#include <iostream>
#include <map>

#include "nax/profiler/trace.hpp"

// Where the time went, in numbers.
namespace nax::inline NAX_ABI::profiler {

// Seconds of a lane, which together are those of the trace. What lies within another event is counted there
// and not in the outer one.
struct LaneTotals {
  std::string name;
  double busy = 0;                // in operations and copies, those of pipeline stages included
  double pipeline = 0;            // in the stages of a pipeline otherwise
  double waiting_for_data = 0;    // for the next element of a pipeline
  double waiting_for_others = 0;  // in collectives
  double host = 0;                // all the rest
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
  std::vector<OperationTotals> operations;  // by name, the most expensive first
  std::uint64_t dropped_events = 0;
};

namespace detail {

// f(event, seconds that are the event's own) for each event of a lane.
template <class F>
void for_each_own(const std::vector<Event>& events, const F& f) {
  struct Open {
    const Event* event;
    std::int64_t own;
  };
  std::vector<Open> open;
  const auto close = [&] {
    f(*open.back().event, static_cast<double>(open.back().own) * 1e-9);
    open.pop_back();
  };
  for (const Event& event : events) {
    while (!open.empty() && open.back().event->end <= event.begin) close();
    if (!open.empty()) open.back().own -= std::min(event.end, open.back().event->end) - event.begin;
    open.push_back({&event, event.end - event.begin});
  }
  while (!open.empty()) close();
}

NAX_ENGINE Totals totals_of(const Session& session);

}  // namespace detail

// Of the trace that is being taken, or the last one.
inline Totals totals() { return detail::totals_of(detail::Sessions::instance().seen()); }

// The same as text: for each lane the shares of the time, then the ten operations that took most of it.
NAX_ENGINE void summary(std::ostream& out = std::cout);

}  // namespace nax::inline NAX_ABI::profiler

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::profiler::detail {

NAX_ENGINE Totals totals_of(const Session& session) {
  Totals totals;
  totals.seconds = static_cast<double>(session.end - session.begin) * 1e-9;
  totals.dropped_events = session.dropped;
  std::map<std::string, OperationTotals> operations;
  for (const LaneEvents& lane : session.lanes) {
    LaneTotals of;
    of.name = lane.name;
    for_each_own(lane.events, [&](const Event& event, double own) {
      switch (event.kind) {
        case Kind::operation:
        case Kind::copy:
          of.busy += own;
          break;
        case Kind::collective:
          of.waiting_for_others += own;
          break;
        case Kind::wait_data:
          of.waiting_for_data += own;
          break;
        case Kind::data:
          of.pipeline += own;
          break;
        case Kind::scope:
          break;
      }
      OperationTotals& operation = operations[event.name];
      ++operation.count;
      operation.seconds += own;
      operation.bytes += static_cast<double>(event.bytes);
      operation.flops += event.flops;
    });
    of.host =
        std::max(0.0, totals.seconds - of.busy - of.pipeline - of.waiting_for_data - of.waiting_for_others);
    totals.lanes.push_back(std::move(of));
  }
  for (auto& [name, operation] : operations) {
    operation.name = name;
    totals.operations.push_back(operation);
  }
  std::stable_sort(totals.operations.begin(), totals.operations.end(),
                   [](const OperationTotals& a, const OperationTotals& b) { return a.seconds > b.seconds; });
  return totals;
}

}  // namespace nax::inline NAX_ABI::profiler::detail
namespace nax::inline NAX_ABI::profiler {

NAX_ENGINE void summary(std::ostream& out) {
  const Totals all = totals();
  char line[200];
  std::snprintf(line, sizeof line, "%.3f s%s\n%-20s %8s %9s %9s %9s %8s\n", all.seconds,
                all.dropped_events > 0 ? " (the first events were dropped)" : "", "", "busy", "pipeline",
                "for data", "others", "host");
  out << line;
  const double percent = all.seconds > 0 ? 100 / all.seconds : 0;
  for (const LaneTotals& lane : all.lanes) {
    std::snprintf(line, sizeof line, "%-20.60s %7.1f%% %8.1f%% %8.1f%% %8.1f%% %7.1f%%\n", lane.name.c_str(),
                  lane.busy * percent, lane.pipeline * percent, lane.waiting_for_data * percent,
                  lane.waiting_for_others * percent, lane.host * percent);
    out << line;
  }
  std::snprintf(line, sizeof line, "%-28s %9s %11s %9s %9s\n", "", "count", "ms", "GB/s", "GFLOP/s");
  out << line;
  for (std::size_t i = 0; i < all.operations.size() && i < 10; ++i) {
    const OperationTotals& o = all.operations[i];
    const double per_second = o.seconds > 0 ? 1e-9 / o.seconds : 0;
    std::snprintf(line, sizeof line, "%-28s %9lld %11.3f %9.2f %9.2f\n", o.name.c_str(),
                  static_cast<long long>(o.count), o.seconds * 1e3, o.bytes * per_second,
                  o.flops * per_second);
    out << line;
  }
}

}  // namespace nax::inline NAX_ABI::profiler
#endif
