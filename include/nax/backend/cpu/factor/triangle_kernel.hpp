#pragma once

#include <algorithm>

#include "nax/backend/cpu/factor/factor_slots.hpp"

NAX_BEGIN
namespace cpu {

template <>
template <class T>
void FactorKernel<Factorisation::triangle>::run(const Factoring& f, const void* from_, void* const* results) {
  const T* const from = static_cast<const T*>(from_);
  T* const to = static_cast<T*>(results[0]);
  const T diagonal(static_cast<real_t<T>>(f.diagonal));
  const std::int64_t m = f.m, n = f.n;
  for (std::int64_t r = 0; r < f.batch * m; ++r) {
    const std::int64_t i = r % m, at = r * n, middle = std::min(i, n);
    const std::int64_t begin = f.lower ? 0 : middle, end = f.lower ? std::min(i + 1, n) : n;
    std::fill(to + at, to + at + begin, T(0));
    std::copy(from + at + begin, from + at + end, to + at + begin);
    std::fill(to + at + end, to + at + n, T(0));
    if (i < n) to[at + i] *= diagonal;
  }
}

}  // namespace cpu
NAX_END
