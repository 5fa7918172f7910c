#pragma once

#include "nax/linalg/solve.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/products/dot.hpp"
#include "nax/numpy/sequences/convolve.hpp"

// Products of several matrices, and those that have a form of their own in linalg.
NAX_BEGIN
namespace detail {

// The cheapest order of a chain of products (Cormen et al.): cut[i][j] is where the product of matrices i to
// j is split. `extents`: the rows of the first, then the columns of all.
NAX_ENGINE std::vector<std::vector<std::size_t>> best_cuts(const std::vector<double>& extents);

template <class T>
Array<T> chain(const std::vector<Array<T>>& list, const std::vector<std::vector<std::size_t>>& cut,
               std::size_t i, std::size_t j) {
  if (i == j) return list[i];
  return matmul_arrays("multi_dot", chain(list, cut, i, cut[i][j]), chain(list, cut, cut[i][j] + 1, j));
}

struct MultiDot {
  using Options = NoOptions;
  template <class T>
  static Array<T> call(const std::vector<Array<T>>& list, const Options&) {
    if (list.size() < 2) throw ValueError("multi_dot: expecting at least two arrays");
    std::vector<double> extents;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Array<T>& x = list[i];
      check_operand("multi_dot", x);
      const bool end = i == 0 || i + 1 == list.size();
      if (x.ndim() != 2 && !(end && x.ndim() == 1))
        raise<ShapeError>({"multi_dot: array ", static_cast<std::int64_t>(i), " must be 2-d",
                           end ? " or 1-d" : "", ", shape ", x.shape()});
      if (i > 0 && list[i - 1].shape(-1) != x.shape(0))
        throw_inner("multi_dot", list[i - 1].shape(), x.shape());
      if (i == 0) extents.push_back(x.ndim() == 1 ? 1.0 : static_cast<double>(x.shape(0)));
      extents.push_back(x.ndim() == 1 && i > 0 ? 1.0 : static_cast<double>(x.shape(-1)));
    }
    return chain(list, best_cuts(extents), 0, list.size() - 1);
  }
};

}  // namespace detail

namespace linalg {

using nax::cross;
using nax::matmul;
using nax::matrix_transpose;
using nax::tensordot;
using nax::vecdot;

// The product of a chain of matrices, in the order that takes the fewest multiplications: multi_dot({a, b,
// c}), of several element types as concatenate. The first and the last may be vectors. The result has shape
// (m, n), without the axis of an end that is a vector. Throws ValueError for less than two arrays, and
// ShapeError for those of another number of axes or if their extents do not fit.
inline constexpr nax::detail::PromotingListFunction<nax::detail::MultiDot> multi_dot{};

// x[i] * y[j], of vectors. (m,) and (n,) give (m, n). Throws ValueError unless both arrays are 1-d.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto outer(const X& x_, const Y& y_) {
  const auto &x = detail::materialise(x_), &y = detail::materialise(y_);
  if (x.ndim() != 1 || y.ndim() != 1)
    raise<ValueError>({"outer: both arrays must be 1-d, shapes ", x.shape(), " and ", y.shape()});
  return nax::outer(x, y);
}

struct OffsetOptions {
  std::int64_t offset = 0;  // above the main diagonal where positive
};
// The diagonals of the matrices in the last two axes, as the last axis. (..., m, n) gives (..., k), k =
// min(m, n) for offset 0. Throws ValueError for an array of less than two axes.
template <detail::ArrayLike X>
auto diagonal(const X& x, const OffsetOptions& options = {}) {
  return nax::diagonal(x, {.offset = options.offset, .axis1 = -2, .axis2 = -1});
}
// The sums of these diagonals. (..., m, n) gives (...). Throws ValueError for an array of less than two axes.
template <detail::ArrayLike X>
auto trace(const X& x, const OffsetOptions& options = {}) {
  return nax::trace(x, {.offset = options.offset, .axis1 = -2, .axis2 = -1});
}

