#pragma once

#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/sorting/sort.hpp"

NAX_BEGIN
namespace lax {

struct SortKeyValOptions {
  std::int64_t dimension = -1;
  bool is_stable = true;
};
// {keys sorted along `dimension`, values in the same order}; both of one shape. Both results have the shape
// of keys. Throws ShapeError if keys and values differ in shape, and IndexError if the axis is out of bounds.
template <nax::detail::ArrayLike K, nax::detail::ArrayLike V>
auto sort_key_val(const K& keys_, const V& values_, const SortKeyValOptions& options = {}) {
  const auto keys = nax::detail::as_array(keys_);
  const auto values = nax::detail::as_array(values_);
  if (!(keys.shape() == values.shape()))
    raise<ShapeError>(
        {"sort_key_val: keys and values differ in shape: ", keys.shape(), " and ", values.shape()});
  const auto order = argsort(keys, {.axis = options.dimension});
  return std::pair{take_along_axis(keys, order, options.dimension),
                   take_along_axis(values, order, options.dimension)};
}

}  // namespace lax
NAX_END
