#pragma once

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/views/broadcast_to.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/numpy/views/reshape.hpp"

NAX_BEGIN
namespace lax {

// Returns an array of that shape whose elements are their indices along an axis; `dimension` may count from
// the end. Throws IndexError for an axis that the shape lacks.
template <class T = float>
Array<T> broadcasted_iota(const Shape& shape, int dimension) {
  const int ndim = static_cast<int>(shape.size());
  const std::size_t axis =
      static_cast<std::size_t>(nax::detail::normalize_axis("broadcasted_iota", dimension, ndim));
  std::vector<std::int64_t> along(shape.size(), 1);
  along[axis] = shape[axis];
  return copy(broadcast_to(reshape(arange<T>(static_cast<T>(shape[axis])), Shape(along)), shape));
}

}  // namespace lax
NAX_END
