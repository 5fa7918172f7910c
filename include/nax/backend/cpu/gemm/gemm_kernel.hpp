#pragma once

// The register kernel of the matrix product: a tile of up to `tile_rows` rows times two packets of columns
// lives in registers while the kernel walks along k. One template serves packed panels (a: rows elements a
// step, b: its panel's width a step) and operands read in place (any strides of a, unit column stride of b).
//
// A core decodes six instructions a cycle, but only three where another program has its other half: a step of
// 28 multiply-adds then has to do with 42. AVX-512 multiplies by an element that lies in memory, which saves
// the instruction that would spread it over a register, if its address is one register and a constant: where
// the rows of a lie side by side.

#include <cstdint>

#include "nax/backend/cpu/packets/packet_arithmetic.hpp"
#include "nax/core/compiler.hpp"

NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

// 28 accumulators, two packets of b and one of a fit 32 registers; 12, two and one fit 16.
inline constexpr int tile_rows = NAX_REGISTERS >= 32 ? 14 : NAX_REGISTERS >= 16 ? 6 : 2;
inline constexpr int tile_packets = 2;
#ifdef NAX_AVX512
inline constexpr bool multiplies_by_memory = true;
#else
inline constexpr bool multiplies_by_memory = false;
#endif
// Rows whose elements are spread over a register all the same: a cycle has time for two multiply-adds and two
// loads, and some loads take longer.
inline constexpr int spread_rows = 4;
inline constexpr int steps_ahead = 16;  // prefetch distance of a kernel that packs
template <class T>
inline constexpr int tile_columns = tile_packets* simd::Packet<T>::size;

// Where a tile of the result goes. Columns are contiguous unless `column_stride` says otherwise.
template <class T>
struct TileTarget {
  T* data;
  std::int64_t row_stride, column_stride;
  int rows, columns;  // those that exist; the kernel's tile may reach further
  bool accumulate;
};

// Memory that a kernel fetches for others on its way, a cache line a step, or the two ends of a run; no more
// steps than its own.
template <class T>
struct Upcoming {
  static constexpr std::int64_t line = 64 / sizeof(T);
  const T* at = nullptr;
  std::int64_t lines = 0, stride = line, end = 0;
};

// The part of a tile that exists, or one with strided columns, by way of a buffer.
template <class T>
[[gnu::noinline]] void store_partly(const T* tile, int width, const TileTarget<T>& c) {
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.columns; ++j) {
      T& to = c.data[i * c.row_stride + j * c.column_stride];
      to = c.accumulate ? to + tile[i * width + j] : tile[i * width + j];
    }
}

// The compiler must not take what it read before for what is read now, and so reads it where it is used.
[[gnu::always_inline]] inline void read_again() {
#if defined(NAX_MSVC)
  _ReadWriteBarrier();
#else
  asm volatile("" ::: "memory");
#endif
}

// How the operands lie: anywhere; with the rows of a side by side; both in panels, from step to step as far
// apart as the tile is high and wide.
enum class Lie { anywhere, adjacent, packed };

// Adds up k steps. `a_row` is the stride between rows of a; `a_step` and `b_step` lead from one k to the
// next. With `packs`, what is read of b is written to `packed` on the way: the multiply-adds hide the wait
// for memory.
template <int rows, int packets, Lie lie, bool packs, class T>
[[gnu::always_inline]] inline void multiply_steps(simd::Packet<T> (&sums)[rows][packets], std::int64_t k,
                                                  const T* a, std::int64_t a_row, std::int64_t a_step,
                                                  const T* b, std::int64_t b_step, T* packed,
                                                  Upcoming<T> upcoming) {
  using P = simd::Packet<T>;
  constexpr int width = packets * P::size;
  if constexpr (lie == Lie::packed) a_step = rows, b_step = width;
  // Rows in groups of five: few address registers reach them all (base + 0, 1, 2, 3 or 4 strides).
  const T* groups[(rows + 4) / 5];
  for (int g = 0; g < (rows + 4) / 5; ++g) groups[g] = a + 5 * g * a_row;
  const auto multiply_step = [&]() NAX_INLINE_LAMBDA {
    P right[packets];
    NAX_UNROLL
    for (int j = 0; j < packets; ++j) right[j] = P::load(b + j * P::size);
    if constexpr (packs) {
      NAX_UNROLL
      for (int j = 0; j < packets; ++j) {
        right[j].store(packed + j * P::size);
        NAX_PREFETCH(b + steps_ahead * b_step + j * P::size);
      }
      packed += width;
    }
    NAX_UNROLL
    for (int i = 0; i < rows; ++i) {
      const bool by_memory = lie != Lie::anywhere && i < rows - spread_rows;
      const T* const at = lie == Lie::anywhere ? groups[i / 5] + i % 5 * a_row : a + i;
      const P left(*at);
      NAX_UNROLL
      for (int j = 0; j < packets; ++j) {
        sums[i][j] = fma(by_memory ? P(*at) : left, right[j], sums[i][j]);
        if (by_memory) read_again();
      }
    }
    NAX_UNROLL
    for (int g = 0; g < (rows + 4) / 5; ++g) groups[g] += a_step;
    a += a_step;
    b += b_step;
  };
  constexpr int together = lie == Lie::packed ? 2 : 1;  // steps that share the counting
  std::int64_t step = 0;
  for (; step < k && (step < upcoming.lines || (k - step) % together != 0); ++step) {
    if (step < upcoming.lines) {
      NAX_PREFETCH(upcoming.at + step * upcoming.stride, 0, 2);
      NAX_PREFETCH(upcoming.at + step * upcoming.stride + upcoming.end, 0, 2);
    }
    multiply_step();
  }
  for (; step < k; step += together) {
    NAX_UNROLL
    for (int i = 0; i < together; ++i) multiply_step();
  }
}

