#pragma once

#include <algorithm>
#include <numeric>
#include <random>

#include "nax/core/error.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/transform/sparsity.hpp"

NAX_BEGIN

NAX_ENGINE SparsityPattern::SparsityPattern(const Array<bool>& matrix) {
  if (matrix.ndim() != 2)
    raise<ShapeError>({"SparsityPattern: the matrix must have two axes, got shape ", matrix.shape()});
  const auto values = matrix.to_vector();
  const std::int64_t columns = matrix.shape(1);
  indptr_.push_back(0);
  for (std::int64_t i = 0; i < matrix.shape(0); ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      if (values[static_cast<std::size_t>(i * columns + j)]) indices_.push_back(static_cast<std::int32_t>(j));
    indptr_.push_back(static_cast<std::int32_t>(indices_.size()));
  }
}
NAX_ENGINE SparsityPattern::SparsityPattern(const Array<std::int32_t>& indptr,
                                            const Array<std::int32_t>& indices)
    : indptr_(indptr.to_vector()), indices_(indices.to_vector()) {
  bool rises = !indptr_.empty() && indptr_.front() == 0;
  for (std::size_t i = 1; i < indptr_.size(); ++i) rises = rises && indptr_[i] >= indptr_[i - 1];
  if (!rises || indptr_.back() != static_cast<std::int64_t>(indices_.size()))
    raise<ValueError>(
        {"SparsityPattern: indptr must rise from 0 to the number of indices, ", indices_.size()});
}

namespace detail {

NAX_ENGINE SparsityPattern pattern_of_rows(const std::vector<std::vector<std::int32_t>>& rows) {
  std::vector<std::int32_t> indptr{0}, indices;
  for (const auto& row : rows) {
    indices.insert(indices.end(), row.begin(), row.end());
    indptr.push_back(static_cast<std::int32_t>(indices.size()));
  }
  return SparsityPattern(asarray(indptr), asarray(indices));
}

NAX_ENGINE void check_pattern(const char* function, const SparsityPattern& pattern, std::int64_t rows,
                              std::int64_t columns) {
  if (pattern.rows() != rows)
    raise<ValueError>({function, ": pattern: it has ", pattern.rows(), " rows, the matrix has shape (", rows,
                       ", ", columns, ")"});
  std::vector<std::int64_t> last(static_cast<std::size_t>(columns), -1);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int32_t at = nth(pattern.indptr(), i); at < nth(pattern.indptr(), i + 1); ++at) {
      const std::int64_t j = nth(pattern.indices(), at);
      if (j < 0 || j >= columns || nth(last, j) == i)
        raise<ValueError>({function, ": pattern: row ", i, " names column ", j,
                           j < 0 || j >= columns ? ", which is out of bounds" : " twice"});
      nth(last, j) = i;
    }
}

NAX_ENGINE SparsityPattern transposed(const SparsityPattern& pattern, std::int64_t columns) {
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < pattern.rows(); ++i)
    for (std::int32_t at = nth(pattern.indptr(), i); at < nth(pattern.indptr(), i + 1); ++at)
      nth(rows, nth(pattern.indices(), at)).push_back(static_cast<std::int32_t>(i));
  return pattern_of_rows(rows);
}

NAX_ENGINE Coloring color_columns(const SparsityPattern& pattern, std::int64_t columns) {
  const SparsityPattern by_columns = transposed(pattern, columns);
  std::vector<std::int32_t> order(static_cast<std::size_t>(columns));
  std::iota(order.begin(), order.end(), 0);
  const auto degree = [&](std::int32_t j) {
    std::int64_t neighbours = 0;
    for (std::int32_t at = nth(by_columns.indptr(), j); at < nth(by_columns.indptr(), j + 1); ++at) {
      const std::int32_t i = nth(by_columns.indices(), at);
      neighbours += nth(pattern.indptr(), i + 1) - nth(pattern.indptr(), i);
    }
    return neighbours;
  };
  std::vector<std::int64_t> degrees;
  for (std::int32_t j = 0; j < columns; ++j) degrees.push_back(degree(j));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return nth(degrees, a) > nth(degrees, b); });
  Coloring out;
  out.colors.assign(static_cast<std::size_t>(columns), -1);
  std::vector<std::int32_t> taken;  // by which column a color was last seen among neighbours
  for (const std::int32_t j : order) {
    for (std::int32_t at = nth(by_columns.indptr(), j); at < nth(by_columns.indptr(), j + 1); ++at) {
      const std::int32_t i = nth(by_columns.indices(), at);
      for (std::int32_t k = nth(pattern.indptr(), i); k < nth(pattern.indptr(), i + 1); ++k)
        if (const std::int32_t color = nth(out.colors, nth(pattern.indices(), k)); color >= 0)
          nth(taken, color) = j;
    }
    std::int32_t color = 0;
    while (color < out.count && nth(taken, color) == j) ++color;
    if (color == out.count) ++out.count, taken.push_back(-1);
    nth(out.colors, j) = color;
  }
  return out;
}

NAX_ENGINE Coloring checked_colors(const char* function, const std::vector<std::int32_t>& colors,
                                   const SparsityPattern& pattern, std::int64_t columns) {
  if (static_cast<std::int64_t>(colors.size()) != columns)
    raise<ValueError>({function, ": colors: ", colors.size(), " for ", columns, " columns"});
  Coloring out{colors, 0};
  for (const std::int32_t color : colors) {
    if (color < 0 || color >= columns) raise<ValueError>({function, ": colors: ", color, " is no color"});
    out.count = std::max(out.count, color + 1);
  }
  std::vector<std::int64_t> last(static_cast<std::size_t>(out.count), -1);
  for (std::int64_t i = 0; i < pattern.rows(); ++i)
    for (std::int32_t at = nth(pattern.indptr(), i); at < nth(pattern.indptr(), i + 1); ++at) {
      std::int64_t& seen = nth(last, nth(colors, nth(pattern.indices(), at)));
      if (seen == i)
        raise<ValueError>({function, ": colors: two columns of color ",
                           nth(colors, nth(pattern.indices(), at)), " have elements in row ", i});
      seen = i;
    }
  return out;
}

NAX_ENGINE std::vector<double> probe_numbers(std::uint64_t seed, std::int64_t n) {
  std::mt19937_64 random(seed);
  std::vector<double> out;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t bits = random();
    out.push_back((bits & 1 ? 1 : -1) * (0.25 + 0.75 * static_cast<double>(bits >> 11) * 0x1p-53));
  }
  return out;
}

}  // namespace detail
NAX_END
