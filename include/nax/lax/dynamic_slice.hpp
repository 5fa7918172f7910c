#pragma once

#include <initializer_list>
#include <vector>

#include "nax/lax/branches.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/indexing/take.hpp"

// Slices of a fixed size whose place is computed, also one for each example of a vmap.
NAX_BEGIN
namespace lax {

// Where a slice begins, axis by axis: integers and 0-d arrays in braces, a vector, or an array of one axis.
class StartIndices {
 public:
  class One {
   public:
    template <std::integral I>
    One(I i) : value_(nax::detail::host_number(static_cast<std::int64_t>(i))) {}
    template <nax::detail::ArrayLike X>
    One(const X& x) : value_(nax::detail::scalar_index("dynamic_slice", x)) {}
    const Array<std::int64_t>& get() const { return value_; }

   private:
    Array<std::int64_t> value_;
  };
  StartIndices(std::initializer_list<One> each) {
    for (const One& one : each) starts_.push_back(one.get());
  }
  template <class V>
  StartIndices(const std::vector<V>& each) {
    for (const V& one : each) starts_.push_back(One(one).get());
  }
  template <nax::detail::ArrayLike X>
  StartIndices(const X& x_) {
    const auto x = nax::detail::as_array(x_);
    nax::detail::check_operand("dynamic_slice", x);
    if (x.ndim() != 1)
      raise<ShapeError>({"dynamic_slice: the start indices must be an array of one axis, shape ", x.shape()});
    for (std::int64_t i = 0; i < x.shape(0); ++i) starts_.push_back(One(x(i)).get());
  }
  const std::vector<Array<std::int64_t>>& list() const { return starts_; }

 private:
  std::vector<Array<std::int64_t>> starts_;
};

}  // namespace lax

namespace detail {

// The window of these sizes at `starts`, which are moved so that it fits, as a selection of x.
NAX_ENGINE Selection window_selection(const char* function, const ArrayBase& x,
                                      const std::vector<Array<std::int64_t>>& starts, const Dims& sizes);

// All axes as they are, but one.
template <class T>
std::vector<Array<std::int64_t>> starts_on(const Array<T>& x, int axis, const Array<std::int64_t>& start) {
  std::vector<Array<std::int64_t>> starts(static_cast<std::size_t>(x.ndim()), host_number(std::int64_t{0}));
  starts[static_cast<std::size_t>(axis)] = start;
  return starts;
}

}  // namespace detail

