#pragma once

// The blocked matrix product of one thread: for each slice of k, for each block of rows of a (packed, stays
// in the second-level cache), for each panel of b (packed just before its first use, stays in the first), run
// down the rows.

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/gemm_kernel.hpp"
#include "nax/backend/cpu/gemm_pack.hpp"
#include "nax/core/allocator.hpp"

namespace nax::cpu {
inline namespace NAX_SIMD_ABI {

// A matrix somewhere: element (i, j) is data[i * row + j * column].
template <class T>
struct Strided {
  T* data;
  std::int64_t row, column;
  Strided at(std::int64_t i, std::int64_t j) const { return {data + i * row + j * column, row, column}; }
  Strided transposed() const { return {data, column, row}; }
};

// Scratch memory for one call.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)),
        data_(static_cast<T*>(HostAllocator::allocate(bytes_))) {}
  ~Scratch() { HostAllocator::deallocate(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return data_; }

 private:
  std::size_t bytes_;
  T* data_;
};

#ifndef NAX_KC
#define NAX_KC 1280
#define NAX_MC 512
#endif
inline constexpr std::int64_t depth_bytes = NAX_KC;  // of one packed row: a panel of b is 32 times that
inline constexpr std::int64_t block_bytes = NAX_MC * 1024;  // of packed rows of a

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

template <class T>
void gemm_blocked(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
                  Strided<T> c, bool accumulate) {
  constexpr int size = simd::Packet<T>::size, width = tile_columns<T>;
  const std::int64_t slices = divide_up(k, depth_bytes / static_cast<std::int64_t>(sizeof(T)));
  const std::int64_t depth = divide_up(k, slices);
  const std::int64_t blocks = divide_up(
      m, std::max<std::int64_t>(block_bytes / static_cast<std::int64_t>(sizeof(T)) / depth, tile_rows));
  const std::int64_t block = (divide_up(m, blocks) + 1) / 2 * 2;
  // Every panel of b is kept for the next block of rows; one block needs only the place for one panel.
  const std::int64_t kept = blocks > 1 ? divide_up(n, width) : 1;
  const Scratch<T> rows((block + 1) * depth + size), columns(kept * width * depth + size);

  for (std::int64_t k0 = 0; k0 < k; k0 += depth) {
    const std::int64_t length = std::min(depth, k - k0);
    const bool add = accumulate || k0 > 0;
    for (std::int64_t m0 = 0; m0 < m; m0 += block) {
      const std::int64_t m1 = std::min(m0 + block, m);
      T* to = rows.data();
      for (std::int64_t i = m0; i < m1;) {
        const int height = next_height(m1 - i, tile_rows);
        const int lines = static_cast<int>(std::min<std::int64_t>(height, m1 - i));
        pack_rows<T>(height, a.at(i, k0).data, a.row, a.column, lines, length, to);
        to += height * length;
        i += lines;
      }
      for (std::int64_t j = 0; j < n; j += width) {
        const int lines = static_cast<int>(std::min<std::int64_t>(width, n - j));
        const int packets = lines <= size ? 1 : tile_packets;
        T* const panel = columns.data() + (kept > 1 ? j * depth : 0);
        if (m0 == 0) pack_columns<T>(packets, b.at(k0, j).data, b.column, b.row, lines, length, panel);
        const T* from = rows.data();
        for (std::int64_t i = m0; i < m1;) {
          const int height = next_height(m1 - i, tile_rows);
          const int there = static_cast<int>(std::min<std::int64_t>(height, m1 - i));
          const TileTarget<T> target{c.at(i, j).data, c.row, c.column, there, lines, add};
          find_kernel<T, true>(height, packets)(length, from, 1, height, panel, 0, target);
          from += height * length;
          i += there;
        }
      }
    }
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace nax::cpu
