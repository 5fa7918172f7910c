#pragma once

#include "nax/backend/cpu/maps/tiles.hpp"

NAX_BEGIN
namespace cpu {

NAX_ENGINE bool Chunk::advance(std::int64_t end, std::int64_t most, std::int64_t alone) {
  begin_ += length_;
  column_ += length_;
  if (column_ == row_length_)
    ++row_, column_ = 0;
  else if (column_ > row_length_)
    find_row(begin_);
  length_ = std::min(end - begin_, most);
  if (row_length_ >= alone) {
    length_ = std::min(length_, row_length_ - column_);
  } else if (begin_ + length_ < end) {
    const std::int64_t over = (column_ + length_) % row_length_;
    if (over < length_) length_ -= over;
  }
  return length_ > 0;
}

NAX_ENGINE void TileAccess::flush(const Chunk& chunk, const void* written, const void* tile) {
  if (written != tile) return;
  const std::int64_t lane_size = static_cast<std::int64_t>(dtype_size(operand_->lane));
  detail::for_each_segment(*shape_, operand_->strides, chunk,
                           [&](std::int64_t offset, std::int64_t at, std::int64_t length) {
                             back_(static_cast<const char*>(tile) + at * lane_size, 1,
                                   operand_->data + offset * stored_size_, inner_, length);
                           });
}

NAX_ENGINE char* TileAccess::address(const Chunk& chunk) const {
  const std::size_t rank = shape_->size();
  std::int64_t offset = chunk.column(), row = chunk.row();  // the stride in a row is 1
  if (rank == 2) {
    offset += row * operand_->strides[0];
  } else {
    for (std::size_t axis = rank - 1; axis-- > 0; row /= (*shape_)[axis])
      offset += row % (*shape_)[axis] * operand_->strides[axis];
  }
  return operand_->data + offset * stored_size_;
}

}  // namespace cpu
NAX_END
