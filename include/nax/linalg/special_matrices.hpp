#pragma once

#include "nax/linalg/rules.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// SciPy's matrices of a pattern.
NAX_BEGIN
namespace detail {

// A vector is one row, a number one element.
template <class T>
Array<T> as_diagonal_block(const Array<T>& x) {
  check_operand("block_diag", x);
  if (x.ndim() > 2)
    raise<ShapeError>({"block_diag: arrays must have at most 2 dimensions, shape ", x.shape()});
  return with_unit_axes(x, 2 - x.ndim(), false);
}

template <class T>
Array<T> block_diagonal(const std::vector<Array<T>>& list) {
  std::vector<Array<T>> rows, blocks;
  std::int64_t columns = 0, before = 0;
  for (const Array<T>& x : list) blocks.push_back(as_diagonal_block(x)), columns += blocks.back().shape(1);
  for (const Array<T>& x : blocks) {
    const std::int64_t m = x.shape(0), n = x.shape(1);
    const auto zeros_beside = [&](std::int64_t count) {
      return typed<T>(beside(x, filled_on_host<T>("block_diag", Shape{m, count}, T(0))));
    };
    const std::vector<Array<T>> parts{zeros_beside(before), x, zeros_beside(columns - before - n)};
    rows.push_back(concatenate_on("block_diag", parts, 1));
    before += n;
  }
  return rows.empty() ? filled_on_host<T>("block_diag", Shape{1, 0}, T(0))
                      : concatenate_on("block_diag", rows, 0);
}

// The (m, n) matrix of elements of a vector, that at (i, j) being the one at place(i, j).
template <class T, class Place>
Array<T> pattern(const Array<T>& elements_of, std::int64_t m, std::int64_t n, const Place& place) {
  Array<std::int64_t> places = typed<std::int64_t>(allocate_on_host(DType::int64, Frame{Shape{m, n}, {}}));
  std::int64_t* to = elements<std::int64_t>(places);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) *to++ = place(i, j);
  return take_positions(elements_of, places, elements_of.ndim() - 1);
}

template <class T>
Array<T> toeplitz_of(const Array<T>& c, const Array<T>& r) {
  const std::int64_t m = c.shape(-1), n = r.shape(-1);
  // All diagonals, from the lowest: c backwards, then r without its first.
  const Array<T> low = flip(c, {.axis = -1});
  const Array<T> high = n > 0 ? Array<T>(r(ellipsis, slice(1, _))) : r;
  Dims lead_c = c.shape(), lead_r = high.shape();
  lead_c.pop_back(), lead_r.pop_back();
  Frame fc, fr;
  fc.shape = lead_c, fr.shape = lead_r;
  const Dims both = broadcast("toeplitz", fc, fr).shape;
  const auto widened = [&](const Array<T>& x) {
    Dims to = both;
    to.push_back(x.shape(-1));
    return broadcast_visible("toeplitz", x, to);
  };
  const Array<T> diagonals =
      concatenate_on("toeplitz", std::vector<Array<T>>{widened(low), widened(high)}, -1);
  return pattern(diagonals, m, n, [m](std::int64_t i, std::int64_t j) { return m - 1 - i + j; });
}

}  // namespace detail

namespace linalg {

// The matrix with these on its diagonal, one after another, and zeros elsewhere: block_diag(a, b, c). A
// vector is one row, a number one element; types promote. (m, n) and (k, l) give (m + k, n + l). Throws
// ShapeError for an array of more than two axes.
template <detail::ArrayLike... A>
auto block_diag(const A&... a) {
  static_assert(sizeof...(A) > 0, "block_diag: at least one array");
  using T = typename rules::detail::Promote<typename A::value_type...>::type;
  return detail::block_diagonal<T>({detail::as_type<T>(a)...});
}
template <class T>
Array<T> block_diag(const std::vector<Array<T>>& arrays) {
  return detail::block_diagonal<T>(arrays);
}

// Constant along its diagonals: first column c, first row r (whose first element is not read). Without r it
// is the conjugate of c. Leading axes are a batch, and broadcast. c (..., m) and r (..., n) give (..., m, n).
// Throws ShapeError if the leading axes do not broadcast.
template <detail::ArrayLike C, detail::ArrayLike R>
auto toeplitz(const C& c_, const R& r_) {
  using T = promote_t<typename C::value_type, typename R::value_type>;
  const Array<T> c = detail::as_type<T>(c_), r = detail::as_type<T>(r_);
  detail::check_operand("toeplitz", c);
  detail::check_operand("toeplitz", r);
  return detail::toeplitz_of(atleast_1d(c), atleast_1d(r));
}
template <detail::ArrayLike C>
auto toeplitz(const C& c_) {
  using T = typename C::value_type;
  const Array<T> c = detail::materialise(c_);
  detail::check_operand("toeplitz", c);
  const Array<T> column = atleast_1d(c);
  return detail::toeplitz_of(column, detail::la::conjugated(column));
}

}  // namespace linalg
NAX_END
