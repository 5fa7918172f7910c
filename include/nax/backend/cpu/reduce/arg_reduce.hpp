#pragma once

#include <bit>

#include "nax/backend/cpu/lines/lines.hpp"
#include "nax/backend/cpu/reduce/reducers.hpp"

// Where the extrema of lines are. The first of equal elements; the first NaN where there is one.
NAX_BEGIN
namespace cpu {

// Is `a` to be preferred to `b`, which came before it?
template <bool largest, class T>
constexpr bool beats(T a, T b) {
  return (largest ? a > b : a < b) || (a != a && b == b);
}

// The first place where f holds; there is one at or after `at`.
template <class T, class F>
std::int64_t first_place(const T* x, std::int64_t at, std::int64_t n, const F& f) {
  if constexpr (simd::has_packet<T>) {
    using P = simd::Packet<T>;
    constexpr std::int64_t w = P::size;
    const auto test = [&](std::int64_t i) { return f(P::load(x + i)); };
    for (; at + 4 * w <= n; at += 4 * w)
      if (simd::any((test(at) | test(at + w)) | (test(at + 2 * w) | test(at + 3 * w)))) break;
    for (; at + w <= n; at += w)
      if (const unsigned found = simd::bits(test(at))) return at + std::countr_zero(found);
    while (simd::bits(f(P(x[at]))) == 0) ++at;
  } else {
    while (!f(x[at])) ++at;
  }
  return at;
}

// The first place of the extremum in a contiguous run: blocks are reduced on packets, and only the block that
// holds it is searched.
template <bool largest, class T>
std::int64_t argument_of_run(const T* x, std::int64_t n) {
  using Op = std::conditional_t<largest, reduce_op::Max<T>, reduce_op::Min<T>>;
  constexpr std::int64_t block = 1024;
  T best = x[0];
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < n; i += block) {
    const T v = detail::fold_run<Op, T>(x + i, n - i < block ? n - i : block);
    if (beats<largest>(v, best)) best = v, at = i;
  }
  if (best != best) return first_place(x, at, n, [](auto v) { return v != v; });
  return first_place(x, at, n, [=](auto v) { return v == decltype(v)(best); });
}

template <bool largest, class T>
void argument_of_lines(const Lines& lines, const T* x, std::int32_t* out) {
  if (lines.inner == 1) {
    parallel_for(lines.outer, 1 + (std::int64_t{1} << 15) / lines.n,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t l = begin; l < end; ++l)
                     out[l] = static_cast<std::int32_t>(argument_of_run<largest>(x + l * lines.n, lines.n));
                 });
    return;
  }
  // Strips of columns, whose best values and places stay in registers or the first cache.
  constexpr std::int64_t width = 256;
  const std::int64_t strips = (lines.inner + width - 1) / width;
  parallel_for(lines.outer * strips, 1 + (std::int64_t{1} << 15) / (lines.n * width),
               [&](std::int64_t begin, std::int64_t end) {
                 T best[width];
                 std::int32_t at[width];
                 for (std::int64_t s = begin; s < end; ++s) {
                   const std::int64_t column = s % strips * width, block = s / strips;
                   const std::int64_t n = lines.inner - column < width ? lines.inner - column : width;
                   const T* from = x + block * lines.n * lines.inner + column;
                   for (std::int64_t j = 0; j < n; ++j) best[j] = from[j], at[j] = 0;
                   for (std::int64_t i = 1; i < lines.n; ++i) {
                     const T* row = from + i * lines.inner;
                     for (std::int64_t j = 0; j < n; ++j) {
                       const bool better = beats<largest>(row[j], best[j]);
                       best[j] = better ? row[j] : best[j];
                       at[j] = better ? static_cast<std::int32_t>(i) : at[j];
                     }
                   }
                   for (std::int64_t j = 0; j < n; ++j) out[block * lines.inner + column + j] = at[j];
                 }
               });
}

}  // namespace cpu
NAX_END
