#pragma once

#include "nax/backend/expression_slots.hpp"
#include "nax/core/compute_on.hpp"
#include "nax/core/transfer.hpp"

// Running an expression's kernels on a GPU, without its type.
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

// An operand of a kernel on `device`; a number on the host is brought there, into `number`.
NAX_ENGINE loops::Operand device_operand(const ArrayBase& a, const Frame& frame, DType lane, Device device,
                                         ArrayBase& number);

[[noreturn, gnu::cold]] NAX_ENGINE void throw_no_kernel(const char* name, Device device);

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

NAX_ENGINE loops::Operand device_operand(const ArrayBase& a, const Frame& frame, DType lane, Device device,
                                         ArrayBase& number) {
  const ArrayBase* there = &a;
  if (!on_accelerator(a) && !on_program(device)) there = &(number = moved(a, device));
  return {device_data(*there), strides_over(layout_of(*there), frame), a.dtype(), lane};
}

NAX_ENGINE void throw_no_kernel(const char* name, Device device) {
  raise<DeviceError>({name, ": an expression on ", device,
                      " has no kernel: it needs a file that is compiled as CUDA (.cu), or, if it has no "
                      "complex numbers, nax::nvrtc"});
}

}  // namespace detail
NAX_END
#endif
