#pragma once

#include "nax/loops/lines.hpp"

// Running combinations along lines.
NAX_BEGIN
namespace cpu {

using loops::for_each_line;
using loops::Lines;

// Running combinations along the lines: r[0] = op.first(x[0]), r[i] = op.next(r[i - 1], i), position by
// position, where `op` is called with element offsets. Lines side by side go together, which keeps the adders
// busy.
template <class T, class F>
void scan_lines(const Lines& lines, bool reverse, T* out, const F& next) {
  constexpr std::int64_t width = 64;
  const std::int64_t n = lines.n, inner = lines.inner;
  if (n == 0) return;
  const std::int64_t first = reverse ? n - 1 : 0, step = reverse ? -1 : 1;
  if (inner >= 8) {
    const std::int64_t blocks = (inner + width - 1) / width;
    parallel_for(lines.outer * blocks, 1 + (std::int64_t{1} << 14) / (n * width),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t b = begin; b < end; ++b) {
                     const std::int64_t column = b % blocks * width, base = b / blocks * n * inner + column;
                     const std::int64_t columns = inner - column < width ? inner - column : width;
                     for (std::int64_t k = 0, i = first; k < n; ++k, i += step) {
                       const std::int64_t at = base + i * inner, before = at - step * inner;
                       for (std::int64_t j = 0; j < columns; ++j)
                         out[at + j] = next(k == 0 ? nullptr : out + before + j, at + j);
                     }
                   }
                 });
    return;
  }
  // Few columns: eight lines at a time.
  constexpr std::int64_t together = 8;
  const std::int64_t count = lines.count();
  parallel_for((count + together - 1) / together, 1 + (std::int64_t{1} << 14) / (n * together),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t g = begin; g < end; ++g) {
                   const std::int64_t l0 = g * together,
                                      lanes = count - l0 < together ? count - l0 : together;
                   std::int64_t base[together];
                   for (std::int64_t j = 0; j < lanes; ++j)
                     base[j] = (l0 + j) / inner * n * inner + (l0 + j) % inner;
                   for (std::int64_t k = 0, i = first; k < n; ++k, i += step)
                     for (std::int64_t j = 0; j < lanes; ++j) {
                       const std::int64_t at = base[j] + i * inner;
                       out[at] = next(k == 0 ? nullptr : out + at - step * inner, at);
                     }
                 }
               });
}

// Running sums along the lines, added up in the type Wide: r[i] = sum of read(0) ... read(i), where `read` is
// called with element offsets.
template <class Wide, class T, class F>
void sum_lines(const Lines& lines, bool reverse, T* out, const F& read) {
  constexpr std::int64_t width = 64;
  const std::int64_t n = lines.n, inner = lines.inner, count = lines.count();
  if (n == 0) return;
  const std::int64_t first = reverse ? n - 1 : 0, step = reverse ? -1 : 1;
  const Wide nothing(-0.);  // not even a sign
  if (inner >= 8) {
    const std::int64_t blocks = (inner + width - 1) / width;
    parallel_for(lines.outer * blocks, 1 + (std::int64_t{1} << 14) / (n * width),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t b = begin; b < end; ++b) {
                     const std::int64_t column = b % blocks * width, base = b / blocks * n * inner + column;
                     const std::int64_t columns = inner - column < width ? inner - column : width;
                     Wide sums[width];
                     for (Wide& sum : sums) sum = nothing;
                     for (std::int64_t k = 0, at = base + first * inner; k < n; ++k, at += step * inner)
                       for (std::int64_t j = 0; j < columns; ++j)
                         out[at + j] = static_cast<T>(sums[j] += static_cast<Wide>(read(at + j)));
                   }
                 });
    return;
  }
  constexpr std::int64_t together = 8;
  parallel_for((count + together - 1) / together, 1 + (std::int64_t{1} << 14) / (n * together),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t g = begin; g < end; ++g) {
                   const std::int64_t l0 = g * together,
                                      lanes = count - l0 < together ? count - l0 : together;
                   std::int64_t at[together];
                   Wide sums[together];
                   for (std::int64_t j = 0; j < lanes; ++j) {
                     at[j] = (l0 + j) / inner * n * inner + (l0 + j) % inner + first * inner;
                     sums[j] = nothing;
                   }
                   for (std::int64_t k = 0; k < n; ++k)
                     for (std::int64_t j = 0; j < lanes; ++j, at[j - 1] += step * inner)
                       out[at[j]] = static_cast<T>(sums[j] += static_cast<Wide>(read(at[j])));
                 }
               });
}

}  // namespace cpu
NAX_END
