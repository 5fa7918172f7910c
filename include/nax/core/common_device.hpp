#pragma once

#include "nax/core/array_base.hpp"

// The device on which an operation on several arrays is computed.
NAX_BEGIN
namespace detail {

[[noreturn, gnu::cold]] NAX_ENGINE void throw_devices(const char* name, Device a, Device b);

// Where an operation on these arrays is computed: where they are. Arrays of no axes on the host go along to a
// GPU, as C++ numbers do, and all that the host has goes along to a program. Throws DeviceError for arrays on
// different devices.
NAX_COMPILED_ONCE Device common_device(const char* name, const ArrayBase* const* arrays, int count) {
  const ArrayBase* first = nullptr;
  for (int i = 0; i < count; ++i)
    if (on_accelerator(*arrays[i])) {
      if (first && first->device() != arrays[i]->device())
        throw_devices(name, first->device(), arrays[i]->device());
      first = arrays[i];
    }
  if (!first) return count > 0 ? host_device() : current_device;
  for (int i = 0; i < count && !on_program(first->device()); ++i)
    if (!on_accelerator(*arrays[i]) && !layout_of(*arrays[i]).shape.empty())
      throw_devices(name, first->device(), arrays[i]->device());
  return first->device();
}
// Finds the common device; costs nothing where no accelerator is known.
inline Device device_for(const char* name, const ArrayBase* const* arrays, int count) {
  return accelerators_present ? common_device(name, arrays, count) : current_device;
}
template <class... A>
Device device_for(const char* name, const A&... array) {
  const ArrayBase* const arrays[] = {&array...};
  return device_for(name, arrays, static_cast<int>(sizeof...(A)));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE void throw_devices(const char* name, Device a, Device b) {
  for (const Device device : {a, b}) {
    check_recording_lasts(device);
    if (on_program(device)) check_recordable(name);
  }
  raise<DeviceError>(
      {name, ": the operands are on different devices, ", a, " and ", b,
       "; device_put brings them together, and pmap takes what its devices share as an argument "
       "with in_axes none"});
}

}  // namespace detail
NAX_END
#endif
