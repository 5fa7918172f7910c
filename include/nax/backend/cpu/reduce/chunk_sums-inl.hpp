#pragma once

#include "nax/backend/cpu/reduce/chunk_sums.hpp"

NAX_BEGIN
namespace cpu::detail {

NAX_ENGINE bool joins_many(const Reducer& reducer, const Dims& shape, const Dims& strides,
                           std::int64_t together) {
  constexpr std::int64_t run = 1024;
  if (!reducer.wide) return false;
  const std::size_t rank = shape.size();
  std::int64_t n = 1;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (strides[axis] == 0) {
      const std::int64_t at_once = axis + 1 == rank ? run : axis + 2 == rank ? together : 1;
      n *= (shape[axis] + at_once - 1) / at_once;
    }
  return n > most_joins;
}

NAX_ENGINE ChunkSums::ChunkSums(const Reducer& reducer, bool wide, const Operand& result, const Dims& shape)
    : reducer_(&reducer), into_(wide ? reducer.wide : &reducer), result_(&result), shape_(&shape) {
  const std::size_t rank = shape.size();
  bytes_ = static_cast<std::int64_t>(dtype_size(into_->to));
  from_bytes_ = static_cast<std::int64_t>(dtype_size(reducer.from));
  into_one_ = true;
  for (std::size_t axis = 0; axis < rank; ++axis) into_one_ = into_one_ && result.strides[axis] == 0;
  inner_ = 1;
  kept_ = rank;
  while (kept_ > 0 && result.strides[kept_ - 1] != 0) inner_ *= shape[--kept_];
  near_ = nullptr;
  terms_ = 0;
  near_size_ = static_cast<std::int64_t>(dtype_size(reducer.to));
  left_ = 0;
  blocked_ = wide && !into_one_ && kept_ < rank;
  // (Rows that are added eight at a time are so from where a chunk begins: examples of a vmap would differ.)
  rows_ = rank > 1 && (result.strides[rank - 1] == 0 || (rank == 2 && takes_rows(shape, result.strides)));
  at_once_ = reducer.from == DType::float32 || reducer.from == DType::float64 ? 8 : 1;
}

NAX_ENGINE void ChunkSums::add(const Chunk& chunk, const void* values_) {
  const char* const values = static_cast<const char*>(values_);
  if (into_one_) {
    into_->combine(values, result_->data, 0, chunk.length());
  } else if (blocked_) {
    if (kept_ + 1 == shape_->size())  // the usual case: terms are rows
      add_terms(chunk.row(), chunk.column(), chunk.length(), values);
    else
      add_terms(chunk.begin() / inner_, chunk.begin() % inner_, chunk.length(), values);
  } else if (rows_ && chunk.column() == 0 && chunk.length() % shape_->back() == 0) {
    add_rows(chunk.row(), chunk.length() / shape_->back(), values);
  } else {
    const std::int64_t inner = result_->strides.back();
    for_each_segment(
        *shape_, result_->strides, chunk, [&](std::int64_t offset, std::int64_t at, std::int64_t length) {
          into_->combine(values + at * from_bytes_, result_->data + offset * bytes_, inner, length);
        });
  }
}

// Joins rows of n values with results that have these strides from row to row and along it.
inline void join_rows(const Reducer& into, const char* values, std::int64_t rows, std::int64_t n, char* to,
                      std::int64_t outer, std::int64_t inner) {
  if (inner == 0 && takes_short_runs(into, n, outer)) return into.short_runs(values, n, rows, n, to, outer);
  if (inner == 1 && outer == 0) return into.rows(values, n, rows, to, n);
  const std::int64_t from_bytes = static_cast<std::int64_t>(dtype_size(into.from)) * n,
                     to_bytes = static_cast<std::int64_t>(dtype_size(into.to)) * outer;
  for (std::int64_t r = 0; r < rows; ++r) into.combine(values + r * from_bytes, to + r * to_bytes, inner, n);
}

NAX_ENGINE void ChunkSums::add_rows(std::int64_t row, std::int64_t left, const char* values) {
  const std::size_t outer = shape_->size() - 2;
  const std::int64_t n = shape_->back(), extent = (*shape_)[outer];
  while (left > 0) {
    std::int64_t rest = row < extent ? 0 : row / extent;
    const std::int64_t first = row - rest * extent, some = std::min(left, extent - first);
    std::int64_t offset = first * result_->strides[outer];
    for (std::size_t axis = outer; axis-- > 0; rest /= (*shape_)[axis])
      offset += rest % (*shape_)[axis] * result_->strides[axis];
    join_rows(*into_, values, some, n, result_->data + offset * bytes_, result_->strides[outer],
              result_->strides[outer + 1]);
    values += some * n * from_bytes_;
    row += some;
    left -= some;
  }
}

NAX_ENGINE void ChunkSums::add_terms(std::int64_t term, std::int64_t at, std::int64_t left,
                                     const char* values) {
  while (left > 0) {
    if (at == 0) begin_term(term);
    std::int64_t n = std::min(left, inner_ - at), rows = 1;
    if (at == 0 && left >= 2 * inner_) {
      rows = std::min({left / inner_, left_ + 1, at_once_ * (most_terms - terms_ + 1)});
      terms_ += static_cast<int>((rows - 1) / at_once_);
      left_ -= rows - 1;
      reducer_->rows(values, inner_, rows, near_, inner_);
      n *= rows;
    } else {
      reducer_->combine(values, near_ + at * near_size_, 1, n);
    }
    values += n * from_bytes_;
    left -= n;
    term += rows;
    at = 0;
  }
}

}  // namespace cpu::detail
NAX_END
