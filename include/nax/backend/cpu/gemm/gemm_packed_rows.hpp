#pragma once

// Rows of a matrix product's left operand side by side, in panels as high as its tiles.

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/gemm/gemm_kernel.hpp"
#include "nax/backend/cpu/gemm/gemm_pack.hpp"
#include "nax/backend/cpu/gemm/gemm_types.hpp"

NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

inline constexpr std::int64_t depth_bytes = 2048;      // of one packed row
inline constexpr std::int64_t cache_way_bytes = 4096;  // rows this far apart compete for the same cache lines
// Columns of b for which it pays to pack any a: a transposed one, and one that packing transposes.
inline constexpr std::int64_t many_columns = 256, very_many_columns = 512;
// With fewer of them, a transposed a whose slice reaches no further than this, from its first step to its
// last, is read where it is.
inline constexpr std::int64_t near_rows_bytes = 448 * 1024;

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The depth of a slice of k at most, and the inner dimension of a product whose rows are handed out.
template <class T>
inline constexpr std::int64_t most_depth_of_rows = depth_bytes / std::int64_t{sizeof(T)};
// Slices are of equal depth.
template <class T>
constexpr std::int64_t depth_of_slices(std::int64_t k) {
  return divide_up(k, divide_up(k, most_depth_of_rows<T>));
}

// Whether the rows of a tile would push each other out of the first-level cache.
template <class T>
bool rows_collide(std::int64_t m, Strided<const T> a) {
  return a.column == 1 && m > 8 && a.row * std::int64_t{sizeof(T)} % cache_way_bytes == 0;
}

// Whether to pack a before n columns are multiplied by it. Read in place it is slow where its rows, or its
// steps when it is transposed, compete for the same cache lines, and where those steps lie on more pages than
// the processor keeps the translations of.
template <class T>
bool pays_to_pack_rows(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a) {
  constexpr std::int64_t bytes = sizeof(T);
  if (n <= tile_columns<T>) return false;
  if (multiplies_by_memory && n >= (a.column == 1 ? very_many_columns : many_columns)) return true;
  if (a.column == 1) return rows_collide(m, a);
  return a.row != 1 || a.column * bytes % (cache_way_bytes / 4) == 0 ||
         depth_of_slices<T>(k) * a.column * bytes > near_rows_bytes;
}

// Slice after slice of k, in each panel after panel, so far apart that stores which reach over the end of one
// do not meet the next: threads pack at the same time. The last panel may be higher than the rows that are
// left.
template <class T>
class PackedRows {
 public:
  // Uninitialised.
  PackedRows(std::int64_t m, std::int64_t depth, std::int64_t slices)
      : m_(m), row_(depth + simd::Packet<T>::size / 2), panels_(slices * (m + 1) * row_) {}

  // The panel that begins with row i.
  T* panel(std::int64_t slice, std::int64_t i) const {
    return panels_.data() + (slice * (m_ + 1) + i) * row_;
  }

  // Packs the panels that begin with the rows from `begin` to `end`, when there are m; `a` is the slice.
  void pack(std::int64_t slice, std::int64_t begin, std::int64_t end, std::int64_t m, std::int64_t length,
            Strided<const T> a) const {
    for (std::int64_t i = 0; i < std::min(end, m);) {
      const int height = next_height(m - i, true);
      if (i >= begin)
        pack_panel(a.at(i, 0).data, a.row, a.column, static_cast<int>(std::min<std::int64_t>(height, m - i)),
                   length, panel(slice, i), height);
      i += height;
    }
  }

 private:
  const std::int64_t m_, row_;
  const Scratch<T> panels_;
};

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
