#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nax/core/at_fork.hpp"
#include "nax/core/profile.hpp"

// The lists in which threads keep their events (profile.hpp). The engine's alone.
NAX_BEGIN
namespace detail::profile {

inline constexpr std::size_t most_events = std::size_t{1} << 18;

// One thread's events.
class Lane {
 public:
  void add(const Event& event);
  void copy_to(std::vector<Event>& events, std::int64_t since, std::uint64_t& dropped);
  void clear();

 private:
  ForkMutex mutex_;
  std::vector<Event> events_;
  std::size_t dropped_ = 0;
};

struct NamedLane {
  std::string name;
  Lane lane;
  bool taken = true;    // by a thread that lives
  bool worker = false;  // of a stage or a device: where it does nothing it is idle
};

// All lanes of the process; never destroyed, since threads may end after everything else.
class Lanes {
 public:
  static Lanes& instance() {
    static Lanes* const lanes = new Lanes;
    return *lanes;
  }
  // A lane of that name that no thread has, or a new one.
  NamedLane* take(const std::string& name);
  void leave(NamedLane* lane);
  template <class F>
  void for_each(const F& f) {
    const std::lock_guard lock(mutex_);
    for (const auto& lane : lanes_) f(*lane);
  }

 private:
  ForkMutex mutex_;
  std::vector<std::unique_ptr<NamedLane>> lanes_;
  int unnamed_ = 0;
};

inline constinit thread_local NamedLane* this_lane = nullptr;

NAX_ENGINE NamedLane& lane_of_this_thread();

}  // namespace detail::profile
NAX_END
