#pragma once

// The blocked matrix product of one thread: for each slice of k, for each block of rows of a (packed, stays
// in the second-level cache), for each panel of b (packed by its first use, stays in the first), run down the
// rows.

#include <algorithm>
#include <cstdint>

#include "nax/backend/cpu/gemm_kernel.hpp"
#include "nax/backend/cpu/gemm_pack.hpp"
#include "nax/backend/cpu/gemm_types.hpp"

namespace nax::cpu {
inline namespace NAX_SIMD_ABI {

inline constexpr std::int64_t depth_bytes = 2048;           // of one packed row
inline constexpr std::int64_t block_bytes = 768 * 1024;     // of the rows of a that a block holds
inline constexpr std::int64_t group_panels = 8;             // of b, packed together
inline constexpr std::int64_t in_place_bytes = 128 * 1024;  // an a this small is read where it is
// A b smaller than this, too: its rows do not crowd each other out of the first-level cache, where a panel of
// it is read again for each tile.
inline constexpr std::int64_t near_columns_bytes = 32 * 1024;
inline constexpr std::int64_t cache_way_bytes = 4096;  // rows this far apart compete for the same cache lines

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// How the operands are cut, and which of them are read in place. Packing pays when what is packed is used
// often, or when reading it in place would be slow.
template <class T>
struct BlockPlan {
  static constexpr std::int64_t width = tile_columns<T>, bytes = sizeof(T);
  std::int64_t depth, block, blocks;
  bool pack_rows, pack_columns;

  BlockPlan(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b) {
    depth = divide_up(k, divide_up(k, depth_bytes / bytes));
    blocks = divide_up(m, std::max<std::int64_t>(block_bytes / bytes / depth, tile_rows));
    block = (divide_up(m, blocks) + 1) / 2 * 2;
    const bool colliding = a.column == 1 && m > 8 && a.row * bytes % cache_way_bytes == 0;
    const bool near = (a.row == 1 ? depth * a.column : m * a.row) * bytes <= in_place_bytes && !colliding;
    pack_rows = n > width && (n > 8 * width || !near);
    pack_columns =
        b.column != 1 || b.row < 0 || (m > 2 * tile_rows && depth * b.row * bytes >= near_columns_bytes);
  }
};

template <class T>
void gemm_blocked(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
                  Strided<T> c, bool accumulate) {
  constexpr std::int64_t size = simd::Packet<T>::size, width = tile_columns<T>;
  const BlockPlan<T> plan(m, n, k, a, b);
  const std::int64_t panel_size = width * plan.depth;
  const std::int64_t whole = n / width,
                     rest = n % width;  // panels; the last one may be narrower and is always packed
  const bool keep = plan.blocks > 1;
  std::int64_t room = 0;  // for panels of b
  if (plan.pack_columns) room = keep ? whole : std::min(whole, group_panels);
  const Scratch<T> rows(plan.pack_rows ? (plan.block + 1) * plan.depth + size : 0);
  const Scratch<T> columns((room + (rest != 0)) * panel_size + size);
  T* const last_panel = columns.data() + room * panel_size;

  for (std::int64_t k0 = 0; k0 < k; k0 += plan.depth) {
    const std::int64_t length = std::min(plan.depth, k - k0);
    const bool add = accumulate || k0 > 0;
    for (std::int64_t m0 = 0; m0 < m; m0 += plan.block) {
      const std::int64_t m1 = std::min(m0 + plan.block, m);
      if (plan.pack_rows) {
        T* to = rows.data();
        for (std::int64_t i = m0; i < m1;) {
          const int height = next_height(m1 - i, plan.pack_rows);
          const int lines = static_cast<int>(std::min<std::int64_t>(height, m1 - i));
          pack_panel(a.at(i, k0).data, a.row, a.column, lines, length, to, height);
          to += height * length;
          i += lines;
        }
      }
      const PackingKernel<T> first_packing = find_packing_kernel<T>(next_height(m1 - m0, plan.pack_rows));
      for (std::int64_t panel = 0; panel < whole + (rest != 0); ++panel) {
        const int lines = static_cast<int>(panel < whole ? width : rest);
        const int packets = lines <= size ? 1 : tile_packets;
        const T* right;
        std::int64_t right_step = packets * size;
        PackingKernel<T> packing = nullptr;  // for the panel's first tile
        if (panel == whole) {
          if (m0 == 0)
            pack_panel(b.at(k0, panel * width).data, b.column, b.row, lines, length, last_panel,
                       packets * static_cast<int>(size));
          right = last_panel;
        } else if (plan.pack_columns) {
          const std::int64_t in_group = panel % group_panels;
          T* const group = columns.data() + (keep ? panel - in_group : 0) * panel_size;
          if (m0 == 0 && b.column == 1) packing = first_packing;
          if (m0 == 0 && in_group == 0 && !packing)
            pack_group<T>(static_cast<int>(std::min(group_panels, whole - panel)),
                          b.at(k0, panel * width).data, b.column, b.row, length, panel_size, group);
          right = group + in_group * panel_size;
        } else {
          right = b.at(k0, panel * width).data;
          right_step = b.row;
        }
        const T* packed_rows = rows.data();
        MicroKernel<T> kernel = nullptr;
        for (std::int64_t i = m0, before = 0; i < m1;) {
          const int height = next_height(m1 - i, plan.pack_rows);
          const int there = static_cast<int>(std::min<std::int64_t>(height, m1 - i));
          const TileTarget<T> target{c.at(i, panel * width).data, c.row, c.column, there, lines, add};
          if (height != before) kernel = find_kernel<T>(height, packets);
          before = height;
          const T* const left = plan.pack_rows ? packed_rows : a.at(i, k0).data;
          const std::int64_t left_row = plan.pack_rows ? 1 : a.row,
                             left_step = plan.pack_rows ? height : a.column;
          if (packing && i == m0)
            packing(length, left, left_row, left_step, b.at(k0, panel * width).data, b.row,
                    const_cast<T*>(right), target);
          else
            kernel(length, left, left_row, left_step, right, right_step, target);
          packed_rows += height * length;
          i += there;
        }
      }
    }
  }
}

}  // namespace NAX_SIMD_ABI
}  // namespace nax::cpu
