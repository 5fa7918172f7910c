#pragma once

// Packing for the matrix product: panels of a (`height` rows side by side for each k) and of b (the width of
// a tile for each k), whatever the strides of the operands; rows and columns that do not exist become zeros.

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/gemm/gemm_kernel.hpp"

NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

// to[j * width + i] = from[i * stride + j], i < lines, j < length; lines up to width are filled with zeros.
// `to` has room for another packet: stores reach over the end of a line into the next one, which is written
// later.
template <class T>
void pack_transposed(const T* from, std::int64_t stride, int lines, std::int64_t length, T* to, int width) {
  using P = simd::Packet<T>;
  constexpr int size = P::size;
  const int groups = (width + size - 1) / size;
  std::int64_t j = 0;
  for (; j + size <= length; j += size) {
    for (int group = groups; group-- > 0;) {  // backward, so that what a later group spills is overwritten
      P block[size];
      for (int i = 0; i < size; ++i) {
        const int line = group * size + i;
        block[i] = line < lines ? P::load(from + line * stride + j) : P(T(0));
      }
      simd::transpose(block);
      for (int i = 0; i < size; ++i) block[i].store(to + (j + i) * width + group * size);
    }
  }
  for (; j < length; ++j)
    for (int i = 0; i < width; ++i) to[j * width + i] = i < lines ? from[i * stride + j] : T(0);
}

// to[j * width + i] = from[j * stride + i]: lines are contiguous already. Stores spill as above.
template <class T>
void pack_lines(const T* from, std::int64_t stride, int lines, std::int64_t length, T* to, int width) {
  using P = simd::Packet<T>;
  constexpr int size = P::size;
  for (std::int64_t j = 0; j < length; ++j)
    for (int i = 0; i < width; i += size) {
      const T* const line = from + j * stride + i;
      (lines - i >= size ? P::load(line) : P::load(line, std::max(lines - i, 0))).store(to + j * width + i);
    }
}

template <class T>
void pack_strided(const T* from, std::int64_t across, std::int64_t along, int lines, std::int64_t length,
                  T* to, int width) {
  for (std::int64_t j = 0; j < length; ++j)
    for (int i = 0; i < width; ++i) to[j * width + i] = i < lines ? from[i * across + j * along] : T(0);
}

// One panel: `across` is the stride from line to line (rows of a, columns of b), `along` that of k.
template <class T>
[[gnu::noinline]] void pack_panel(const T* from, std::int64_t across, std::int64_t along, int lines,
                                  std::int64_t length, T* to, int width) {
  if (across == 1)
    pack_lines(from, along, lines, length, to, width);
  else if (along == 1)
    pack_transposed(from, across, lines, length, to, width);
  else
    pack_strided(from, across, along, lines, length, to, width);
}

// `panels` full panels of b side by side, each `panel_size` after the other. Rows of b are read in one go,
// which spares page translations and lets the prefetcher see them.
template <class T>
[[gnu::noinline]] void pack_group(int panels, const T* from, std::int64_t across, std::int64_t along,
                                  std::int64_t length, std::int64_t panel_size, T* to) {
  using P = simd::Packet<T>;
  constexpr int width = tile_columns<T>;
  if (across == 1) {
    for (std::int64_t j = 0; j < length; ++j)
      for (int p = 0; p < panels; ++p)
        for (int i = 0; i < width; i += P::size)
          P::load(from + j * along + p * width + i).store(to + p * panel_size + j * width + i);
  } else {
    for (int p = 0; p < panels; ++p)
      pack_panel(from + p * width * across, across, along, width, length, to + p * panel_size, width);
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
