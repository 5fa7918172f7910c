#pragma once

#include "nax/backend/cuda/runtime.hpp"
#include "nax/core/per_thread.hpp"

NAX_BEGIN
namespace cuda {

// Handles of a library: one a thread and card, made when first asked for. Library has the type Handle, and
// the functions create(), which throws DeviceError, and destroy(Handle).
template <class Library>
class CardHandles {
 public:
  using Handle = typename Library::Handle;

  static Handle of(Device device) {
    Handle& handle = detail::per_thread<CardHandles>().handles_[card_of(device)];
    if (!handle) handle = Library::create();
    return handle;
  }
  // Leaves them where they are when the process ends and the driver has gone before.
  ~CardHandles() {
    for (int card = 0; card < most_devices; ++card)
      if (handles_[card] && cudaSetDevice(card) == cudaSuccess) Library::destroy(handles_[card]);
  }

 private:
  Handle handles_[most_devices] = {};
};

}  // namespace cuda
NAX_END
