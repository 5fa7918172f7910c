#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include "nax/core/array.hpp"

// Where a matrix of derivatives is not zero, and which of its columns are found together.
NAX_BEGIN

namespace detail {
// The element of that number, of any integer type.
template <class List, std::integral I>
auto& nth(List& list, I i) {
  return list[static_cast<std::size_t>(i)];
}
}  // namespace detail

// The places of a sparse matrix's elements, row by row: an array of bools, or `indptr` and `indices` as CSR
// has them.
class SparsityPattern {
 public:
  SparsityPattern() = default;
  SparsityPattern(const Array<bool>& matrix);
  SparsityPattern(const Array<std::int32_t>& indptr, const Array<std::int32_t>& indices);

  bool empty() const { return indptr_.empty(); }
  std::int64_t rows() const { return static_cast<std::int64_t>(indptr_.size()) - 1; }
  const std::vector<std::int32_t>& indptr() const { return indptr_; }
  const std::vector<std::int32_t>& indices() const { return indices_; }

 private:
  std::vector<std::int32_t> indptr_, indices_;
};

namespace detail {

// Rows that lists of columns make, each sorted.
NAX_ENGINE SparsityPattern pattern_of_rows(const std::vector<std::vector<std::int32_t>>& rows);
// Throws ValueError where a pattern does not fit (rows, columns), or names an element twice.
NAX_ENGINE void check_pattern(const char* function, const SparsityPattern& pattern, std::int64_t rows,
                              std::int64_t columns);

struct Coloring {
  std::vector<std::int32_t> colors;  // of columns, or of rows
  std::int32_t count = 0;
};
// Colors columns so that those of one color share no row, the fullest first, each with the least color that
// is free. Curtis, Powell, Reid, On the estimation of sparse Jacobian matrices (1974).
NAX_ENGINE Coloring color_columns(const SparsityPattern& pattern, std::int64_t columns);
NAX_ENGINE SparsityPattern transposed(const SparsityPattern& pattern, std::int64_t columns);
// Throws ValueError where columns of one color share a row.
NAX_ENGINE Coloring checked_colors(const char* function, const std::vector<std::int32_t>& colors,
                                   const SparsityPattern& pattern, std::int64_t columns);

// n numbers in [-1, 1), not small, the same for the same seed.
NAX_ENGINE std::vector<double> probe_numbers(std::uint64_t seed, std::int64_t n);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/sparsity-inl.hpp"
#endif
