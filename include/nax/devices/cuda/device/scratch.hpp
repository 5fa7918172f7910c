#pragma once

#include "nax/core/accelerator.hpp"

NAX_BEGIN
namespace cuda {

// Memory of a device for as long as kernels of this thread's stream need it.
class Scratch {
 public:
  Scratch(Device device, std::size_t bytes)
      : device_(device), bytes_(bytes), data_(detail::accelerator_of(device).allocate(device, bytes)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    detail::Accelerator& accelerator = detail::accelerator_of(device_);
    accelerator.deallocate(device_, data_, bytes_, accelerator.stream(device_));
  }
  char* data() const { return static_cast<char*>(data_); }

 private:
  Device device_;
  std::size_t bytes_;
  void* data_;
};

}  // namespace cuda
NAX_END
