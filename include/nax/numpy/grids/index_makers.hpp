#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/indexing/index_arrays.hpp"
#include "nax/numpy/sorting/nonzero.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// Index arrays from nothing: of grids, diagonals and triangles, and between indices and places in a flattened
// array. Indices are int32, as everywhere; where a shape has more than 2^31 elements ask for
// ravel_multi_index<std::int64_t> and the like.
NAX_BEGIN
namespace detail {

template <class T>
constexpr void check_index_type(const char* function, std::int64_t most) {
  static_assert(is_integer_v<T>, "indices are integers");
  if (most > 0 &&
      static_cast<std::uint64_t>(most - 1) > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
    raise<ValueError>({function, ": ", dtype_name(dtype_of<T>), " does not hold indices up to ", most - 1});
}

// The index along `axis` of a grid, as an array that has this axis only and others of extent 1.
template <class T>
Array<T> open_index(const char* function, const Shape& grid, std::size_t axis) {
  check_index_type<T>(function, grid[axis]);
  Dims shape(grid.size(), 1);
  shape[axis] = grid[axis];
  return reshape_to(
      function, generated<T>(function, grid[axis], [](std::int64_t i) { return static_cast<T>(i); }), shape);
}

// Row and column of the places of an n x m matrix on the k-th diagonal and below it, or above it.
NAX_ENGINE std::vector<Array<std::int32_t>> triangle_indices(const char* function, std::int64_t n,
                                                             std::int64_t m, std::int64_t k, bool below);

NAX_ENGINE void check_matrix(const char* function, const Shape& shape);

}  // namespace detail

// The indices of a grid: element [k, i, j, ...] of the result is that of i, j, ... which stands at place k.
// Shape (ndim, *dimensions). Throws ValueError if an extent is negative or the array is too big.
template <Dtype T = std::int32_t>
Array<T> indices(const Shape& dimensions) {
  detail::count_elements("indices", dimensions);
  std::vector<Array<T>> all;
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis)
    all.push_back(
        detail::broadcast_visible("indices", detail::open_index<T>("indices", dimensions, axis), dimensions));
  if (all.empty()) return zeros<T>({0});
  return detail::stack_on("indices", all, 0);
}
// NumPy's indices(dimensions, sparse=True): one array an axis, which has that axis and others of extent 1.
// Array k has shape (1, ..., n, ..., 1), n = dimensions[k].
template <Dtype T = std::int32_t>
std::vector<Array<T>> sparse_indices(const Shape& dimensions) {
  std::vector<Array<T>> all;
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis)
    all.push_back(detail::open_index<T>("indices", dimensions, axis));
  return all;
}

namespace detail {

template <class I>
struct GridIndex {
  using type = I;
};
template <>
struct GridIndex<bool> {
  using type = std::int32_t;
};
template <class X>
struct GridIndexOf {
  using type = typename X::value_type;
};
template <class X>
using grid_index_t = typename GridIndex<typename GridIndexOf<X>::type>::type;

inline Array<bool> grid_argument(const std::vector<bool>& x) { return host_numbers<bool>(x); }
template <class X>
auto grid_argument(const X& x) {
  return index_array(x);
}
template <class T, class X>
Array<T> grid_index(const X& x_, std::size_t axis, std::size_t ndim) {
  const auto x = grid_argument(x_);
  using I = typename std::remove_cvref_t<decltype(x)>::value_type;
  if (x.ndim() != 1) raise<ValueError>({"ix_: each argument must be 1-d, shape ", x.shape()});
  Array<T> index;
  if constexpr (std::is_same_v<I, bool>)
    index = as_type<T>(flatnonzero(x));
  else
    index = as_type<T>(x);
  Dims shape(ndim, 1);
  shape[axis] = index.size();
  return reshape_to("ix_", index, shape);
}

}  // namespace detail

