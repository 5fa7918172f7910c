#pragma once

#include "nax/core/matmul_precision.hpp"

NAX_BEGIN

NAX_ENGINE void set_matmul_precision(const std::string& precision) {
  const bool full = precision == "float32" || precision == "highest";
  if (!full && precision != "tensorfloat32" && precision != "high")
    raise<ValueError>({"set_matmul_precision: must be 'float32', 'highest', 'tensorfloat32' or 'high', not '",
                       precision, "'"});
  detail::tensor_float32.store(!full, std::memory_order_relaxed);
}

NAX_END
