#pragma once

#include "nax/backend/cpu/factor/factor.hpp"
#include "nax/backend/cpu/factor/factor_slots.hpp"
#include "nax/backend/cpu/factor/factor_tiny.hpp"

NAX_BEGIN
namespace cpu {

template <>
template <class T>
void FactorKernel<Factorisation::cholesky>::run(const Factoring& f, const void* from_, void* const* results) {
  const T* const from = static_cast<const T*>(from_);
  T* const to = static_cast<T*>(results[0]);
  const std::int64_t n = f.n, size = n * n;
  for_each_factored(f, [=](std::int64_t begin, std::int64_t end) {
    std::copy(from + begin * size, from + end * size, to + begin * size);
    if constexpr (simd::has_packet<T>)
      if (has_tiny_factors<T>(n)) return cholesky_tiny(to + begin * size, n, end - begin);
    for (std::int64_t i = begin; i < end; ++i) cholesky_factor(to + i * size, n);
  });
}

}  // namespace cpu
NAX_END
