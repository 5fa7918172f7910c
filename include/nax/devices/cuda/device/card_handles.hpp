#pragma once

#include <mutex>
#include <vector>

#include "nax/core/per_thread.hpp"
#include "nax/devices/cuda/device/capture_gate.hpp"
#include "nax/devices/cuda/device/runtime.hpp"

NAX_BEGIN
namespace cuda {

// Handles of a library: one a thread and card, from when it first asks until the thread ends. Then they go to
// the next thread that asks: to destroy one synchronises the device, which invalidates captures. Library has
// the type Handle and the function create(), which throws DeviceError.
template <class Library>
class CardHandles {
 public:
  using Handle = typename Library::Handle;

  static Handle of(Device device) {
    const int card = card_of(device);
    Handle& handle = detail::per_thread<CardHandles>().handles_[card];
    if (!handle) handle = free().take(card);
    return handle;
  }
  ~CardHandles() {
    for (int card = 0; card < most_devices; ++card)
      if (handles_[card]) free().give(card, handles_[card]);
  }

 private:
  // Of threads that have ended.
  class Free {
   public:
    Handle take(int card) {
      {
        const std::lock_guard lock(mutex_);
        std::vector<Handle>& all = handles_[card];
        if (!all.empty()) {
          const Handle last = all.back();
          all.pop_back();
          return last;
        }
      }
      return CaptureGate::alone([] { return Library::create(); });
    }
    void give(int card, Handle handle) {
      const std::lock_guard lock(mutex_);
      handles_[card].push_back(handle);
    }

   private:
    std::mutex mutex_;
    std::vector<Handle> handles_[most_devices];
  };
  static Free& free() {
    static Free* const made = new Free;  // threads may end after static objects
    return *made;
  }

  Handle handles_[most_devices] = {};
};

}  // namespace cuda
NAX_END
