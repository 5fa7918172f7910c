#pragma once

#include <chrono>
#include <mutex>
#include <shared_mutex>

#include "nax/devices/cuda/device/streams.hpp"

// Keeps apart recordings and calls that a recording on another thread does not survive: to make a library's
// handle or plan, or to destroy a plan, may synchronise the device, which invalidates every capture.
NAX_BEGIN
namespace cuda {

class CaptureGate {
 public:
  // A recording of this thread.
  class Recording {
   public:
    Recording() { gate().lock_shared(); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording() { gate().unlock_shared(); }
  };

  // Returns f() while no other thread records. A thread that records itself goes on at once, and one whose
  // recorder waits for it goes on after some seconds: then the recording fails instead of both waiting.
  template <class F>
  static decltype(auto) alone(const F& f) {
    if (capture_stream || is_alone) return f();
    struct Scope {
      std::unique_lock<std::shared_timed_mutex> lock{gate(), std::chrono::seconds(5)};
      Scope() { is_alone = true; }
      Scope(const Scope&) = delete;
      Scope& operator=(const Scope&) = delete;
      ~Scope() { is_alone = false; }
    } const scope;
    return f();
  }

 private:
  static inline thread_local constinit bool is_alone = false;
  static std::shared_timed_mutex& gate() {
    static auto* const made = new std::shared_timed_mutex;  // threads may end after static objects
    return *made;
  }
};

}  // namespace cuda
NAX_END
