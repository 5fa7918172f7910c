#pragma once

// Matrix products of the types without a packet kernel: whole numbers (they wrap, as NumPy's do), bool (or of
// ands), complex numbers. Row by row over a contiguous b, in loops that compilers vectorise.

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/reduce/wide.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace cpu {

template <class T>
struct Accumulator {
  using type = T;
  static T multiply_add(T sum, T a, T b) { return sum + a * b; }
};
template <class T>
requires std::is_integral_v<T>
struct Accumulator<T> {
  using type = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;
  static type multiply_add(type sum, T a, T b) { return sum + static_cast<type>(a) * static_cast<type>(b); }
};
template <>
struct Accumulator<bool> {
  using type = unsigned char;
  static type multiply_add(type sum, bool a, bool b) {
    return static_cast<type>(sum | (static_cast<int>(a) & static_cast<int>(b)));
  }
};
template <class R>
struct Accumulator<std::complex<R>> {
  using type = std::complex<R>;
  // Without the detour for infinities that operator* of std::complex takes.
  static type multiply_add(type sum, type a, type b) {
    return {sum.real() + a.real() * b.real() - a.imag() * b.imag(),
            sum.imag() + a.real() * b.imag() + a.imag() * b.real()};
  }
};

template <class T>
void gemm_simple(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
                 Strided<T> c, bool accumulate) {
  using A = Accumulator<T>;
  using Sum = typename A::type;
  using Wide = wide_t<Sum>;
  const Scratch<T> copy(b.column == 1 ? 0 : k * n);
  if (b.column != 1) {
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j) copy[l * n + j] = *b.at(l, j).data;
    b = {copy.data(), n, 1};
  }
  constexpr std::int64_t strip = 256, block = 512;
  constexpr std::int64_t enough = 1 << 15;  // products that a thread should have
  const std::int64_t row_cost = std::max<std::int64_t>(n * k, 1);
  parallel_for(m, (enough + row_cost - 1) / row_cost, [&](std::int64_t begin, std::int64_t end) {
    Sum sums[strip];
    for (std::int64_t j0 = 0; j0 < n; j0 += strip) {
      const std::int64_t width = std::min(strip, n - j0);
      const auto multiply = [&](std::int64_t i, std::int64_t first, std::int64_t last) {
        std::fill_n(sums, width, Sum(0));
        for (std::int64_t l = first; l < last; ++l) {
          const T left = *a.at(i, l).data;
          const T* const right = b.at(l, j0).data;
          for (std::int64_t j = 0; j < width; ++j) sums[j] = A::multiply_add(sums[j], left, right[j]);
        }
      };
      for (std::int64_t i = begin; i < end; ++i) {
        if (std::is_same_v<Sum, Wide> || k <= block) {
          multiply(i, 0, k);
        } else {
          Wide totals[strip] = {};
          for (std::int64_t l = 0; l < k; l += block) {
            multiply(i, l, std::min(k, l + block));
            for (std::int64_t j = 0; j < width; ++j) totals[j] += static_cast<Wide>(sums[j]);
          }
          for (std::int64_t j = 0; j < width; ++j) sums[j] = static_cast<Sum>(totals[j]);
        }
        for (std::int64_t j = 0; j < width; ++j) {
          T& to = *c.at(i, j0 + j).data;
          if constexpr (std::is_same_v<T, bool>)
            to = (accumulate && to) || sums[j] != 0;
          else
            to = static_cast<T>(accumulate ? static_cast<Sum>(to) + sums[j] : sums[j]);
        }
      }
    }
  });
}

}  // namespace cpu
NAX_END
