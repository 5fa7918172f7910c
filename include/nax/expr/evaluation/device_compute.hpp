#pragma once

#include "nax/backend/expression_slots.hpp"
#include "nax/core/common_device.hpp"
#include "nax/core/compute_on.hpp"
#include "nax/core/transfer.hpp"

// Running an expression's kernels on a GPU, without its type.
NAX_BEGIN
namespace detail {

// An operand of a kernel on `device`; a number on the host is brought there, into `number`.
NAX_ENGINE loops::Operand device_operand(const ArrayBase& a, const Frame& frame, DType lane, Device device,
                                         ArrayBase& number);

[[noreturn, gnu::cold]] NAX_ENGINE void throw_no_kernel(const char* name, Device device);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE loops::Operand device_operand(const ArrayBase& a, const Frame& frame, DType lane, Device device,
                                         ArrayBase& number) {
  const ArrayBase* there = &a;
  if (goes_along(a, device)) there = &(number = moved(a, device));
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
