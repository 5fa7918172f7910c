#pragma once

#include "nax/numpy/grids/index_makers.hpp"

// Grids by slices, functions over grids, and short ways to join.
NAX_BEGIN
namespace detail {

NAX_ENGINE Array<std::int32_t> grid_line(const char* function, const Slice& s);
template <class... S>
std::vector<Array<std::int32_t>> grid_lines(const char* function, const S&... slices) {
  std::vector<Array<std::int32_t>> lines{grid_line(function, slices)...};
  for (std::size_t k = 0; k < lines.size(); ++k) {
    Dims shape(lines.size(), 1);
    shape[k] = lines[k].size();
    lines[k] = reshape_to(function, lines[k], shape);
  }
  return lines;
}

// An operand of r_ and c_: slices are ranges.
template <class X>
auto joined_operand(const char* function, const X& x) {
  if constexpr (std::is_same_v<X, Slice>)
    return grid_line(function, x);
  else
    return as_array(x);
}
template <class T, class X>
Array<T> as_column_of(const Array<X>& x) {
  const Array<T> y = as_type<T>(x);
  return y.ndim() < 2 ? reshape_to("c_", y, Shape{y.size(), 1}) : y;
}

}  // namespace detail

// NumPy's mgrid[0:3, 0:2] is mgrid(slice(0, 3), slice(0, 2)): the index of each axis over the whole grid, one
// array of shape (axes, ...). int32. Throws ValueError for a slice without an end.
template <class... S>
requires(std::is_same_v<S, Slice>&&...) Array<std::int32_t> mgrid(const S&... slices) {
  const auto lines = detail::grid_lines("mgrid", slices...);
  return detail::stack_on("mgrid", broadcast_arrays(lines), 0);
}
// ogrid[0:3, 0:2]: one array an axis, which broadcast to the grid.
template <class... S>
requires(std::is_same_v<S, Slice>&&...) std::vector<Array<std::int32_t>> ogrid(const S&... slices) {
  return detail::grid_lines("ogrid", slices...);
}

// r_[a, 0, 1:4] is r_(a, 0, slice(1, 4)): arrays, numbers and ranges one behind the other on the first axis.
// Arrays of shape (m, ...) and (n, ...) give (m + n, ...). Throws ValueError for a slice without an end, and
// ShapeError if the arrays do not fit.
template <class... X>
auto r_(const X&... x) {
  return [](const auto&... a) {
    using T = rules::promote_all_t<typename std::remove_cvref_t<decltype(a)>::value_type...>;
    return detail::concatenate_on("r_", std::vector{detail::as_type<T>(atleast_1d(a))...}, 0);
  }(detail::joined_operand("r_", x)...);
}
// c_[a, b]: on the last axis, 1-d arrays as columns. Arrays of shape (n,) give (n, k) for k of them; (m, n)
// and (m, k) give (m, n + k). Throws ValueError for a slice without an end, and ShapeError if the arrays do
// not fit.
template <class... X>
auto c_(const X&... x) {
  return [](const auto&... a) {
    using T = rules::promote_all_t<typename std::remove_cvref_t<decltype(a)>::value_type...>;
    return detail::concatenate_on("c_", std::vector{detail::as_column_of<T>(a)...}, -1);
  }(detail::joined_operand("c_", x)...);
}

namespace detail {

template <class F, class T, class Indices>
struct TakesIndices;
template <class F, class T, std::size_t... i>
struct TakesIndices<F, T, std::index_sequence<i...>> {
  template <std::size_t>
  using Each = const Array<T>&;
  static constexpr bool value = std::is_invocable_v<const F&, Each<i>...>;
};
template <class F, class T, std::size_t n>
inline constexpr bool takes_indices = TakesIndices<F, T, std::make_index_sequence<n>>::value;
// The smallest number of index arrays that f takes.
template <class F, class T, std::size_t n = 0>
constexpr std::size_t indices_taken() {
  if constexpr (takes_indices<F, T, n>)
    return n;
  else if constexpr (n < 8)
    return indices_taken<F, T, n + 1>();
  else
    return 9;
}

}  // namespace detail

// f(i, j, ...) over the indices of an array of this shape, as arrays of that shape of type T (float as in
// NumPy). f takes as many as there are axes; what it returns is broadcast to the shape. Throws ValueError
// unless the function takes as many indices as the shape has axes.
template <Dtype T = float, class F>
auto fromfunction(const F& function, const Shape& shape) {
  constexpr std::size_t n = detail::indices_taken<F, T>();
  static_assert(n <= 8, "fromfunction: the function must take index arrays, one an axis, at most 8");
  if (shape.size() != n)
    raise<ValueError>({"fromfunction: the function takes ", n, " indices, shape ", shape});
  std::vector<Array<T>> index;
  for (std::size_t axis = 0; axis < n; ++axis)
    index.push_back(detail::broadcast_visible(
        "fromfunction", detail::as_type<T>(detail::open_index<std::int64_t>("fromfunction", shape, axis)),
        shape));
  const auto y = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return detail::as_array(function(index[i]...));
  }
  (std::make_index_sequence<n>{});
  return y.ndim() < static_cast<int>(n) ? detail::broadcast_visible("fromfunction", y, shape) : y;
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE Array<std::int32_t> grid_line(const char* function, const Slice& s) {
  if (s.stop.open) raise<ValueError>({function, ": a slice must have an end"});
  const std::int64_t start = s.start.open ? 0 : s.start.value, step = s.step.open ? 1 : s.step.value;
  return arange<std::int32_t>(start, s.stop.value, step);
}

}  // namespace detail
NAX_END
#endif
