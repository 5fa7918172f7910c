#pragma once

#include "nax/backend/cpu/lines/standardize.hpp"
#include "nax/core/thread_pool.hpp"

// Gradients of the scale and the bias of normalised rows: sums over all rows, column by column.
NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

// Cotangents and rows, and what was subtracted from each row (null: nothing) and multiplied to it.
template <class T>
struct NormalizedRows {
  const T *g, *x, *means, *inverse;
  std::int64_t rows, n;
};

// scale[i] = sum over rows of g (x - mean) inverse, bias[i] = sum of g; neither where null. A thread takes
// blocks of columns, so that results do not depend on how many there are.
template <class T>
void parameter_gradients(const NormalizedRows<T>& of, T* scale, T* bias) {
  using P = simd::Packet<T>;
  constexpr std::int64_t block = 128, chain = 64, w = P::size;  // chain: rows that add up in a T
  if (!scale && !bias) return;
  const std::int64_t grain = std::int64_t{1} << 14;
  parallel_for(
      (of.n + block - 1) / block, 1 + grain / (block * of.rows), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t first = begin * block; first < end * block && first < of.n; first += block) {
          const std::int64_t count = of.n - first < block ? of.n - first : block;
          double scales[block] = {}, biases[block] = {};
          for (std::int64_t some = 0; some < of.rows; some += chain) {
            T by_scale[block] = {}, by_bias[block] = {};
            for (std::int64_t r = some; r < of.rows && r < some + chain; ++r) {
              const T *const g = of.g + r * of.n + first, *const x = of.x + r * of.n + first;
              const P mean(of.means ? of.means[r] : T(0)), inverse(of.inverse[r]);
              for (std::int64_t i = 0; i < count; i += w) {
                const std::int64_t lanes = count - i < w ? count - i : w;
                const P of_g = detail::load_some(g + i, lanes);
                const P term = of_g * ((detail::load_some(x + i, lanes) - mean) * inverse);
                (P::load(by_scale + i) + term).store(by_scale + i);
                (P::load(by_bias + i) + of_g).store(by_bias + i);
              }
            }
            for (std::int64_t i = 0; i < count; ++i) {
              scales[i] += static_cast<double>(by_scale[i]);
              biases[i] += static_cast<double>(by_bias[i]);
            }
          }
          for (std::int64_t i = 0; i < count; ++i) {
            if (scale) scale[first + i] = static_cast<T>(scales[i]);
            if (bias) bias[first + i] = static_cast<T>(biases[i]);
          }
        }
      });
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
