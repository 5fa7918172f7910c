#pragma once

#include <limits>
#include <optional>
#include <string>

#include "nax/core/where_used.hpp"
#include "nax/lax/segments.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/numpy/views/views.hpp"
#include "nax/transform/checkpoint.hpp"

// Rows of tables by their numbers.
NAX_BEGIN
namespace detail {

// Where the numbers are the padding's; negative ones count from the end of a table of this many rows.
template <class I>
Array<bool> padding_places(const char* function, const I& indices, std::int64_t padding, std::int64_t rows) {
  if (padding < -rows || padding >= rows)
    raise<IndexError>(
        {function, ": padding_idx ", padding, " is out of bounds for a table of ", rows, " rows"});
  const where_used_t<Array<std::int64_t>, I> numbers = as_array(indices).template astype<std::int64_t>();
  const std::int64_t row = padding < 0 ? padding + rows : padding;
  return Array<bool>(logical_or(numbers == row, numbers == row - rows));
}

}  // namespace detail

namespace nn {

struct EmbeddingRowsOptions {
  std::optional<std::int64_t> padding_idx = {};  // a row that gets no gradient
};
// Rows of the table (V, E) for numbers of any shape (...): (..., E). Throws IndexError for one that is out of
// range.
template <nax::detail::ArrayLike Table, nax::detail::ArrayLike I>
auto embedding(const Table& table, const I& indices, const EmbeddingRowsOptions& options = {}) {
  using T = typename Table::value_type;
  const Array<T> rows = take(table, indices, {.axis = 0});
  if (!options.padding_idx) return rows;
  const Array<bool> padding =
      nax::detail::padding_places("embedding", indices, *options.padding_idx, table.shape(0));
  return Array<T>(where(expand_dims(padding, -1), stop_gradient(rows), rows));
}

template <class T>
struct EmbeddingBagOptions {
  std::string mode = "mean";                     // or "sum", "max"
  std::optional<std::int64_t> padding_idx = {};  // numbers that are left out
  std::optional<Array<T>> weights = {};          // of the numbers, for "sum"; their shape
};

}  // namespace nn

namespace detail {

// The rows of bags' numbers, and whether each counts, (..., 1): rows that do not are 0, or -inf for "max".
template <class T>
struct BagRows {
  Array<T> rows, kept;

  template <class Table, class I>
  BagRows(const Table& table, const I& indices, const nn::EmbeddingBagOptions<T>& options) {
    const bool greatest = options.mode == "max";
    if (!greatest && options.mode != "mean" && options.mode != "sum")
      raise<ValueError>({"embedding_bag: mode must be 'sum', 'mean' or 'max', not '", options.mode, "'"});
    if (options.weights && options.mode != "sum")
      raise<ValueError>({"embedding_bag: weights need the mode 'sum', not '", options.mode, "'"});
    if (options.weights && !(options.weights->shape() == indices.shape()))
      raise<ShapeError>({"embedding_bag: weights must have the shape of the numbers: shapes ",
                         options.weights->shape(), " and ", indices.shape()});
    rows = take(table, indices, {.axis = 0});
    const ComputeOn beside_rows(rows);
    const Array<bool> counts = expand_dims(
        options.padding_idx ? Array<bool>(logical_not(padding_places("embedding_bag", indices,
                                                                     *options.padding_idx, table.shape(0))))
                            : ones<bool>(indices.shape()),
        -1);
    if (options.weights) rows = rows * expand_dims(*options.weights, -1);
    rows = where(counts, rows, greatest ? -std::numeric_limits<T>::infinity() : T(0));
    kept = counts.template astype<T>();
  }
};
template <class T>
Array<T> zero_where_none(const Array<T>& most) {
  return where(most == -std::numeric_limits<T>::infinity(), T(0), most);
}

}  // namespace detail

namespace nn {

// The mean, sum or largest elements of the table's rows (V, E) in each bag of numbers (..., L): (..., E). A
// bag without numbers gives 0. Throws IndexError for a number that is out of range, ValueError for an unknown
// mode and for weights beside another one than "sum", and ShapeError for numbers without an axis and weights
// of another shape.
template <nax::detail::ArrayLike Table, nax::detail::ArrayLike I>
auto embedding_bag(const Table& table, const I& indices_,
                   const EmbeddingBagOptions<typename Table::value_type>& options = {}) {
  using T = typename Table::value_type;
  const auto indices = nax::detail::as_array(indices_);
  if (indices.ndim() < 1) throw ShapeError("embedding_bag: the numbers must be (..., L), shape ()");
  const nax::detail::BagRows<T> bag(table, indices, options);
  if (options.mode == "max")
    return nax::detail::zero_where_none(
        Array<T>(max(bag.rows, {.axis = -2, .initial = -std::numeric_limits<T>::infinity()})));
  const Array<T> total = sum(bag.rows, {.axis = -2});
  if (options.mode == "sum") return total;
  return Array<T>(total / maximum(sum(bag.kept, {.axis = -2}), T(1)));
}
// Bags one behind the other, as PyTorch's: the numbers (N,) of all, and where each begins, (B,) in ascending
// order. The result is (B, E). Throws as for bags (..., L), and ShapeError unless numbers and offsets are
// 1-d.
template <nax::detail::ArrayLike Table, nax::detail::ArrayLike I, nax::detail::ArrayLike O>
auto embedding_bag(const Table& table, const I& indices_, const O& offsets_,
                   const EmbeddingBagOptions<typename Table::value_type>& options = {}) {
  using T = typename Table::value_type;
  const auto indices = nax::detail::as_array(indices_);
  const auto offsets = nax::detail::as_array(offsets_);
  if (indices.ndim() != 1 || offsets.ndim() != 1)
    raise<ShapeError>({"embedding_bag: numbers and offsets must be 1-d, shapes ", indices.shape(), " and ",
                       offsets.shape()});
  const nax::detail::BagRows<T> bag(table, indices, options);
  const nax::detail::ComputeOn beside_rows(bag.rows);
  const Array<int> places = arange<int>(static_cast<int>(indices.size()));
  const Array<int> bags = searchsorted(offsets, places, {.side = "right"}) - 1;
  const SegmentOptions segments{.num_segments = offsets.size()};
  if (options.mode == "max") return nax::detail::zero_where_none(segment_max(bag.rows, bags, segments));
  const Array<T> total = segment_sum(bag.rows, bags, segments);
  if (options.mode == "sum") return total;
  return Array<T>(total / maximum(segment_sum(bag.kept, bags, segments), T(1)));
}

}  // namespace nn
NAX_END
