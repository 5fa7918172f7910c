#pragma once

#include "nax/modules/profiler/summary.hpp"

NAX_BEGIN
namespace profiler::detail {

// Which of a lane's times an event's own time is of; none for a scope, which is the program's.
inline double* share_of(LaneTotals& of, Kind kind, bool in_wait) {
  if (in_wait && kind != Kind::collective) return &of.waiting_for_data;
  switch (kind) {
    case Kind::operation:
    case Kind::copy:
      return &of.busy;
    case Kind::collective:
      return &of.waiting_for_others;
    case Kind::wait_data:
      return &of.waiting_for_data;
    case Kind::data:
      return &of.pipeline;
    case Kind::idle:
      return &of.idle;
    case Kind::scope:
      return nullptr;
  }
  return nullptr;
}

// Before a lane's first event and after its last one.
inline double seconds_outside(const Session& session, const LaneEvents& lane) {
  std::int64_t last = session.begin;
  for (const Event& event : lane.events) last = std::max(last, event.end);
  const std::int64_t first = lane.events.front().begin;
  return static_cast<double>(std::max<std::int64_t>(0, first - session.begin) +
                             std::max<std::int64_t>(0, session.end - last)) *
         1e-9;
}

inline int most_at_once(std::vector<std::pair<std::int64_t, int>>& changes) {
  std::sort(changes.begin(), changes.end());  // of two at one time the end comes first
  int now = 0, most = 1;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

NAX_ENGINE Totals totals_of(const Session& session) {
  Totals totals;
  totals.seconds = static_cast<double>(session.end - session.begin) * 1e-9;
  totals.dropped_events = session.dropped;
  std::map<std::string, OperationTotals> operations;
  std::map<std::string, StageTotals> stages;
  std::map<std::string, std::vector<std::pair<std::int64_t, int>>> work;  // when threads begin and end it
  for (const LaneEvents& lane : session.lanes) {
    LaneTotals of;
    of.name = lane.name;
    for_each_own(lane.events, [&](const Own& own) {
      const Event& event = *own.event;
      if (double* const share = share_of(of, event.kind, own.in_wait)) *share += own.seconds;
      if (own.stage && event.kind != Kind::idle) stages[own.stage->name].seconds += own.seconds;
      if (event.kind == Kind::data) {
        auto& changes = work[event.name];
        changes.emplace_back(event.begin, 1), changes.emplace_back(event.end, -1);
      }
      if (event.timed) return;  // the device's lane counts it
      OperationTotals& operation = operations[event.name];
      ++operation.count;
      operation.seconds += own.seconds;
      operation.bytes += static_cast<double>(event.bytes);
      operation.flops += event.flops;
    });
    const double known = of.busy + of.pipeline + of.waiting_for_data + of.waiting_for_others + of.idle;
    const double rest = std::max(0.0, totals.seconds - known);
    const double outside = lane.on_device ? rest
                           : lane.worker  ? std::min(rest, seconds_outside(session, lane))
                                          : 0;
    of.idle += outside, of.host = rest - outside;
    totals.lanes.push_back(std::move(of));
  }
  for (auto& [name, stage] : stages) {
    stage.name = name;
    stage.threads = most_at_once(work[name]);
    if (totals.seconds > 0) stage.share = stage.seconds / totals.seconds / stage.threads;
    totals.stages.push_back(stage);
  }
  std::stable_sort(totals.stages.begin(), totals.stages.end(),
                   [](const StageTotals& a, const StageTotals& b) { return a.share > b.share; });
  for (auto& [name, operation] : operations) {
    operation.name = name;
    totals.operations.push_back(operation);
  }
  std::stable_sort(totals.operations.begin(), totals.operations.end(),
                   [](const OperationTotals& a, const OperationTotals& b) { return a.seconds > b.seconds; });
  return totals;
}

}  // namespace profiler::detail
NAX_END
NAX_BEGIN
namespace profiler {

NAX_ENGINE Totals totals() { return detail::totals_of(detail::Sessions::instance().seen()); }

NAX_ENGINE void summary(std::ostream& out) {
  const Totals all = totals();
  char line[200];
  std::snprintf(line, sizeof line, "%.3f s%s\n%-20s %8s %9s %9s %9s %8s %8s\n", all.seconds,
                all.dropped_events > 0 ? " (the first events were dropped)" : "", "", "busy", "pipeline",
                "for data", "others", "idle", "host");
  out << line;
  const double percent = all.seconds > 0 ? 100 / all.seconds : 0;
  for (const LaneTotals& lane : all.lanes) {
    std::snprintf(line, sizeof line, "%-20.60s %7.1f%% %8.1f%% %8.1f%% %8.1f%% %7.1f%% %7.1f%%\n",
                  lane.name.c_str(), lane.busy * percent, lane.pipeline * percent,
                  lane.waiting_for_data * percent, lane.waiting_for_others * percent, lane.idle * percent,
                  lane.host * percent);
    out << line;
  }
  if (!all.stages.empty()) {
    const StageTotals& slowest = all.stages[0];
    std::snprintf(line, sizeof line, "slowest stage: %.60s, at work %.1f%% of the time in %d thread%s\n",
                  slowest.name.c_str(), slowest.share * 100, slowest.threads,
                  slowest.threads == 1 ? "" : "s");
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

}  // namespace profiler
NAX_END
