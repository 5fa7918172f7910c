#pragma once

#include "nax/core/dtype.hpp"
#include "nax/devices/nccl/runtime.hpp"
#include "nax/parallel/communicator.hpp"

// How NCCL is told of an array's elements.
NAX_BEGIN
namespace detail::nccl {

struct Wire {
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  int parts = 1;                  // numbers an element
  DType stored = DType::float32;  // what the elements are converted to for the way; their own dtype as a rule
  // NCCL's maximum of a number and a NaN is the number: what must keep NaNs is gathered, and combined on each
  // device.
  bool gathered = false;

  bool same_as(const Wire& other) const { return type == other.type && op == other.op && !gathered; }
};

inline Wire wire_of(DType dtype, const Combine& combine) {
  Wire wire;
  wire.stored = dtype;
  const ncclRedOp_t ops[] = {ncclSum, ncclProd, ncclMax, ncclMin};
  wire.op = combine.is_mean() ? ncclAvg : ops[static_cast<int>(combine.kind)];
  bool floating = false;
  switch (dtype) {
    case DType::boolean:  // bytes 0 and 1: or is their maximum, and
      wire.type = ncclUint8;
      wire.op = combine.kind == Reduction::product || combine.kind == Reduction::min ? ncclMin : ncclMax;
      break;
    case DType::int8:
      wire.type = ncclInt8;
      break;
    case DType::uint8:
      wire.type = ncclUint8;
      break;
    case DType::int16:
    case DType::int32:
      wire.type = ncclInt32;
      wire.stored = DType::int32;
      break;
    case DType::uint16:
    case DType::uint32:
      wire.type = ncclUint32;
      wire.stored = DType::uint32;
      break;
    case DType::int64:
      wire.type = ncclInt64;
      break;
    case DType::uint64:
      wire.type = ncclUint64;
      break;
    case DType::float16:
      wire.type = ncclFloat16, floating = true;
      break;
    case DType::bfloat16:
      wire.type = ncclBfloat16, floating = true;
      break;
    case DType::float32:
      wire.type = ncclFloat32, floating = true;
      break;
    case DType::float64:
      wire.type = ncclFloat64, floating = true;
      break;
    case DType::complex64:
    case DType::complex128:
      wire.type = dtype == DType::complex64 ? ncclFloat32 : ncclFloat64;
      wire.parts = 2;
      wire.gathered = combine.kind != Reduction::sum;
      break;
  }
  if (floating && (combine.kind == Reduction::max || combine.kind == Reduction::min)) wire.gathered = true;
  return wire;
}

}  // namespace detail::nccl
NAX_END
