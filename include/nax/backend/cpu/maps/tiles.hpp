#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "nax/backend/cpu/packets/convert.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/core/layout.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/loops/operand.hpp"

// How a fused kernel meets operands of any layout.
//
// A kernel is compiled once an expression and reads contiguous runs only. The loop nest over the (broadcast)
// shape is cut into chunks of its flat, row-major index. An operand whose chunk is contiguous in memory and
// of the kernel's type is passed by its address; any other is first copied into a tile in L1, which repeats
// broadcast elements, walks strides and converts half types. What the kernel writes goes the same way back.
// So broadcasting, views and conversions cost no instantiation, and where everything is contiguous one call
// covers the whole range.
NAX_BEGIN
namespace cpu {

inline constexpr std::int64_t tile_bytes = 4096;

using loops::max_operands;
using loops::Operand;

// Part of a loop: so many elements of its flat, row-major index from `begin` on, and where these lie in the
// rows of the last axis.
class Chunk {
 public:
  // Nothing yet, before element `begin`.
  Chunk(const Dims& shape, std::int64_t begin)
      : row_length_(shape.empty() ? 1 : shape.back()), begin_(begin) {
    find_row(begin);
  }
  // Goes on to what follows, up to `end`; false where nothing does. A whole row piece where rows have `alone`
  // elements or more (so that row-contiguous operands are read in place), as many rows as have room in `most`
  // elements otherwise.
  bool advance(std::int64_t end, std::int64_t most, std::int64_t alone = 64);

  std::int64_t begin() const { return begin_; }
  std::int64_t length() const { return length_; }
  std::int64_t row() const { return row_; }
  std::int64_t column() const { return column_; }
  bool within_row() const { return column_ + length_ <= row_length_; }

 private:
  void find_row(std::int64_t element) {
    row_ = element == 0 ? 0 : element / row_length_;
    column_ = element - row_ * row_length_;
  }

  std::int64_t row_length_, begin_, length_ = 0, row_ = 0, column_ = 0;
};

namespace detail {

// Walks the row segments of a chunk: f(element offset into the operand, offset into the chunk, length).
using SegmentRef = FunctionRef<void(std::int64_t offset, std::int64_t at, std::int64_t length)>;
NAX_COMPILED_ONCE void for_each_segment(const Dims& shape, const Dims& strides, const Chunk& chunk,
                                        SegmentRef f) {
  const std::int64_t n = chunk.length();
  if (shape.empty()) {
    f(0, 0, n);
    return;
  }
  const std::size_t inner = shape.size() - 1;
  if (inner <= 1) {  // the usual case: rows one after the other
    const std::int64_t length = shape[inner], step = inner == 1 ? strides[0] : 0;
    std::int64_t row = chunk.row(), column = chunk.column();
    for (std::int64_t done = 0; done < n; ++row, column = 0) {
      const std::int64_t rest = length - column, piece = rest < n - done ? rest : n - done;
      f(row * step + column * strides[inner], done, piece);
      done += piece;
    }
    return;
  }
  Dims index(shape.size(), 0);
  index[inner] = chunk.column();
  std::int64_t rest = chunk.row(), offset = chunk.column() * strides[inner];
  for (std::size_t axis = inner; axis-- > 0;) {
    index[axis] = rest % shape[axis];
    rest /= shape[axis];
    offset += index[axis] * strides[axis];
  }
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t row = shape[inner] - index[inner];
    const std::int64_t length = row < n - done ? row : n - done;
    f(offset, done, length);
    done += length;
    offset += length * strides[inner];
    index[inner] += length;
    for (std::size_t axis = inner; axis > 0 && index[axis] == shape[axis]; --axis) {
      offset += strides[axis - 1] - shape[axis] * strides[axis];
      index[axis] = 0;
      ++index[axis - 1];
    }
  }
}

}  // namespace detail

// One operand's way in (or out, for an operand that each element of the loop has its own of).
class TileAccess {
 public:
  TileAccess() = default;
  NAX_COMPILED_ONCE TileAccess(const Operand& operand, const Dims& shape)
      : operand_(&operand), shape_(&shape), filled_(0) {
    const std::size_t rank = shape.size();
    const bool same = operand.stored == operand.lane;
    stored_size_ = static_cast<std::int64_t>(dtype_size(operand.stored));
    inner_ = rank == 0 ? 1 : operand.strides[rank - 1];
    in_row_ = same && inner_ == 1;
    everywhere_ = in_row_;
    bool repeats = rank > 0;
    std::int64_t run = 1;
    for (std::size_t axis = rank; axis-- > 0; run *= shape[axis]) {
      everywhere_ = everywhere_ && operand.strides[axis] == run;
      repeats = repeats && (axis + 1 == rank || operand.strides[axis] == 0);
    }
    period_ = !repeats ? 0 : inner_ == 0 ? 1 : shape[rank - 1];
    copy_ = converter(operand.stored, operand.lane);
    back_ = converter(operand.lane, operand.stored);
  }
  bool direct() const { return everywhere_; }

  // The chunk as a contiguous run: in place, or copied into `tile`, which is this operand's for as long as it
  // is read.
  NAX_COMPILED_ONCE void* read(const Chunk& chunk, void* tile) {
    if (everywhere_) return operand_->data + chunk.begin() * stored_size_;
    const std::int64_t n = chunk.length();
    const bool repeats = period_ > 0 && (period_ == 1 || chunk.column() == 0);
    if (repeats && filled_ >= n) return tile;
    if (in_row_ && chunk.within_row()) return address(chunk);
    const std::int64_t lane_size = static_cast<std::int64_t>(dtype_size(operand_->lane));
    filled_ = repeats ? n : 0;
    if (repeats && period_ < n) {
      copy_(operand_->data, inner_, tile, 1, period_);
      repeat(static_cast<char*>(tile), period_ * lane_size, n * lane_size);
      return tile;
    }
    detail::for_each_segment(*shape_, operand_->strides, chunk,
                             [&](std::int64_t offset, std::int64_t at, std::int64_t length) {
                               copy_(operand_->data + offset * stored_size_, inner_,
                                     static_cast<char*>(tile) + at * lane_size, 1, length);
                             });
    return tile;
  }
  // Where to write the chunk; `flush` then moves it when that was the tile.
  void* target(const Chunk& chunk, void* tile) {
    if (everywhere_) return operand_->data + chunk.begin() * stored_size_;
    if (in_row_ && chunk.within_row()) return address(chunk);
    return tile;
  }
  void flush(const Chunk& chunk, const void* written, const void* tile);

 private:
  // Fills `bytes` with the first `period` of them.
  static void repeat(char* to, std::int64_t period, std::int64_t bytes) {
    for (std::int64_t there = period; there < bytes; there *= 2)
      std::memcpy(to + there, to, static_cast<std::size_t>(std::min(there, bytes - there)));
  }
  char* address(const Chunk& chunk) const;

  // (Without values to begin with: kernels have room for many of these and use a few.)
  const Operand* operand_;
  const Dims* shape_;
  ConvertFn copy_, back_;
  std::int64_t stored_size_, inner_;
  std::int64_t period_;  // of an operand that repeats its first so many elements; 0 for others
  std::int64_t filled_;  // how many of these, from the first on, are in the tile
  bool everywhere_, in_row_;
};

// Memory for tiles, on the stack.
struct Tile {
  alignas(64) char bytes[tile_bytes];
};

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/maps/tiles-inl.hpp"
#endif
