#pragma once

// Matrix products of complex numbers by the kernel for real ones. With A = Ar + i Ai:
//
//   [Cr]   [Ar -Ai] [Br]
//   [Ci] = [Ai  Ar] [Bi]      one real product of (2m, 2k) and (2k, n)
//
// A is laid out some rows at a time, so that large products need little memory besides a copy of B.

#include <algorithm>
#include <complex>
#include <cstdint>

#include "nax/backend/cpu/gemm/gemm_shared.hpp"
#include "nax/backend/cpu/gemm/gemm_types.hpp"

NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {

template <class T>
void gemm_dense(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
                Strided<T> c, bool accumulate, const UpcomingOperands<T>& upcoming);

// Smaller products are faster by simple loops.
inline bool pays_to_split_complex(std::int64_t m, std::int64_t n, std::int64_t k) {
  return m >= 4 && n >= 2 && k >= 4 && m * n * k >= 512;
}

// C = A B, or C += A B.
template <class R>
void gemm_complex(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const std::complex<R>> a,
                  Strided<const std::complex<R>> b, Strided<std::complex<R>> c, bool accumulate) {
  const Scratch<R> right(2 * k * n);
  for (std::int64_t l = 0; l < k; ++l) {
    R *const re = right.data() + l * n, *const im = re + k * n;
    for (std::int64_t j = 0; j < n; ++j) {
      const std::complex<R> x = *b.at(l, j).data;
      re[j] = x.real(), im[j] = x.imag();
    }
  }
  const std::int64_t most = std::min(m, std::max<std::int64_t>(64, (std::int64_t{1} << 20) / (k + n)));
  const Scratch<R> left(4 * most * k), product(2 * most * n);
  for (std::int64_t i0 = 0; i0 < m; i0 += most) {
    const std::int64_t rows = std::min(most, m - i0);
    for (std::int64_t i = 0; i < rows; ++i) {
      R *const upper = left.data() + i * 2 * k, *const lower = upper + rows * 2 * k;
      for (std::int64_t l = 0; l < k; ++l) {
        const std::complex<R> x = *a.at(i0 + i, l).data;
        upper[l] = x.real(), upper[k + l] = -x.imag();
        lower[l] = x.imag(), lower[k + l] = x.real();
      }
    }
    gemm_dense<R>(2 * rows, n, 2 * k, {left.data(), 2 * k, 1}, {right.data(), n, 1}, {product.data(), n, 1},
                  false, {});
    for (std::int64_t i = 0; i < rows; ++i) {
      const R *const re = product.data() + i * n, *const im = re + rows * n;
      for (std::int64_t j = 0; j < n; ++j) {
        std::complex<R>& to = *c.at(i0 + i, j).data;
        to = accumulate ? to + std::complex<R>(re[j], im[j]) : std::complex<R>(re[j], im[j]);
      }
    }
  }
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