template <int rows, int packets, bool packs, class T>
[[gnu::always_inline]] inline void multiply_tile(std::int64_t k, const T* a, std::int64_t a_row,
                                                 std::int64_t a_step, const T* b, std::int64_t b_step,
                                                 T* packed, const TileTarget<T>& c,
                                                 const Upcoming<T>& upcoming = {}) {
  using P = simd::Packet<T>;
  constexpr int width = packets * P::size;
  P sums[rows][packets];
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    NAX_UNROLL
    for (int j = 0; j < packets; ++j) sums[i][j] = P(T(0));
  }
  const auto target = [&](int i, int j) { return c.data + i * c.row_stride + j * P::size; };
  const bool direct = c.rows == rows && c.columns == width && c.column_stride == 1;
  if (direct) {  // fetched early: the tile is written last
    NAX_UNROLL
    for (int i = 0; i < rows; ++i) {
      NAX_UNROLL
      for (int j = 0; j < packets; ++j) NAX_PREFETCH(target(i, j), 1);
    }
  }
  // Low and narrow tiles are too few for loops of their own.
  constexpr bool by_memory = multiplies_by_memory && packets > 1 && rows > 2 * spread_rows;
  constexpr Lie adjacent = by_memory ? Lie::adjacent : Lie::anywhere,
                all_packed = by_memory && !packs ? Lie::packed : adjacent;
  if (!packs && by_memory && a_row == 1 && a_step == rows && b_step == width)
    multiply_steps<rows, packets, all_packed, packs>(sums, k, a, a_row, a_step, b, b_step, packed, upcoming);
  else if (by_memory && a_row == 1)
    multiply_steps<rows, packets, adjacent, packs>(sums, k, a, a_row, a_step, b, b_step, packed, upcoming);
  else
    multiply_steps<rows, packets, Lie::anywhere, packs>(sums, k, a, a_row, a_step, b, b_step, packed,
                                                        upcoming);
  if (direct) {
    if (c.accumulate) {
      NAX_UNROLL
      for (int i = 0; i < rows; ++i) {
        NAX_UNROLL
        for (int j = 0; j < packets; ++j) sums[i][j] = P::load(target(i, j)) + sums[i][j];
      }
    }
    NAX_UNROLL
    for (int i = 0; i < rows; ++i) {
      NAX_UNROLL
      for (int j = 0; j < packets; ++j) sums[i][j].store(target(i, j));
    }
  } else {
    alignas(64) T tile[rows * width];
    NAX_UNROLL
    for (int i = 0; i < rows; ++i) {
      NAX_UNROLL
      for (int j = 0; j < packets; ++j) sums[i][j].store(tile + i * width + j * P::size);
    }
    store_partly(tile, width, c);
  }
}

template <int rows, int packets, class T>
[[gnu::noinline]] void micro_kernel(std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_step,
                                    const T* b, std::int64_t b_step, const TileTarget<T>& c,
                                    const Upcoming<T>& upcoming) {
  multiply_tile<rows, packets, false, T>(k, a, a_row, a_step, b, b_step, nullptr, c, upcoming);
}
// Its twin for the first tile of a panel of b.
template <int rows, class T>
[[gnu::noinline]] void packing_kernel(std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_step,
                                      const T* b, std::int64_t b_step, T* packed, const TileTarget<T>& c) {
  multiply_tile<rows, tile_packets, true, T>(k, a, a_row, a_step, b, b_step, packed, c);
}

template <class T>
using MicroKernel = void (*)(std::int64_t, const T*, std::int64_t, std::int64_t, const T*, std::int64_t,
                             const TileTarget<T>&, const Upcoming<T>&);

// Kernels exist for one row and for even heights: few enough to compile, and heights that differ by two fill
// any number of rows without a thin last panel.
constexpr int kernel_height(int rows) { return rows <= 1 ? 1 : (rows + 1) / 2 * 2; }

// The height of the next panel, when `left` rows are split over as few panels as possible, all of nearly the
// same height. Packed panels may be higher than the rows that are left (those are zeros), others not.
NAX_ENGINE int next_height(std::int64_t left, bool packed);

template <class T, int rows = tile_rows>
MicroKernel<T> find_kernel(int height, int packets) {
  if (height == rows) return packets == 1 ? micro_kernel<rows, 1, T> : micro_kernel<rows, tile_packets, T>;
  if constexpr (rows > 1)
    return find_kernel<T, (rows > 2 ? rows - 2 : 1)>(height, packets);
  else
    return nullptr;
}

template <class T>
using PackingKernel = void (*)(std::int64_t, const T*, std::int64_t, std::int64_t, const T*, std::int64_t, T*,
                               const TileTarget<T>&);

// Only for heights that leave time to pack; null for others.
template <class T>
PackingKernel<T> find_packing_kernel(int height) {
  if (height == tile_rows) return packing_kernel<tile_rows, T>;
  if constexpr (tile_rows > 2)
    if (height == tile_rows - 2) return packing_kernel<tile_rows - 2, T>;
  return nullptr;
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {

NAX_ENGINE int next_height(std::int64_t left, bool packed) {
  const std::int64_t panels = (left + tile_rows - 1) / tile_rows;
  const int height = kernel_height(static_cast<int>((left + panels - 1) / panels));
  return height > left && !packed ? height - 2 : height;
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
#endif