struct TensorsolveOptions {
  Axis axes = {};  // of a, moved to the end beforehand
};
// The x with tensordot(a, x, x.ndim()) = b. x has the shape of the axes of a behind those of b: a (m, n, k)
// and b (m,) give (n, k), m = n k. Throws ShapeError where a is not square in that sense.
template <detail::ArrayLike A, detail::ArrayLike B>
auto tensorsolve(const A& a_, const B& b_, const TensorsolveOptions& options = {}) {
  using R = promote_t<detail::linalg_t<A>, detail::linalg_t<B>>;
  Array<R> a = detail::as_type<R>(a_);
  const Array<R> b = detail::as_type<R>(b_);
  detail::check_operand("tensorsolve", a);
  detail::check_operand("tensorsolve", b);
  if (options.axes.given()) {
    const Dims moved = detail::normalize_axes("tensorsolve", options.axes, a.ndim());
    Dims order;
    for (int axis = 0; axis < a.ndim(); ++axis)
      if (std::find(moved.begin(), moved.end(), axis) == moved.end()) order.push_back(axis);
    order.append(moved.begin(), moved.end());
    a = detail::permute(a, order);
  }
  if (b.ndim() > a.ndim())
    raise<ShapeError>({"tensorsolve: b has more axes than a: ", b.shape(), " and ", a.shape()});
  Dims shape;
  std::int64_t n = 1;
  for (int axis = b.ndim(); axis < a.ndim(); ++axis) shape.push_back(a.shape(axis)), n *= a.shape(axis);
  if (n != b.size() || a.size() != n * n)
    raise<ShapeError>({"tensorsolve: the product of a's first axes, those of b, must be that of its others: ",
                       a.shape(), " and ", b.shape()});
  const Array<R> x = detail::solve_arrays<R>("tensorsolve", detail::reshape_to("tensorsolve", a, Shape{n, n}),
                                             detail::reshape_to("tensorsolve", b, Shape{n}));
  return detail::reshape_to("tensorsolve", x, shape);
}

struct TensorinvOptions {
  std::int64_t ind = 2;
};
// The inverse of a with regard to tensordot(., ., ind): its axes are a's from `ind` on, then the first `ind`.
// (m, n, k) with ind 2 gives (k, m, n). Throws ValueError if `ind` is not positive or too large, and
// ShapeError unless the two groups of axes have equal sizes.
template <detail::ArrayLike A>
auto tensorinv(const A& a_, const TensorinvOptions& options = {}) {
  using R = detail::linalg_t<A>;
  const Array<R> a = detail::as_type<R>(a_);
  detail::check_operand("tensorinv", a);
  if (options.ind <= 0) raise<ValueError>({"tensorinv: ind must be positive, got ", options.ind});
  if (options.ind > a.ndim())
    raise<ValueError>({"tensorinv: ind = ", options.ind, " is beyond the axes of shape ", a.shape()});
  Dims shape;
  std::int64_t n = 1, m = 1;
  for (int axis = static_cast<int>(options.ind); axis < a.ndim(); ++axis)
    shape.push_back(a.shape(axis)), n *= a.shape(axis);
  for (int axis = 0; axis < options.ind; ++axis) shape.push_back(a.shape(axis)), m *= a.shape(axis);
  if (n != m)
    raise<ShapeError>({"tensorinv: the product of the first ", options.ind,
                       " axes must be that of the others, shape ", a.shape()});
  const Array<R> square = detail::reshape_to("tensorinv", a, Shape{n, n});
  detail::check_square("tensorinv", square);
  return detail::reshape_to("tensorinv", detail::inverse(square), shape);
}

}  // namespace linalg
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<std::vector<std::size_t>> best_cuts(const std::vector<double>& extents) {
  const std::size_t n = extents.size() - 1;
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<std::size_t>> cut(n, std::vector<std::size_t>(n, 0));
  for (std::size_t length = 2; length <= n; ++length)
    for (std::size_t i = 0; i + length <= n; ++i) {
      const std::size_t j = i + length - 1;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (std::size_t k = i; k < j; ++k) {
        const double c = cost[i][k] + cost[k + 1][j] + extents[i] * extents[k + 1] * extents[j + 1];
        if (c < cost[i][j]) cost[i][j] = c, cut[i][j] = k;
      }
    }
  return cut;
}

}  // namespace detail
NAX_END
#endif
