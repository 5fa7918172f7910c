#pragma once

#include "nax/backend/operations.hpp"

NAX_BEGIN
namespace backend {

NAX_ENGINE void Operations::contract(Device device, DType dtype, const Product& p, const BatchAxis* axes,
                                     int count, char* a, char* b, char* c, bool accumulate) {
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  const BatchAxis x = count == 0 ? BatchAxis{1, 0, 0, 0, false} : axes[0];
  if (count == 0 || (count == 1 && !x.summed))
    return matmul(device, dtype, x.extent, p.m, p.n, p.k, {a, x.a, p.a_row, p.a_column},
                  {b, x.b, p.b_row, p.b_column}, {c, x.c, p.c_row, p.c_column}, accumulate);
  for (std::int64_t i = 0; i < x.extent; ++i)
    contract(device, dtype, p, axes + 1, count - 1, a + i * x.a * bytes, b + i * x.b * bytes,
             c + i * x.c * bytes, accumulate || (x.summed && i > 0));
}

}  // namespace backend
NAX_END
