#pragma once

#include <atomic>
#include <string>

#include "nax/core/dtype.hpp"
#include "nax/core/error.hpp"

// How exactly a GPU multiplies float32 matrices.
NAX_BEGIN
namespace detail {
inline constinit std::atomic<bool> tensor_float32{false};
// Whether matrices of this dtype are multiplied so now.
inline bool uses_tensor_float32(DType dtype) {
  return (dtype == DType::float32 || dtype == DType::complex64) &&
         tensor_float32.load(std::memory_order_relaxed);
}
}  // namespace detail

// "float32" or "highest": in full, as nax does unless told otherwise. "tensorfloat32" or "high": each factor
// is first rounded to 10 bits behind the point, which tensor cores multiply several times faster. The names
// are those of JAX's default_matmul_precision. Holds for all threads from now on; says nothing to a CPU,
// where products are always full. Throws ValueError for other names.
NAX_ENGINE void set_matmul_precision(const std::string& precision);
// "float32" or "tensorfloat32".
inline std::string matmul_precision() {
  return detail::tensor_float32.load(std::memory_order_relaxed) ? "tensorfloat32" : "float32";
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN

NAX_ENGINE void set_matmul_precision(const std::string& precision) {
  const bool full = precision == "float32" || precision == "highest";
  if (!full && precision != "tensorfloat32" && precision != "high")
    raise<ValueError>({"set_matmul_precision: must be 'float32', 'highest', 'tensorfloat32' or 'high', not '",
                       precision, "'"});
  detail::tensor_float32.store(!full, std::memory_order_relaxed);
}

NAX_END
#endif
