#pragma once

#include <algorithm>
#include <cstring>
#include <optional>

#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/maps/tiles.hpp"
#include "nax/backend/cpu/reduce/reducers.hpp"

// Reductions of what a loop computes chunk by chunk, over those of its axes along which the result does not
// move.
NAX_BEGIN
namespace cpu::detail {

inline constexpr std::int64_t most_joins = 64;  // what accumulators of the elements' own type take

// Whether so many terms, or sums of runs, come to a result whose strides over the loop are these that its
// accumulators must be wide. `together`: rows that are summed before they are added to it.
NAX_ENGINE bool joins_many(const Reducer& reducer, const Dims& shape, const Dims& strides,
                           std::int64_t together = 1);

// Whether runs of so many elements are joined many at a time: each into one result, these so far apart.
inline bool takes_short_runs(const Reducer& reducer, std::int64_t n, std::int64_t to_stride) {
  return reducer.short_runs && n <= most_of_short_run && to_stride != 0;
}

// Rows that the reducer's own kernel takes together: the last axis is kept, the one before goes.
inline bool takes_rows(const Dims& shape, const Dims& result) {
  return shape.size() > 1 && result.back() == 1 && result[shape.size() - 2] == 0;
}

// Zeroed accumulators, of any type. Few lie on the stack.
class Accumulators {
 public:
  char* allocate(std::size_t bytes) {
    char* const to = bytes > sizeof few_ ? many_.emplace(static_cast<std::int64_t>(bytes)).data() : few_;
    std::memset(to, 0, bytes);
    return to;
  }

 private:
  alignas(64) char few_[512];
  std::optional<Scratch<char>> many_;
};

// Chunks come in the order of the loop, from the beginning of a row on. The accumulators are of the reducer's
// own type, or wide; in front of wide ones the elements that come between two terms of a result have others
// of their own type, which take some terms before they are added to the wide ones.
// (Without values to begin with: kernels have room for many of these and use a few.)
class ChunkSums {
 public:
  ChunkSums() = default;
  ChunkSums(const Reducer& reducer, bool wide, const Operand& result, const Dims& shape);
  // Bytes of the accumulators in front, which begin as zeros.
  std::size_t near_bytes() const {
    return blocked_ ? (static_cast<std::size_t>(inner_ * near_size_) + 63) / 64 * 64 : 0;
  }
  void use(char* nearby) { near_ = nearby; }

  void add(const Chunk& chunk, const void* values_);
  void finish() {
    if (terms_ > 0) flush();
  }

 private:
  static constexpr int most_terms = 64;

  // (A term is as long as the axes inside the last one that goes.)
  void add_terms(std::int64_t term, std::int64_t at, std::int64_t left, const char* values);
  // Whole rows, each into a result of its own or all of an axis into one row.
  void add_rows(std::int64_t row, std::int64_t left, const char* values);
  void begin_term(std::int64_t term) {
    if (terms_ == most_terms || left_ == 0) {
      if (terms_ > 0) flush();
      if (left_ == 0) find_target(term);
    }
    ++terms_;
    --left_;
  }
  // The terms that follow one another along the last axis that goes have one target.
  [[gnu::noinline]] void find_target(std::int64_t term) {
    std::size_t axis = kept_ - 1;
    left_ = (*shape_)[axis] - term % (*shape_)[axis];
    target_ = 0;
    for (term /= (*shape_)[axis]; axis-- > 0; term /= (*shape_)[axis])
      target_ += term % (*shape_)[axis] * result_->strides[axis];
  }
  NAX_COMPILED_ONCE void flush() {
    const std::size_t rank = shape_->size();
    const std::int64_t n = shape_->back();
    Dims index(rank, 0);
    char* nearby = near_;
    for (std::int64_t offset = target_;;) {
      reducer_->widen(nearby, result_->data + offset * bytes_, result_->strides[rank - 1], n);
      nearby += n * near_size_;
      std::size_t axis = rank - 1;
      for (; axis > kept_; --axis) {
        offset += result_->strides[axis - 1];
        if (++index[axis - 1] < (*shape_)[axis - 1]) break;
        offset -= (*shape_)[axis - 1] * result_->strides[axis - 1];
        index[axis - 1] = 0;
      }
      if (axis == kept_) break;
    }
    std::memset(near_, 0, static_cast<std::size_t>(inner_ * near_size_));
    terms_ = 0;
  }

  const Reducer *reducer_, *into_;
  const Operand* result_;
  const Dims* shape_;
  std::int64_t bytes_, from_bytes_, near_size_;
  std::int64_t inner_;   // elements that come between two terms of a result
  std::size_t kept_;     // the first of the axes inside the last one that goes
  std::int64_t target_;  // where the terms in `near_` go
  std::int64_t left_;    // terms that will go there
  int terms_;
  std::int64_t at_once_;  // rows that count as one term
  bool into_one_, blocked_, rows_;
  char* near_;
};

}  // namespace cpu::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/reduce/chunk_sums-inl.hpp"
#endif
