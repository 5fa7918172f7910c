#pragma once

#include "nax/numpy/conversion/dlpack.hpp"

NAX_BEGIN
namespace detail {

namespace dlpack_codes {
enum : std::uint8_t { integer = 0, natural = 1, floating = 2, brain = 4, complex = 5, boolean = 6 };
}

NAX_ENGINE dlpack::DataType dlpack_dtype(DType dtype) {
  using namespace dlpack_codes;
  const auto bits = static_cast<std::uint8_t>(8 * dtype_size(dtype));
  switch (dtype) {
    case DType::boolean:
      return {boolean, bits, 1};
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return {integer, bits, 1};
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
      return {natural, bits, 1};
    case DType::bfloat16:
      return {brain, bits, 1};
    case DType::complex64:
    case DType::complex128:
      return {complex, bits, 1};
    default:
      return {floating, bits, 1};
  }
}

NAX_ENGINE DType dtype_of_dlpack(std::uint8_t code, std::uint8_t bits, std::uint16_t lanes) {
  for (std::size_t d = 0; d < dtype_count; ++d) {
    const dlpack::DataType known = dlpack_dtype(static_cast<DType>(d));
    if (lanes == 1 && known.code == code && known.bits == bits) return static_cast<DType>(d);
  }
  raise<TypeError>({"from_dlpack: no array has elements of DLPack's type code ", int{code}, ", ", int{bits},
                    " bits, ", int{lanes}, " lanes"});
}

NAX_ENGINE Device device_of_dlpack(std::int32_t type, std::int32_t id) {
  constexpr std::int32_t host = 1, card = 2, page_locked = 3, managed = 13;
  if (type == host || type == page_locked) return {};
  if (type != card && type != managed)
    raise<DeviceError>({"from_dlpack: no device of nax is DLPack's type ", type});
  Device device;
  device.platform = Platform::cuda;
  device.ordinal = static_cast<decltype(device.ordinal)>(id);
  return device;
}

NAX_ENGINE ArrayBase lent(const ArrayBase& a) {
  if (is_moved_from(a)) throw_moved_from("to_dlpack");
  need_plain("to_dlpack", "x", a);
  check_recordable("to_dlpack", a);
  wait_for(a);
  return constant(a);
}

NAX_ENGINE void throw_dlpack_type(DType has, DType wanted) {
  raise<TypeError>(
      {"from_dlpack: the tensor's elements are ", dtype_name(has), ", the array's ", dtype_name(wanted)});
}
NAX_ENGINE void throw_dlpack_version(std::uint32_t major) {
  raise<ValueError>({"from_dlpack: the tensor is of DLPack ", major, "; nax reads version 1"});
}

}  // namespace detail
NAX_END
