#pragma once

#include <chrono>
#include <cstring>

#include "nax/core/os/os.hpp"
#include "nax/core/per_thread.hpp"
#include "nax/core/profile_lanes.hpp"

NAX_BEGIN
namespace detail::profile {

NAX_ENGINE int noted_now() {
#if defined(__ELF__)
  bool (*read)() = profiler::detail::trace_from_environment;
  if ((on.fetch_and(~environment_unread) & environment_unread) && read) read();
#else
  on.fetch_and(~environment_unread);
#endif
  return on.load(std::memory_order_relaxed);
}

NAX_ENGINE std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

NAX_ENGINE void Lane::add(const Event& event) {
  const std::lock_guard lock(mutex_);
  if (events_.size() < most_events)
    events_.push_back(event);
  else
    events_[dropped_++ % most_events] = event;
}

NAX_ENGINE void Lane::copy_to(std::vector<Event>& events, std::int64_t since, std::uint64_t& dropped) {
  const std::lock_guard lock(mutex_);
  for (const Event& event : events_)
    if (event.begin >= since) events.push_back(event);
  dropped += dropped_;
}

NAX_ENGINE void Lane::clear() {
  const std::lock_guard lock(mutex_);
  events_ = {};
  dropped_ = 0;
}

NAX_ENGINE NamedLane* Lanes::take(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_)
    if (!lane->taken && lane->name == name) {
      lane->taken = true;
      return lane.get();
    }
  lanes_.push_back(std::make_unique<NamedLane>());
  lanes_.back()->worker = !name.empty() && name != "main";
  lanes_.back()->name = name.empty() ? "thread " + std::to_string(++unnamed_) : name;
  return lanes_.back().get();
}

NAX_ENGINE void Lanes::leave(NamedLane* lane) {
  const std::lock_guard lock(mutex_);
  lane->taken = false;
}

NAX_ENGINE NamedLane& lane_of_this_thread() {
  struct Taken {
    NamedLane* lane = nullptr;
    ~Taken() {
      if (lane) Lanes::instance().leave(lane);
      this_lane = nullptr;
    }
  };
  if (!this_lane) {
    this_lane = Lanes::instance().take(this_name ? this_name : os::is_main_thread() ? "main" : "");
    per_thread<Taken>().lane = this_lane;
  }
  return *this_lane;
}

NAX_ENGINE void Span::begin(int what, Kind kind, const char* name, const char* more, Device device) {
  if (what & environment_unread) what = noted_now();
  if (what == 0) return;
  char joined[Event::name_bytes] = {};
  std::size_t length = 0;
  for (const char* part : {name, more})
    for (; *part && length + 1 < Event::name_bytes; ++part) joined[length++] = *part;
  if (what & tracing) {
    event_ = new Event;
    event_->kind = kind;
    std::memcpy(event_->name, joined, sizeof joined);
    event_->device = device;
    if (TimeDevice* const time = time_device[static_cast<int>(device.platform)];
        time && (kind == Kind::operation || kind == Kind::copy))
      event_->times = time(device);
    event_->begin = now();
  }
  if ((what & naming_ranges) && name_ranges.begin) name_ranges.begin(joined), named_ = true;
}

NAX_ENGINE void Span::end() noexcept {
  if (named_) name_ranges.end();
  if (!event_) return;
  if (event_->times) event_->times->end();
  event_->end = now();
  try {
    lane_of_this_thread().lane.add(*event_);
  } catch (...) {  // no memory for events: the program goes on
  }
  delete event_;
}

NAX_ENGINE void describe(Event& event, const Dims& shape, std::uint64_t bytes, double flops) {
  event.axes = static_cast<std::int8_t>(shape.size() < 127 ? shape.size() : 127);
  for (std::size_t axis = 0; axis < shape.size() && axis < Event::most_axes; ++axis)
    event.shape[axis] = shape[axis];
  event.bytes = bytes;
  event.flops = flops;
}

}  // namespace detail::profile
NAX_END
