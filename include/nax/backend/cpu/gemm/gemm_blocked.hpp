#pragma once

// The blocked matrix product of one thread.
//
// For each slice of k, for each block of rows of a, for each group of panels of b (packed by its first use,
// stays in the second-level cache): tile after tile along the rows of C. Meanwhile a panel of a stays in the
// first-level cache and the panels of b stream past it. Down the columns instead, tiles of C whose rows lie a
// power of two apart would push each other, and what is multiplied, out of the first-level cache.
//
// Rows may be handed out instead of written to C: those of a row of tiles, from the memory that the next one
// takes over.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "nax/backend/cpu/gemm/gemm_kernel.hpp"
#include "nax/backend/cpu/gemm/gemm_pack.hpp"
#include "nax/backend/cpu/gemm/gemm_packed_rows.hpp"
#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/core/function_ref.hpp"

NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

inline constexpr std::int64_t block_bytes = 2048 * 1024;  // of the rows of a that are packed together
inline constexpr std::int64_t group_bytes = 512 * 1024;   // of the panels of b that stay near
// A b whose slice is smaller than this is read where it is: its rows do not crowd each other out of the
// first-level cache.
inline constexpr std::int64_t near_columns_bytes = 32 * 1024;
// Another is packed for more than so many tiles one below the other, or for more than two: where all of its
// slice stays in the second-level cache, its rows compete for the same cache lines, or each packet takes part
// of two of them. Measured: what is read where it is takes .75 to .95 of the time, in those cases up to 1.3.
inline constexpr std::int64_t most_tiles_below = 8;

// Prefetches the operands and the result of the next product of a batch, in equal shares.
template <class T>
class UpcomingOperands {
 public:
  UpcomingOperands() = default;
  UpcomingOperands(Upcoming<T> first, Upcoming<T> second, Upcoming<T> third)
      : operands_{first, second, third} {}

  void share_out(std::int64_t tiles) {
    std::int64_t lines = 0;
    for (const Upcoming<T>& operand : operands_) lines += operand.lines;
    share_ = tiles > 0 ? divide_up(lines, tiles) : 0;
  }
  Upcoming<T> next_share(std::int64_t most) {
    int first = 0;
    while (first + 1 < count && operands_[first].lines == 0) ++first;
    Upcoming<T>& from = operands_[first];
    const Upcoming<T> share{from.at, std::min({share_, from.lines, most})};
    from.at += share.lines * Upcoming<T>::line;
    from.lines -= share.lines;
    return share;
  }

 private:
  static constexpr int count = 3;
  Upcoming<T> operands_[count];
  std::int64_t share_ = 0;
};

// Takes `count` elements of row i of a product, from column j on.
template <class T>
using TakeRow = FunctionRef<void(std::int64_t i, std::int64_t j, std::int64_t count, const T* elements)>;

template <class T>
class BlockedProduct {
 public:
  // With `take` there is no c. `packed_rows`: a, packed already, or null.
  BlockedProduct(std::int64_t m, std::int64_t n, std::int64_t k, Strided<const T> a, Strided<const T> b,
                 Strided<T> c, bool accumulate, const UpcomingOperands<T>& upcoming,
                 const TakeRow<T>* take = nullptr, const PackedRows<T>* packed_rows = nullptr)
      : m_(m),
        n_(n),
        k_(k),
        a_(a),
        b_(b),
        c_(c),
        accumulate_(accumulate),
        depth_(depth_of_slices<T>(k)),
        block_(packed_rows ? m : block_of(m, depth_)),
        panels_(divide_up(n, width)),
        whole_(n / width),
        group_(std::clamp<std::int64_t>(group_bytes / (width * depth_ * bytes), 1, panels_)),
        rows_(packed_rows),
        far_(depth_ * std::abs(b.row) * bytes >= near_columns_bytes),
        packs_columns_(pays_to_pack_columns()),
        columns_(room() * width * depth_ + size),
        take_(take),
        taken_(take ? tile_rows * taken_row() : 0),
        upcoming_(upcoming) {
    if (!rows_ && pays_to_pack_rows<T>(m, n, k, a)) rows_ = &own_rows_.emplace(block_, depth_, 1);
    upcoming_.share_out((divide_up(m, tile_rows) - (packs_columns_ || far_)) * whole_);
  }

  void run() {
    for (k0_ = 0; k0_ < k_; k0_ += depth_) {
      length_ = std::min(depth_, k_ - k0_);
      for (std::int64_t m0 = 0; m0 < m_; m0 += block_) {
        const std::int64_t m1 = std::min(m0 + block_, m_);
        if (own_rows_) own_rows_->pack(0, 0, m1 - m0, m1 - m0, length_, a_.at(m0, k0_));
        for (std::int64_t first = 0; first < panels_; first += group_)
          multiply(m0, m1, first, std::min(first + group_, panels_));
      }
    }
  }

 private:
  static constexpr std::int64_t size = simd::Packet<T>::size, width = tile_columns<T>, bytes = sizeof(T);

