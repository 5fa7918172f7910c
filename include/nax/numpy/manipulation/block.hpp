#pragma once

#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/reduce.hpp"
#include "nax/numpy/views/transpose.hpp"

// Arrays put together from blocks.
NAX_BEGIN
namespace detail {

// Leading axes of extent 1 up to `ndim` axes.
template <class T>
Array<T> with_axes(const char* function, const Array<T>& x, int ndim) {
  Dims shape;
  for (int axis = x.ndim(); axis < ndim; ++axis) shape.push_back(1);
  for (const std::int64_t n : x.shape()) shape.push_back(n);
  return reshape_to(function, x, shape);
}
// The blocks one behind the other on an axis counted from the end.
template <class T>
Array<T> join_blocks(std::vector<Array<T>> blocks, int depth, int axis) {
  if (blocks.empty()) throw ValueError("block: lists must not be empty");
  int ndim = depth;
  for (const Array<T>& x : blocks) ndim = x.ndim() > ndim ? x.ndim() : ndim;
  for (Array<T>& x : blocks) x = with_axes("block", x, ndim);
  return concatenate_on("block", blocks, axis);
}
// The element type at the bottom of vectors of vectors, and how deep it lies.
template <class X>
struct BlockOf {
  using type = typename decltype(as_array(std::declval<const X&>()))::value_type;
  static constexpr int depth = 0;
};
template <class X>
struct BlockOf<std::vector<X>> {
  using type = typename BlockOf<X>::type;
  static constexpr int depth = BlockOf<X>::depth + 1;
};

template <class X>
auto block_of(const X& x, int) {
  return as_array(x);
}
template <class X>
auto block_of(const std::vector<X>& list, int depth) {
  std::vector<Array<typename BlockOf<X>::type>> blocks;
  for (const X& x : list) blocks.push_back(block_of(x, depth));
  return join_blocks(std::move(blocks), depth, -BlockOf<X>::depth - 1);
}

// Braces of arrays and expressions have no type to deduce, as those of concatenate.
template <class T>
struct BlockOverload {
  Array<T> operator()(std::initializer_list<Array<T>> row) const {
    return block_of(std::vector<Array<T>>(row), 1);
  }
  Array<T> operator()(std::initializer_list<std::initializer_list<Array<T>>> rows) const {
    return block_of(std::vector<std::vector<Array<T>>>(rows.begin(), rows.end()), 2);
  }
};
template <class... T>
struct BlockOverloads : BlockOverload<T>... {
  using BlockOverload<T>::operator()...;
  template <class X>
  auto operator()(const std::vector<X>& list) const {
    return block_of(list, BlockOf<std::vector<X>>::depth);
  }
  template <ArrayLike X>
  auto operator()(const X& x) const {
    return as_array(x);
  }
};

}  // namespace detail

// block({{a, b}, {c, d}}): the blocks of a row side by side on the last axis, the rows one below the other on
// the last but one; block({a, b}) is one row; vectors may nest deeper, one axis a level. The blocks are
// arrays or expressions of one element type; what lacks axes gets leading ones. Along each of these axes the
// result is as long as the blocks together: (m, n) and (m, k) side by side give (m, n + k). Throws ShapeError
// where blocks do not fit.
inline constexpr detail::BlockOverloads<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                        std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, half,
                                        bfloat16, float, double, std::complex<float>, std::complex<double>>
    block{};

struct RollaxisOptions {
  std::int64_t start = 0;
};
// The axis moved back until it lies before the one that is `start` now; start may be ndim, for the end. A
// view of the shape of x in that order. Throws IndexError if `axis` or `start` is out of bounds.
template <detail::ArrayLike X>
auto rollaxis(const X& x_, std::int64_t axis_, const RollaxisOptions& options = {}) {
  const auto& x = detail::materialise(x_);
  const int ndim = x.ndim();
  const std::int64_t axis = detail::normalize_axis("rollaxis", axis_, ndim);
  std::int64_t start = options.start;
  if (start < -ndim || start > ndim)
    raise<IndexError>({"rollaxis: start ", start, " is out of bounds for array of dimension ", ndim});
  if (start < 0) start += ndim;
  if (axis < start) --start;
  return moveaxis(x, axis, start);
}

// func(x, axis) for one axis after the other; what func takes away is put back with extent 1, as keepdims
// does. The result has the shape of x with extent 1 along axes that func reduces. Throws ValueError where
// func gives neither as many axes as it got nor one less.
template <class F, detail::ArrayLike X>
auto apply_over_axes(const F& func, const X& x_, const Axis& axes) {
  using T = typename decltype(detail::as_array(
      func(std::declval<const Array<typename X::value_type>&>(), std::int64_t{})))::value_type;
  const auto x = detail::as_array(x_);
  const auto step = [&](const auto& y, std::int64_t axis) -> Array<T> {
    const Array<T> next = detail::as_type<T>(detail::as_array(func(y, axis)));
    if (next.ndim() == y.ndim()) return next;
    const Array<T> kept = next.ndim() + 1 == y.ndim() ? expand_dims(next, axis) : next;
    if (kept.ndim() != y.ndim())
      throw ValueError("apply_over_axes: function is not returning an array of the correct shape");
    return kept;
  };
  const Dims list = axes.list();
  if (list.empty()) {
    if constexpr (std::is_same_v<T, typename X::value_type>)
      return x;
    else
      return x.template astype<T>();
  }
  Array<T> y = step(x, detail::normalize_axis("apply_over_axes", list[0], x.ndim()));
  for (std::size_t i = 1; i < list.size(); ++i)
    y = step(y, detail::normalize_axis("apply_over_axes", list[i], x.ndim()));
  return y;
}

NAX_END