// Index arrays that take the grid of these rows, columns, ...: `const auto [i, j] = ix_(rows, columns); x(i,
// j)`. Arguments are 1-d arrays or vectors of integers; of a mask its true places. Array k of n arguments has
// shape (1, ..., m, ..., 1), m places along axis k of n axes. Throws ValueError unless each argument is 1-d.
template <class... X>
auto ix_(const X&... x) {
  using T = rules::promote_all_t<detail::grid_index_t<X>...>;
  static_assert(is_integer_v<T>, "ix_: integers or truth values");
  std::size_t axis = 0;
  return std::array<Array<T>, sizeof...(X)>{detail::grid_index<T>(x, axis++, sizeof...(X))...};
}

struct DiagIndicesOptions {
  int ndim = 2;
};
// The indices of the main diagonal of an array of `ndim` axes of extent n. Each has shape (n,). Throws
// ValueError if `n` or `ndim` is negative.
NAX_ENGINE std::vector<Array<std::int32_t>> diag_indices(std::int64_t n,
                                                         const DiagIndicesOptions& options = {});
// Makes the indices of an array's main diagonal. Its axes, two or more, must be equally long. Each has shape
// (n,) for the extent n. Throws ValueError unless the array is at least 2-d with equal extents.
template <detail::ArrayLike X>
std::vector<Array<std::int32_t>> diag_indices_from(const X& x) {
  const Shape shape = x.shape();
  if (shape.size() < 2)
    raise<ValueError>({"diag_indices_from: input array must be at least 2-d, shape ", shape});
  for (const std::int64_t n : shape)
    if (n != shape[0])
      raise<ValueError>(
          {"diag_indices_from: all dimensions of input must be of equal length, shape ", shape});
  return diag_indices(shape[0], {.ndim = static_cast<int>(shape.size())});
}

struct TriangleIndicesOptions {
  std::int64_t k = 0;                  // the diagonal: above the main one where positive
  std::optional<std::int64_t> m = {};  // columns; as many as rows when not given
};
// Rows and columns of the places at and below (tril), or at and above (triu), diagonal k of an n x m matrix.
// Each has shape (count,). Throws ValueError if an extent is negative or the array is too big.
NAX_ENGINE std::vector<Array<std::int32_t>> tril_indices(std::int64_t n,
                                                         const TriangleIndicesOptions& options = {});
// The indices of the upper triangle of an n x m matrix. Each has shape (count,). Throws ValueError if an
// extent is negative or the array is too big.
NAX_ENGINE std::vector<Array<std::int32_t>> triu_indices(std::int64_t n,
                                                         const TriangleIndicesOptions& options = {});
// The indices of the lower triangle of a matrix like x. Each has shape (count,). Throws ValueError unless the
// array is 2-d.
template <detail::ArrayLike X>
std::vector<Array<std::int32_t>> tril_indices_from(const X& x, const DiagOptions& options = {}) {
  detail::check_matrix("tril_indices_from", x.shape());
  return tril_indices(x.shape()[0], {.k = options.k, .m = x.shape()[1]});
}
// The indices of the upper triangle of a matrix like x. Each has shape (count,). Throws ValueError unless the
// array is 2-d.
template <detail::ArrayLike X>
std::vector<Array<std::int32_t>> triu_indices_from(const X& x, const DiagOptions& options = {}) {
  detail::check_matrix("triu_indices_from", x.shape());
  return triu_indices(x.shape()[0], {.k = options.k, .m = x.shape()[1]});
}

namespace detail {

// The argument that mask_indices passes to a mask function: options for tril and triu, or the number k.
struct Diagonal : DiagOptions {
  operator std::int64_t() const { return k; }
};

}  // namespace detail

// Rows and columns where mask_func(ones of shape (n, n), k) is not zero. mask_func takes an int32 array, and
// k as a number or as options, or not at all: [](const auto& m, auto k) { return triu(m, {.k = k}); }. It
// returns an array or an expression of that shape. Each has shape (count,). Throws ValueError if `n` is
// negative or the mask is not 2-d.
template <class F>
std::vector<Array<std::int32_t>> mask_indices(std::int64_t n, const F& mask_func,
                                              const DiagOptions& options = {}) {
  if (n < 0) raise<ValueError>({"mask_indices: n must not be negative, got ", n});
  const Array<std::int32_t> whole = ones<std::int32_t>({n, n});
  const auto mask = detail::as_array([&] {
    if constexpr (std::is_invocable_v<const F&, const Array<std::int32_t>&, const detail::Diagonal&>)
      return mask_func(whole, detail::Diagonal{options});
    else
      return mask_func(whole);
  }());
  detail::check_matrix("mask_indices", mask.shape());
  return nonzero(mask);
}

