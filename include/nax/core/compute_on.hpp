#pragma once

#include <utility>

#include "nax/core/array_base.hpp"

NAX_BEGIN
namespace detail {

// Makes the device of `x`, if it is an accelerator, this thread's current device for the object's lifetime.
// Arrays the library creates, such as the ones and zeros of a derivative, then lie beside x.
class ComputeOn {
 public:
  explicit ComputeOn(const ArrayBase& x) : ComputeOn(x.device()) {}
  explicit ComputeOn(Device device)
      : before_(on_accelerator(device) ? std::exchange(current_device, device) : current_device) {}
  ComputeOn(const ComputeOn&) = delete;
  ComputeOn& operator=(const ComputeOn&) = delete;
  ~ComputeOn() { current_device = before_; }

 private:
  Device before_;
};

}  // namespace detail
NAX_END
