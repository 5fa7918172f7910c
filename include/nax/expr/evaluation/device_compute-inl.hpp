#pragma once

#include "nax/expr/evaluation/device_compute.hpp"

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