// How a place outside is taken ("raise", "wrap", "clip"), and which axis is walked first ("C": the last).
struct RavelOptions {
  std::string_view mode = "raise";
  std::string_view order = "C";
};
struct UnravelOptions {
  std::string_view order = "C";
};

namespace detail {

NAX_ENGINE bool is_c_order(const char* function, std::string_view order);

// Throws where an index is outside [0, extent): negative ones do not count from the end here, as in NumPy.
template <class I>
void check_within(const char* function, const Array<I>& index, std::int64_t extent) {
  check_operand(function, index);
  provide_extremes<I>();
  check_integers(function, index, extent, [=](std::int64_t at) {
    raise<ValueError>({function, ": index ", at, " is out of bounds for size ", extent});
  });
}

template <class T, class I>
Array<T> ravelled(const std::vector<Array<I>>& index, const Shape& dims, const RavelOptions& options) {
  const char* const function = "ravel_multi_index";
  if (index.size() != dims.size() || index.empty())
    raise<ValueError>({function, ": the number of index arrays, ", index.size(),
                       ", must be that of the dimensions ", dims, ", and not 0"});
  check_index_type<T>(function, count_elements(function, dims));
  const bool c_order = is_c_order(function, options.order);
  Array<T> place(T(0));
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const std::size_t axis = c_order ? k : dims.size() - 1 - k;
    if (options.mode == "raise") check_within(function, index[axis], dims[axis]);
    const Array<T> at =
        as_type<T>(positions_of(function, index[axis], static_cast<int>(axis), dims[axis], options.mode));
    place = place * static_cast<T>(dims[axis]) + at;
  }
  return place;
}

}  // namespace detail

// The place of element [i, j, ...] in the flattened array of shape `dims`: ravel_multi_index({i, j}, {3, 4}).
// The indices are integers or arrays of them, and broadcast. The result has the shape to which the indices
// broadcast. Throws ValueError for one outside, which .mode may bring inside instead.
template <Dtype T = std::int32_t, class X>
Array<T> ravel_multi_index(const std::vector<X>& multi_index, const Shape& dims,
                           const RavelOptions& options = {}) {
  using I = typename decltype(detail::index_array(multi_index[0]))::value_type;
  static_assert(is_integer_v<I>, "ravel_multi_index: the indices must be integers");
  std::vector<Array<I>> all;
  for (const X& x : multi_index) all.push_back(detail::typed<I>(detail::placed(detail::index_array(x))));
  return detail::ravelled<T>(all, dims, options);
}
template <Dtype T = std::int32_t, class X>
Array<T> ravel_multi_index(std::initializer_list<X> multi_index, const Shape& dims,
                           const RavelOptions& options = {}) {
  return nax::ravel_multi_index<T>(std::vector<X>(multi_index), dims, options);
}

// The other way: for places in the flattened array of this shape one index array an axis. Each has the shape
// of `indices`. Throws ValueError for a place outside.
template <Dtype T = std::int32_t, class X>
std::vector<Array<T>> unravel_index(const X& indices, const Shape& shape,
                                    const UnravelOptions& options = {}) {
  const auto places = detail::index_array(indices);
  using I = typename decltype(places)::value_type;
  static_assert(is_integer_v<I>, "unravel_index: the indices must be integers");
  const std::int64_t count = detail::count_elements("unravel_index", shape);
  detail::check_within("unravel_index", places, count);
  const bool c_order = detail::is_c_order("unravel_index", options.order);
  std::vector<Array<T>> out(shape.size());
  detail::where_used_t<Array<std::int64_t>, T> rest = detail::as_type<std::int64_t>(places);
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::size_t axis = c_order ? shape.size() - 1 - k : k;
    detail::check_index_type<T>("unravel_index", shape[axis]);
    out[axis] = detail::as_type<T>(rest % shape[axis]);
    rest = floor_divide(rest, shape[axis]);
  }
  return out;
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/grids/index_makers-inl.hpp"
#endif