  static std::int64_t block_of(std::int64_t m, std::int64_t depth) {
    const std::int64_t blocks = divide_up(m, std::max<std::int64_t>(block_bytes / bytes / depth, tile_rows));
    return divide_up(divide_up(m, blocks), 2) * 2;
  }
  bool pays_to_pack_columns() const {
    if (b_.column != 1 || b_.row < 0) return true;
    constexpr std::int64_t line = 64;
    const bool pays_less = group_ == panels_ || b_.row * bytes % cache_way_bytes == 0 ||
                           (simd::Packet<T>::size * bytes == line && b_.row * bytes % line != 0);
    return far_ && m_ > (pays_less ? 2 : most_tiles_below) * tile_rows;
  }
  // Panels of b that are kept: all of them where several blocks of rows meet them, else those of a group. A
  // last panel that is narrower than the others is always packed.
  std::int64_t room() const {
    if (!packs_columns_) return panels_ - whole_;
    return block_ < m_ ? panels_ : group_;
  }
  T* packed_columns(std::int64_t panel) const {
    if (!packs_columns_) return columns_.data();
    return columns_.data() + (block_ < m_ ? panel : panel % group_) * width * depth_;
  }
  // From row to row of what is handed out: an odd number of tiles, so that rows do not compete for the same
  // cache lines.
  std::int64_t taken_row() const { return (group_ | 1) * width; }
  int last_columns() const { return static_cast<int>(n_ - whole_ * width); }
  int last_packets() const { return last_columns() <= size ? 1 : tile_packets; }

  // The rows of a panel of b that is read where it is, for the tile before it to fetch: rows of other panels
  // lie between them, so processors do not foresee them, and few tiles take less time than the memory.
  Upcoming<T> rows_of_panel(std::int64_t panel) const {
    if (panel >= whole_) return {};
    return {b_.at(k0_, panel * width).data, length_, b_.row, width - 1};
  }

  // Packs the panels from `first` to `last`, except for whole ones that the first tiles pack on their way:
  // the multiply-adds hide the wait for memory. Returns the kernel for those tiles, or null.
  PackingKernel<T> pack_columns(std::int64_t first, std::int64_t last, int first_height) {
    PackingKernel<T> packing = nullptr;
    if (packs_columns_ && b_.column == 1) packing = find_packing_kernel<T>(first_height);
    if (packs_columns_ && !packing && first < whole_)
      pack_group<T>(static_cast<int>(std::min(last, whole_) - first), b_.at(k0_, first * width).data,
                    b_.column, b_.row, length_, width * depth_, packed_columns(first));
    if (last > whole_)
      pack_panel(b_.at(k0_, whole_ * width).data, b_.column, b_.row, last_columns(), length_,
                 packed_columns(whole_), last_packets() * static_cast<int>(size));
    return packing;
  }

  void multiply(std::int64_t m0, std::int64_t m1, std::int64_t first, std::int64_t last) {
    PackingKernel<T> packing = nullptr;
    if (m0 == 0) packing = pack_columns(first, last, next_height(m1 - m0, rows_));
    const bool add = accumulate_ || k0_ > 0;
    const std::int64_t slice = own_rows_ ? 0 : k0_ / depth_;
    for (std::int64_t i = m0; i < m1;) {
      const int height = next_height(m1 - i, rows_);
      const int there = static_cast<int>(std::min<std::int64_t>(height, m1 - i));
      const Strided<const T> left =
          rows_ ? Strided<const T>{rows_->panel(slice, i - m0), 1, height} : a_.at(i, k0_);
      const MicroKernel<T> kernel = find_kernel<T>(height, tile_packets);
      const Strided<T> to = take_ ? Strided<T>{taken_.data(), taken_row(), 1} : c_.at(i, first * width);
      for (std::int64_t panel = first; panel < std::min(last, whole_); ++panel) {
        const T* const from = b_.at(k0_, panel * width).data;
        const TileTarget<T> target{
            to.at(0, (panel - first) * width).data, to.row, to.column, there, static_cast<int>(width), add};
        if (packing)
          packing(length_, left.data, left.row, left.column, from, b_.row, packed_columns(panel), target);
        else if (packs_columns_)
          kernel(length_, left.data, left.row, left.column, packed_columns(panel), width, target,
                 upcoming_.next_share(length_));
        else
          kernel(length_, left.data, left.row, left.column, from, b_.row, target,
                 far_ && i == 0 ? rows_of_panel(panel + 1) : upcoming_.next_share(length_));
      }
      if (last > whole_)
        find_kernel<T>(height, last_packets())(
            length_, left.data, left.row, left.column, packed_columns(whole_), last_packets() * size,
            {to.at(0, (whole_ - first) * width).data, to.row, to.column, there, last_columns(), add}, {});
      if (take_)
        for (int row = 0; row < there; ++row)
          (*take_)(i + row, first * width, std::min(last * width, n_) - first * width, to.at(row, 0).data);
      packing = nullptr;
      i += there;
    }
  }

  const std::int64_t m_, n_, k_;
  const Strided<const T> a_, b_;
  const Strided<T> c_;
  const bool accumulate_;
  const std::int64_t depth_, block_, panels_, whole_, group_;
  std::optional<PackedRows<T>> own_rows_;
  const PackedRows<T>* rows_;  // or null: a is read where it is
  const bool far_;             // does b reach so far that it may be packed?
  const bool packs_columns_;
  const Scratch<T> columns_;
  const TakeRow<T>* const take_;
  const Scratch<T> taken_;
  UpcomingOperands<T> upcoming_;
  std::int64_t k0_ = 0, length_ = 0;  // the slice at work
};

}  // namespace NAX_SIMD_ABI
}  // namespace cpu
NAX_END
