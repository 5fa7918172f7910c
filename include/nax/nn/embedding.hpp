#pragma once

#include <limits>
#include <optional>
#include <string>

#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/numpy/views/views.hpp"
#include "nax/transform/checkpoint.hpp"

// Rows of tables by their numbers.
NAX_BEGIN
namespace detail {

// Where the numbers are the padding's; a negative one counts from the end of a table of this many rows.
template <class I>
Array<bool> padding_places(const char* function, const I& indices, std::int64_t padding, std::int64_t rows) {
  if (padding < -rows || padding >= rows)
    raise<IndexError>(
        {function, ": padding_idx ", padding, " is out of bounds for a table of ", rows, " rows"});
  using N = typename I::value_type;
  return Array<bool>(as_array(indices) == static_cast<N>(padding < 0 ? padding + rows : padding));
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
// The mean, sum or largest elements of the table's rows (V, E) in each bag of numbers (..., L): (..., E). A
// bag without numbers gives 0. Throws IndexError for a number that is out of range, ValueError for an unknown
// mode and for weights beside another one than "sum", and ShapeError for numbers without an axis.
template <nax::detail::ArrayLike Table, nax::detail::ArrayLike I>
auto embedding_bag(const Table& table, const I& indices_,
                   const EmbeddingBagOptions<typename Table::value_type>& options = {}) {
  using T = typename Table::value_type;
  const auto indices = nax::detail::as_array(indices_);
  const bool greatest = options.mode == "max", mean = options.mode == "mean";
  if (!greatest && !mean && options.mode != "sum")
    raise<ValueError>({"embedding_bag: mode must be 'sum', 'mean' or 'max', not '", options.mode, "'"});
  if (options.weights && options.mode != "sum")
    raise<ValueError>({"embedding_bag: weights need the mode 'sum', not '", options.mode, "'"});
  if (indices.ndim() < 1) throw ShapeError("embedding_bag: the numbers must be (..., L), shape ()");
  Array<T> rows = take(table, indices, {.axis = 0});
  const nax::detail::ComputeOn beside_rows(rows);
  const Array<bool> kept =
      expand_dims(options.padding_idx ? Array<bool>(logical_not(nax::detail::padding_places(
                                            "embedding_bag", indices, *options.padding_idx, table.shape(0))))
                                      : ones<bool>(indices.shape()),
                  -1);
  if (greatest) {
    const T least = -std::numeric_limits<T>::infinity();
    const Array<T> most = max(where(kept, rows, least), {.axis = -2, .initial = least});
    return Array<T>(where(most == least, T(0), most));
  }
  if (options.weights) rows = rows * expand_dims(*options.weights, -1);
  const Array<T> total = sum(where(kept, rows, T(0)), {.axis = -2});
  if (!mean) return total;
  return Array<T>(total / maximum(sum(kept.template astype<T>(), {.axis = -2}), T(1)));
}

}  // namespace nn
NAX_END
