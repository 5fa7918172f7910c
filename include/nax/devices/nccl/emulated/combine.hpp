#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "nax/core/half.hpp"
#include "nax/devices/nccl/emulated/nccl.hpp"

// NCCL's reductions on the host: in the order of the ranks. Two-byte floating types are rounded after each
// step, and the maximum of a number and a NaN is the number, as in NCCL's kernels.
NAX_BEGIN
namespace cuda::emulated_nccl {

inline std::size_t size_of(ncclDataType_t type) {
  constexpr std::size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[type];
}

template <class T>
T combined(ncclRedOp_t op, T a, T b) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return T(combined(op, static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (op == ncclProd) return a * b;
    if (op == ncclMax) return std::fmax(a, b);
    if (op == ncclMin) return std::fmin(a, b);
    return a + b;
  } else {
    using U = std::make_unsigned_t<T>;  // wraps
    if (op == ncclProd) return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    if (op == ncclMax) return std::max(a, b);
    if (op == ncclMin) return std::min(a, b);
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
}

template <class T>
void combine_all(ncclRedOp_t op, const std::vector<const char*>& from, std::size_t offset, std::size_t count,
                 char* to) {
  for (std::size_t i = 0; i < count; ++i) {
    T result = reinterpret_cast<const T*>(from[0])[offset + i];
    for (std::size_t r = 1; r < from.size(); ++r)
      result = combined(op, result, reinterpret_cast<const T*>(from[r])[offset + i]);
    if (op == ncclAvg) {
      if constexpr (std::is_integral_v<T>)
        result = static_cast<T>(result / static_cast<T>(from.size()));
      else if constexpr (sizeof(T) == 2)
        result = T(static_cast<float>(result) * (1.f / static_cast<float>(from.size())));
      else
        result *= T(1) / static_cast<T>(from.size());
    }
    reinterpret_cast<T*>(to)[i] = result;
  }
}

// to = the reduction of elements offset ... offset + count of all; `to` may be one of them.
inline void combine_all(ncclDataType_t type, ncclRedOp_t op, const std::vector<const char*>& from,
                        std::size_t offset, std::size_t count, char* to) {
  switch (type) {
    case ncclInt8:
      return combine_all<std::int8_t>(op, from, offset, count, to);
    case ncclUint8:
      return combine_all<std::uint8_t>(op, from, offset, count, to);
    case ncclInt32:
      return combine_all<std::int32_t>(op, from, offset, count, to);
    case ncclUint32:
      return combine_all<std::uint32_t>(op, from, offset, count, to);
    case ncclInt64:
      return combine_all<std::int64_t>(op, from, offset, count, to);
    case ncclUint64:
      return combine_all<std::uint64_t>(op, from, offset, count, to);
    case ncclFloat16:
      return combine_all<half>(op, from, offset, count, to);
    case ncclBfloat16:
      return combine_all<bfloat16>(op, from, offset, count, to);
    case ncclFloat64:
      return combine_all<double>(op, from, offset, count, to);
    case ncclFloat32:
      return combine_all<float>(op, from, offset, count, to);
  }
}

}  // namespace cuda::emulated_nccl
NAX_END