namespace lax {

// The elements of x from start_indices on, slice_sizes of them. Negative starts count from the end; then a
// slice that would reach beyond the array is moved until it fits, as in JAX. The result has the shape
// `slice_sizes`. Throws ShapeError for sizes larger than x.
template <nax::detail::ArrayLike X>
auto dynamic_slice(const X& x_, const StartIndices& start_indices, const Shape& slice_sizes) {
  const auto x = nax::detail::as_array(x_);
  return nax::detail::get(
      x, nax::detail::window_selection("dynamic_slice", x, start_indices.list(), slice_sizes));
}
// x with the elements from start_indices on replaced by those of `update`, placed as dynamic_slice places a
// slice. An array that is moved in, and that no other handle shares, is written in place. The result has the
// shape of x. Throws ValueError unless there is a start for each axis, and ShapeError if the slice does not
// fit.
template <class T, nax::detail::ArrayLike U>
Array<T> dynamic_update_slice(Array<T>&& x, const U& update_, const StartIndices& start_indices) {
  const auto update = nax::detail::as_array(update_);
  static_assert(std::is_same_v<const Array<T>, decltype(update)>,
                "lax::dynamic_update_slice: the update must have the array's type");
  nax::detail::check_operand("dynamic_update_slice", update);
  auto s = nax::detail::window_selection("dynamic_update_slice", x, start_indices.list(), update.shape());
  return nax::detail::update(std::move(x), std::move(s), update, nax::detail::Update::set);
}
template <nax::detail::ArrayLike X, nax::detail::ArrayLike U>
auto dynamic_update_slice(const X& x, const U& update, const StartIndices& start_indices) {
  return dynamic_update_slice(nax::detail::as_array(x), update, start_indices);
}

// Slices one axis; the others are taken whole. The result has the shape of x with extent `slice_size` along
// the axis. Throws IndexError if `axis` is out of bounds, and ShapeError if the slice does not fit.
template <nax::detail::ArrayLike X>
auto dynamic_slice_in_dim(const X& x_, const StartIndices::One& start, std::int64_t size,
                          std::int64_t axis_ = 0) {
  const auto x = nax::detail::as_array(x_);
  const int axis = nax::detail::normalize_axis("dynamic_slice_in_dim", axis_, x.ndim());
  Dims sizes = x.shape();
  sizes[static_cast<std::size_t>(axis)] = size;
  return nax::detail::get(x,
                          nax::detail::window_selection("dynamic_slice_in_dim", x,
                                                        nax::detail::starts_on(x, axis, start.get()), sizes));
}
// The entry at a computed place of one axis, which is kept with extent 1 or dropped. The result has the shape
// of x with extent 1 along the axis, or without it. Throws IndexError if `axis` is out of bounds, and
// ShapeError if the axis is empty.
template <nax::detail::ArrayLike X>
auto dynamic_index_in_dim(const X& x, const StartIndices::One& index, std::int64_t axis = 0,
                          bool keepdims = true) {
  const auto row = dynamic_slice_in_dim(x, index, 1, axis);
  if (keepdims) return row;
  Dims visible = row.shape();
  visible.erase(
      static_cast<std::size_t>(nax::detail::normalize_axis("dynamic_index_in_dim", axis, row.ndim())));
  return nax::detail::reshape_to("dynamic_index_in_dim", row, Shape(visible));
}
// The array with a slice of one axis replaced, from a computed place on; in place as dynamic_update_slice.
// The result has the shape of x. Throws IndexError if `axis` is out of bounds, and ShapeError if the slice
// does not fit.
template <class T, nax::detail::ArrayLike U>
Array<T> dynamic_update_slice_in_dim(Array<T>&& x, const U& update_, const StartIndices::One& start,
                                     std::int64_t axis_) {
  const auto update = nax::detail::as_array(update_);
  const int axis = nax::detail::normalize_axis("dynamic_update_slice_in_dim", axis_, x.ndim());
  auto s = nax::detail::window_selection("dynamic_update_slice_in_dim", x,
                                         nax::detail::starts_on(x, axis, start.get()), update.shape());
  return nax::detail::update(std::move(x), std::move(s), update, nax::detail::Update::set);
}
template <nax::detail::ArrayLike X, nax::detail::ArrayLike U>
auto dynamic_update_slice_in_dim(const X& x, const U& update, const StartIndices::One& start,
                                 std::int64_t axis) {
  return dynamic_update_slice_in_dim(nax::detail::as_array(x), update, start, axis);
}
// `update` may lack the axis. The result has the shape of x. Throws IndexError if `axis` is out of bounds,
// and ShapeError if the axis is empty.
template <nax::detail::ArrayLike X, nax::detail::ArrayLike U>
auto dynamic_update_index_in_dim(const X& x_, const U& update_, const StartIndices::One& index,
                                 std::int64_t axis_) {
  const auto x = nax::detail::as_array(x_);
  auto update = nax::detail::as_array(update_);
  const int axis = nax::detail::normalize_axis("dynamic_update_index_in_dim", axis_, x.ndim());
  if (update.ndim() + 1 == x.ndim()) {
    Dims visible = update.shape();
    visible.insert(static_cast<std::size_t>(axis), 1);
    update = nax::detail::reshape_to("dynamic_update_index_in_dim", update, Shape(visible));
  }
  return dynamic_update_slice_in_dim(x, update, index, axis);
}

}  // namespace lax
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/lax/dynamic_slice-inl.hpp"
#endif
