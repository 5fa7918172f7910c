#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "nax/devices/mpi/call.hpp"

// The end of a job that cannot go on.
NAX_BEGIN
namespace detail::mpi {

// Ends the process, with a line on stderr, unless it is destroyed within the time: for MPI's calls that wait
// for other processes and cannot be given up.
class Watchdog {
 public:
  Watchdog(std::chrono::duration<double> limit, std::string line) : state_(std::make_shared<State>()) {
    try {
      std::thread([limit, line = std::move(line), state = state_] {
        std::unique_lock lock(state->mutex);
        if (state->changed.wait_for(lock, limit, [&] { return state->over; })) return;
        std::fprintf(stderr, "nax: %s\n", line.c_str());
        std::_Exit(1);
      }).detach();
    } catch (const std::system_error&) {  // no thread to be had: then MPI may wait for ever
    }
  }
  ~Watchdog() {
    const std::lock_guard lock(state_->mutex);
    state_->over = true;
    state_->changed.notify_all();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
  };
  std::shared_ptr<State> state_;
};

// Ends all processes by MPI_Abort, with a line on stderr.
[[noreturn]] inline void abort_job(const std::string& line) noexcept {
  std::fprintf(stderr, "nax: %s\n", line.c_str());
  try {
    const Watchdog watchdog(std::chrono::seconds(10), "MPI_Abort has not ended the job after 10 seconds");
    MPI_Abort(MPI_COMM_WORLD, 1);
  } catch (...) {
  }
  std::_Exit(1);
}

}  // namespace detail::mpi
NAX_END
