#pragma once

#include "nax/backend/cpu/gemm.hpp"

NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {

NAX_ENGINE void describe_product(nax::detail::profile::Event& event, std::int64_t m, std::int64_t n,
                                 std::int64_t k, std::size_t item) {
  const double mn = static_cast<double>(m) * static_cast<double>(n), dk = static_cast<double>(k);
  const double elements = mn + static_cast<double>(m + n) * dk;
  nax::detail::profile::describe(
      event, Shape{m, n}, static_cast<std::uint64_t>(elements * static_cast<double>(item)), 2 * mn * dk);
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
