#pragma once

#include <string_view>
#include <vector>

#include "nax/numpy/indexing/at.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// Gathering by index arrays along an axis.
NAX_BEGIN
namespace detail {

// An index of any kind as an array; what comes from C++ numbers lies on the host.
template <class I>
auto index_array(const I& index) {
  if constexpr (std::integral<I>) {
    return host_number(static_cast<std::int64_t>(index));
  } else if constexpr (IsVectorOfIntegers<I>::value) {
    return host_numbers<std::int64_t>(index);
  } else {
    return as_array(index);
  }
}

// x[..., positions, ...] on visible axis `axis`; positions are checked already.
template <class T>
Array<T> take_positions(const Array<T>& x, const Array<std::int64_t>& positions, int axis) {
  Selection s = Selection::all(layout_of(x));
  auto step = std::make_shared<GatherStep>();
  step->index = typed<std::int64_t>(beside(x, positions));
  step->axes.push_back(axis);
  for (int a = 0; a < x.ndim(); ++a) {
    if (a != axis) {
      step->x_axis.push_back(a), step->index_axis.push_back(-1);
      continue;
    }
    for (int i = 0; i < positions.ndim(); ++i) step->x_axis.push_back(-1), step->index_axis.push_back(i);
  }
  s.gather = std::move(step);
  return get(x, s);
}

NAX_ENGINE loops::IndexMode index_mode(const char* function, std::string_view mode);

// Indices brought into range: "raise" throws, "wrap" takes them modulo the extent, "clip" the nearest.
template <class I>
Array<std::int64_t> positions_of(const char* function, const Array<I>& index, int axis, std::int64_t extent,
                                 std::string_view mode) {
  static_assert(is_integer_v<I>, "arrays used as indices must be of integer type");
  return wrapped_index(function, index, axis, extent, index_mode(function, mode));
}

}  // namespace detail

struct TakeOptions {
  Axis axis = {};              // of the flattened array when not given
  const char* mode = "raise";  // or "wrap", "clip"
};
// Elements or slices at `indices` (an integer, a vector or an array of any shape) of an axis. The axes of the
// indices take its place. (m, n) with indices (i, j) along axis 1 gives (m, i, j). Throws IndexError if
// `axis` or an index is out of bounds, and ValueError for an unknown mode.
template <detail::ArrayLike X, class I>
auto take(const X& x_, const I& indices, const TakeOptions& options = {}) {
  auto x = detail::as_array(x_);
  detail::check_operand("take", x);
  if (!options.axis.given()) x = detail::reshape_to("take", x, Shape{x.size()});
  const int axis =
      detail::normalize_axis("take", options.axis.given() ? options.axis.list()[0] : 0, x.ndim());
  const auto index = detail::index_array(indices);
  if constexpr (detail::ArrayLike<I>) detail::device_for("take", x, index);  // together
  return detail::take_positions(x, detail::positions_of("take", index, axis, x.shape(axis), options.mode),
                                axis);
}

namespace detail {

// The selection of take_along_axis on x, whose other axes agree with those of the positions.
NAX_ENGINE Selection along_selection(const Frame& x, const Array<std::int64_t>& positions, int axis);

// Both shapes broadcast against each other but for `axis`; sets the shape each must have.
NAX_ENGINE void along_shapes(const char* function, Dims& x, Dims& index, int axis);

}  // namespace detail

// out[i, j, k] = x[i, indices[i, j, k], k] for axis 1: what argsort and argmax return goes in here. The
// result has the shape of `indices`, whose other axes broadcast with those of x. Throws ShapeError if the
// shapes differ beside the axis, and IndexError if `axis` or an index is out of bounds.
template <detail::ArrayLike X, detail::ArrayLike I>
auto take_along_axis(const X& x_, const I& indices_, std::int64_t axis_ = -1) {
  const auto x = detail::as_array(x_);
  const auto indices = detail::as_array(indices_);
  detail::check_operand("take_along_axis", x);
  detail::device_for("take_along_axis", x, indices);  // together
  const int axis = detail::normalize_axis("take_along_axis", axis_, x.ndim());
  Dims own = x.shape(), index = indices.shape();
  detail::along_shapes("take_along_axis", own, index, axis);
  const auto spread = detail::broadcast_visible("take_along_axis", x, own);
  const Array<std::int64_t> positions = detail::broadcast_visible(
      "take_along_axis", detail::checked_index("take_along_axis", indices, axis, x.shape(axis)), index);
  return detail::get(spread, detail::along_selection(detail::layout_of(spread), positions, axis));
}
struct AlongAxisOptions {
  std::int64_t axis = -1;
};
template <detail::ArrayLike X, detail::ArrayLike I>
auto take_along_axis(const X& x, const I& indices, const AlongAxisOptions& options) {
  return take_along_axis(x, indices, options.axis);
}

// A new array: x with `values` (broadcast) where take_along_axis would read. The result has the shape of x.
// Throws ShapeError if the shapes differ beside the axis, and IndexError if `axis` or an index is out of
// bounds.
template <detail::ArrayLike X, detail::ArrayLike I, detail::Operand V>
auto put_along_axis(const X& x_, const I& indices_, const V& values, std::int64_t axis_) {
  using T = typename X::value_type;
  const auto x = detail::as_array(x_);
  const auto indices = detail::as_array(indices_);
  const int axis = detail::normalize_axis("put_along_axis", axis_, x.ndim());
  detail::device_for("put_along_axis", x, indices);  // together
  Dims own = x.shape(), index = indices.shape();
  detail::along_shapes("put_along_axis", own, index, axis);
  if (!(Shape(own) == x.shape())) detail::broadcast_visible("put_along_axis", indices, x.shape());
  const Array<std::int64_t> positions = detail::broadcast_visible(
      "put_along_axis", detail::checked_index("put_along_axis", indices, axis, x.shape(axis)), index);
  const typename AtProxy<T>::Value v(values);
  return detail::update(x, detail::along_selection(detail::layout_of(x), positions, axis), v.get(),
                        detail::Update::set);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/indexing/take-inl.hpp"
#endif
