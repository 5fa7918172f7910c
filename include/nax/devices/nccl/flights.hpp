#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nax/core/per_thread.hpp"
#include "nax/devices/nccl/clique.hpp"

// Collectives that were on their way when their pmap returned. The thread that called it watches them: it
// asks whenever it waits for a device, and in its next pmap. One that fails, or has not landed within the
// time since it was first asked for, is aborted, and the thread gets a DeviceError, once.
NAX_BEGIN
namespace detail::nccl {

// Of one run.
struct Flight {
  struct Device {
    std::shared_ptr<cuda::StreamMark> end;  // of its last collective; null where it made none
    std::string text;                       // what it was
  };
  std::shared_ptr<Clique> clique;
  std::vector<Device> devices;  // by their place in the clique
};

class Flights final : public cuda::StreamWatch {
 public:
  static Flights& of_this_thread() { return per_thread<Flights>(); }
  ~Flights() { cuda::watch_streams(nullptr); }

  void add(Flight flight) {
    flights_.push_back(std::move(flight));
    cuda::watch_streams(this);
  }
  void forget(const Clique& clique) {
    deadline_.reset();
    std::erase_if(flights_, [&](const Flight& flight) { return flight.clique.get() == &clique; });
  }
  // Forgets what has landed. Throws DeviceError for the first that failed.
  void check() override {
    while (!flights_.empty()) {
      Flight& first = flights_.front();
      bool landed = true;
      for (std::size_t d = 0; d < first.devices.size(); ++d) {
        Flight::Device& device = first.devices[d];
        std::string text;
        if (!first.clique->state_of(static_cast<int>(d), text)) text = "another run of the devices failed";
        if (!text.empty()) fail(device.text + ": " + text);
        if (!device.end || device.end->passed()) continue;
        landed = false;
        if (!deadline_) deadline_ = deadline_from_now();
        if (std::chrono::steady_clock::now() > *deadline_)
          fail(device.text + ": not done after " + timeout_text());
      }
      if (!landed) return;
      flights_.pop_front();
      deadline_.reset();
    }
    cuda::watch_streams(nullptr);
  }

 private:
  [[noreturn]] void fail(const std::string& text) {
    for (const Flight& flight : flights_) flight.clique->abort();
    flights_.clear();
    deadline_.reset();
    cuda::watch_streams(nullptr);
    raise<DeviceError>({text});
  }

  std::deque<Flight> flights_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;  // of the first, once it was asked for
};

}  // namespace detail::nccl
NAX_END
