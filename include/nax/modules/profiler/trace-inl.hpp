#pragma once

#include "nax/core/at_fork.hpp"
#include "nax/core/json_text.hpp"
#include "nax/core/profile_lanes.hpp"
#include "nax/modules/profiler/trace.hpp"

NAX_BEGIN
namespace profiler::detail {

NAX_ENGINE std::int64_t Sessions::begin() {
  const std::lock_guard lock(mutex_);
  if (open_++ == 0) {
    nax::detail::profile::Lanes::instance().for_each([](auto& lane) { lane.lane.clear(); });
    nax::detail::profile::traces.fetch_add(1);
    nax::detail::profile::on.fetch_or(nax::detail::profile::tracing);
  }
  return nax::detail::profile::now();
}

NAX_ENGINE Session Sessions::end(std::int64_t since) {
  const std::lock_guard lock(mutex_);
  last_ = collect(since);
  if (--open_ == 0) nax::detail::profile::on.fetch_and(~nax::detail::profile::tracing);
  return last_;
}

NAX_ENGINE Session Sessions::seen() {
  const std::lock_guard lock(mutex_);
  return open_ > 0 ? collect(0) : last_;
}

// Returns the times of a device for a lane's events, as a lane of its own.
NAX_ENGINE LaneEvents lane_of_device(LaneEvents& host) {
  LaneEvents device;
  device.worker = device.on_device = true;
  for (Event& event : host.events) {
    const auto times = std::move(event.times);
    std::int64_t begin = 0, end = 0;
    if (!times || !times->read(begin, end)) continue;
    event.timed = true;
    if (device.name.empty()) device.name = to_string(event.device) + " for " + host.name;
    device.events.push_back(event);
    device.events.back().timed = false;
    device.events.back().begin = begin, device.events.back().end = end;
  }
  return device;
}

inline void sort_events(std::vector<Event>& events) {
  // An event is noted when it ends: of two that begin at once the longer one holds the other.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
}

NAX_ENGINE Session Sessions::collect(std::int64_t since) {
  Session session;
  session.end = nax::detail::profile::now();
  session.begin = since;
  nax::detail::profile::Lanes::instance().for_each([&](auto& lane) {
    LaneEvents events{lane.name, {}, lane.worker};
    lane.lane.copy_to(events.events, since, session.dropped);
    sort_events(events.events);
    if (!events.events.empty()) session.lanes.push_back(std::move(events));
  });
  for (std::size_t lane = 0, lanes = session.lanes.size(); lane < lanes; ++lane) {
    LaneEvents device = lane_of_device(session.lanes[lane]);  // waits for devices: with nothing locked
    sort_events(device.events);
    for (const Event& event : device.events) session.end = std::max(session.end, event.end);
    if (!device.events.empty()) session.lanes.push_back(std::move(device));
  }
  if (since == 0)
    for (const LaneEvents& lane : session.lanes)
      if (session.begin == 0 || lane.events[0].begin < session.begin) session.begin = lane.events[0].begin;
  return session;
}

NAX_ENGINE void append_event(std::string& out, const Event& event, std::int64_t begin, std::size_t lane) {
  char numbers[160];
  out += "{\"ph\":\"X\",\"name\":";
  out += nax::detail::json_text(event.name);
  std::snprintf(numbers, sizeof numbers, ",\"cat\":\"%s\",\"pid\":1,\"tid\":%zu,\"ts\":%.3f,\"dur\":%.3f",
                kind_name(event.kind), lane, static_cast<double>(event.begin - begin) * 1e-3,
                static_cast<double>(event.end - event.begin) * 1e-3);
  out += numbers;
  out += ",\"args\":{\"device\":\"" + to_string(event.device) + '"';
  if (event.axes >= 0) {
    const int known = std::min<int>(event.axes, Event::most_axes);
    std::string shape = shape_text(event.shape, static_cast<std::size_t>(known));
    if (known < event.axes) shape = shape.substr(0, shape.size() - 1) + ", ...)";
    std::snprintf(numbers, sizeof numbers, ",\"bytes\":%llu", static_cast<unsigned long long>(event.bytes));
    out += ",\"shape\":\"" + shape + '"' + numbers;
    if (event.flops > 0) {
      std::snprintf(numbers, sizeof numbers, ",\"flops\":%.0f", event.flops);
      out += numbers;
    }
  }
  out += "}}";
}

NAX_ENGINE std::string json_of(const Session& session) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"dropped_events\":\"" +
                    std::to_string(session.dropped) + "\"},\"traceEvents\":[\n";
  out += "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"nax\"}}";
  for (std::size_t lane = 0; lane < session.lanes.size(); ++lane) {
    out += ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":" + std::to_string(lane) +
           ",\"args\":{\"name\":";
    out += nax::detail::json_text(session.lanes[lane].name);
    out += "}}";
  }
  for (std::size_t lane = 0; lane < session.lanes.size(); ++lane)
    for (const Event& event : session.lanes[lane].events) {
      out += ",\n";
      append_event(out, event, session.begin, lane);
    }
  return out + "\n]}\n";
}

NAX_ENGINE void write_json(const std::string& path, const Session& session) {
  const std::string json = json_of(session);
  io::detail::NewFile file("trace", path);
  file.write(json.data(), json.size());
  file.commit();
}

inline nax::detail::ForkMutex& open_mutex() {
  static auto* const mutex = new nax::detail::ForkMutex;
  return *mutex;
}

NAX_ENGINE std::vector<Tracing*>& Tracing::open() {
  static auto* const all = new std::vector<Tracing*>;
  return *all;
}

NAX_ENGINE void Tracing::leave(Tracing* tracing) {
  const std::lock_guard lock(open_mutex());
  std::erase(open(), tracing);
}

NAX_ENGINE void Tracing::write_all() noexcept {
  std::vector<Tracing*> all;
  {
    const std::lock_guard lock(open_mutex());
    all.swap(open());
  }
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    try {
      (*one)->write();
    } catch (...) {
    }
  }
}

NAX_ENGINE Tracing::Tracing(std::string path) : path_(std::move(path)), begin_(Sessions::instance().begin()) {
  static std::terminate_handler before = nullptr;
  static const bool once = [] {
    before = std::set_terminate([] {
      write_all();
      if (before) before();
      std::abort();
    });
    return true;
  }();
  static_cast<void>(once);
  const std::lock_guard lock(open_mutex());
  open().push_back(this);
}

NAX_ENGINE Tracing::~Tracing() {
  leave(this);
  if (begin_ == 0) return;
  try {
    write_json(path_, Sessions::instance().end(begin_));
  } catch (...) {
  }
}

NAX_ENGINE void Tracing::write() {
  leave(this);
  write_json(path_, Sessions::instance().end(std::exchange(begin_, 0)));
}

NAX_ENGINE bool trace_from_environment() {
  static Tracing* tracing = nullptr;
  static const bool traces = [] {
    const char* path = std::getenv("NAX_TRACE");
    if (!path || !*path) return false;
    tracing = new Tracing(path);
    return std::atexit([] {
             try {
               tracing->write();
             } catch (const std::exception& error) {
               std::fprintf(stderr, "%s\n", error.what());
             }
           }) == 0;
  }();
  return traces;
}

}  // namespace profiler::detail
NAX_END
