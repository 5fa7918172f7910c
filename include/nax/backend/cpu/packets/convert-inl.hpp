#pragma once

#include "nax/backend/cpu/packets/convert.hpp"

NAX_BEGIN
namespace cpu::detail {

NAX_ENGINE ConvertFn copier(std::size_t size) {
  switch (size) {
    case 1:
      return copy_run<Unit8>;
    case 2:
      return copy_run<Unit16>;
    case 4:
      return copy_run<Unit32>;
    case 8:
      return copy_run<Unit64>;
    default:
      return copy_run<Unit128>;
  }
}

}  // namespace cpu::detail
NAX_END
NAX_BEGIN
namespace cpu {

NAX_ENGINE ConvertFn converter(DType from, DType to) {
  if (from == to) return detail::copier(dtype_size(from));
  if (from == DType::boolean)
    return to == DType::float32   ? convert_run<bool, float>
           : to == DType::float64 ? convert_run<bool, double>
           : to == DType::int32   ? convert_run<bool, std::int32_t>
           : to == DType::int64   ? convert_run<bool, std::int64_t>
                                  : nullptr;
  if (from == DType::float16 && to == DType::float32) return convert_run<half, float>;
  if (from == DType::bfloat16 && to == DType::float32) return convert_run<bfloat16, float>;
  if (from == DType::float32 && to == DType::float16) return convert_run<float, half>;
  if (from == DType::float32 && to == DType::bfloat16) return convert_run<float, bfloat16>;
  if (from == DType::float32 && to == DType::boolean) return convert_run<float, bool>;
  if (from == DType::float64 && to == DType::boolean) return convert_run<double, bool>;
  if (from == DType::int32 && to == DType::boolean) return convert_run<std::int32_t, bool>;
  if (from == DType::int32 && to == DType::int64) return convert_run<std::int32_t, std::int64_t>;
  if (from == DType::int64 && to == DType::int32) return convert_run<std::int64_t, std::int32_t>;
  return nullptr;
}

}  // namespace cpu
NAX_END
