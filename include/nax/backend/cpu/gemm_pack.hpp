#pragma once

// Packing for the matrix product: panels of a (`height` rows side by side for each k) and of b (the width of
// a tile for each k), whatever the strides of the operands; rows and columns that do not exist become zeros.

#include <cstdint>
#include <cstring>

#include "nax/backend/cpu/gemm_kernel.hpp"

namespace nax::cpu {
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
      simd::ei::PacketBlock<simd::raw_packet<T>, size> block;
      for (int i = 0; i < size; ++i) {
        const int line = group * size + i;
        block.packet[i] = line < lines ? P::load(from + line * stride + j).raw : P(T(0)).raw;
      }
      simd::ei::ptranspose(block);
      for (int i = 0; i < size; ++i) P(block.packet[i]).store(to + (j + i) * width + group * size);
    }
  }
  for (; j < length; ++j)
    for (int i = 0; i < width; ++i) to[j * width + i] = i < lines ? from[i * stride + j] : T(0);
}

// to[j * width + i] = from[j * stride + i]: lines are contiguous already.
template <int width, class T>
void pack_lines(const T* from, std::int64_t stride, int lines, std::int64_t length, T* to) {
  if (lines == width) {
    for (std::int64_t j = 0; j < length; ++j)
      std::memcpy(to + j * width, from + j * stride, width * sizeof(T));
  } else {
    for (std::int64_t j = 0; j < length; ++j)
      for (int i = 0; i < width; ++i) to[j * width + i] = i < lines ? from[j * stride + i] : T(0);
  }
}

template <class T>
void pack_strided(const T* from, std::int64_t across, std::int64_t along, int lines, std::int64_t length,
                  T* to, int width) {
  for (std::int64_t j = 0; j < length; ++j)
    for (int i = 0; i < width; ++i) to[j * width + i] = i < lines ? from[i * across + j * along] : T(0);
}

// One panel: `across` is the stride from line to line (rows of a, columns of b), `along` that of k.
template <int width, class T>
void pack_panel(const T* from, std::int64_t across, std::int64_t along, int lines, std::int64_t length,
                T* to) {
  if (across == 1)
    pack_lines<width>(from, along, lines, length, to);
  else if (along == 1)
    pack_transposed(from, across, lines, length, to, width);
  else
    pack_strided(from, across, along, lines, length, to, width);
}

template <class T, int rows = tile_rows>
void pack_rows(int height, const T* from, std::int64_t across, std::int64_t along, int lines,
               std::int64_t length, T* to) {
  if (height == rows)
    pack_panel<rows>(from, across, along, lines, length, to);
  else if constexpr (rows > 1)
    pack_rows<T, (rows > 2 ? rows - 2 : 1)>(height, from, across, along, lines, length, to);
}

template <class T>
void pack_columns(int packets, const T* from, std::int64_t across, std::int64_t along, int lines,
                  std::int64_t length, T* to) {
  constexpr int size = simd::Packet<T>::size;
  if (packets == 1)
    pack_panel<size>(from, across, along, lines, length, to);
  else
    pack_panel<tile_columns<T>>(from, across, along, lines, length, to);
}

}  // namespace NAX_SIMD_ABI
}  // namespace nax::cpu
