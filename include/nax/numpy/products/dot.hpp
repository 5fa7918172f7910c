#pragma once

#include <utility>

#include "nax/numpy/elementwise/complex.hpp"
#include "nax/numpy/products/matmul.hpp"
#include "nax/numpy/views/reshape.hpp"

// Products that lower to matmul.
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase tensordot_axes(const char* function, const ArrayBase& a, const ArrayBase& b,
                                    const Dims& of_a, const Dims& of_b);
template <class T>
Array<T> tensordot_axes(const char* function, const Array<T>& a, const Array<T>& b, const Dims& of_a,
                        const Dims& of_b) {
  provide_products<T>();
  return typed<T>(tensordot_axes(function, handle_of(a), handle_of(b), of_a, of_b));
}

template <class X, class Y>
using product_type_t = promote_t<typename X::value_type, typename Y::value_type>;

}  // namespace detail

// NumPy's dot: the inner product of vectors, the matrix product, a product with a 0-d operand, and for more
// axes the sum over the last axis of x and the last but one of y. (m, k) and (k, n) give (m, n), (a, m, k)
// and (b, k, n) give (a, m, b, n). Throws ShapeError if the summed extents differ.
template <detail::Operand X, detail::Operand Y>
requires AnyArray<X, Y>
auto dot(const X& x_, const Y& y_) {
  if constexpr (Scalar<X> || Scalar<Y>) {
    return detail::evaluate(detail::make_expr<rules::multiply>(x_, y_));
  } else {
    using R = detail::product_type_t<X, Y>;
    const Array<R> x = detail::as_type<R>(x_), y = detail::as_type<R>(y_);
    if (x.ndim() == 0 || y.ndim() == 0) return detail::evaluate(detail::make_expr<rules::multiply>(x, y));
    if (y.ndim() <= 2) return detail::matmul_arrays("dot", x, y);
    const Dims last(std::size_t{1}, -1), second(std::size_t{1}, -2);
    return detail::tensordot_axes("dot", x, y, last, second);
  }
}

// The sum over the last axes of both. (m, k) and (n, k) give (m, n), (a, m, k) and (b, n, k) give (a, m, b,
// n). Throws ShapeError if the summed extents differ.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto inner(const X& x_, const Y& y_) {
  using R = detail::product_type_t<X, Y>;
  const Array<R> x = detail::as_type<R>(x_), y = detail::as_type<R>(y_);
  if (x.ndim() == 0 || y.ndim() == 0) return detail::evaluate(detail::make_expr<rules::multiply>(x, y));
  const Dims last(std::size_t{1}, -1);
  return detail::tensordot_axes("inner", x, y, last, last);
}

// The inner product of all elements, x conjugated. A 0-d array. Throws ShapeError where the sizes differ.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto vdot(const X& x_, const Y& y_) {
  using R = detail::product_type_t<X, Y>;
  const Array<R> x = ravel(detail::as_type<R>(x_)), y = ravel(detail::as_type<R>(y_));
  if constexpr (is_complex_v<R>)
    return detail::matmul_arrays<R>("vdot", detail::evaluate(detail::make_expr<rules::conjugate>(x)), y);
  else
    return detail::matmul_arrays("vdot", x, y);
}

struct VecdotOptions {
  std::int64_t axis = -1;
};
// The inner product along one axis, x conjugated; the other axes broadcast. The result has the shape to which
// x and y broadcast, without `axis`. Throws ShapeError if the last extents differ or other axes do not
// broadcast.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto vecdot(const X& x_, const Y& y_, const VecdotOptions& options = {}) {
  using R = detail::product_type_t<X, Y>;
  Array<R> x = moveaxis(detail::as_type<R>(x_), options.axis, -1);
  const Array<R> y = moveaxis(detail::as_type<R>(y_), options.axis, -1);
  if (x.shape(-1) != y.shape(-1)) detail::throw_inner("vecdot", x.shape(), y.shape());
  if constexpr (is_complex_v<R>) x = detail::evaluate(detail::make_expr<rules::conjugate>(x));
  const Array<R> product = matmul(expand_dims(x, -2), expand_dims(y, -1));
  Dims shape = product.shape();
  shape.pop_back();
  shape.pop_back();
  return detail::reshape_to("vecdot", product, shape);
}

// x[i] * y[j] for all elements of both. The result has shape (m, n) for m and n elements. Throws ValueError
// if the array is too big.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto outer(const X& x_, const Y& y_) {
  using R = detail::product_type_t<X, Y>;
  const Array<R> x = detail::as_type<R>(x_), y = detail::as_type<R>(y_);
  detail::count_elements("outer", Shape{x.size(), y.size()});
  return detail::evaluate(
      detail::make_expr<rules::multiply>(detail::reshape_to("outer", x, Shape{x.size(), 1}),
                                         detail::reshape_to("outer", y, Shape{1, y.size()})));
}

// The value of `axes`: how many of the last of x and first of y, or the axes of each: {{1, 0}, {0, 1}}.
class TensordotAxes {
 public:
  template <std::integral I>
  TensordotAxes(I count) : count_(static_cast<int>(count)) {}
  TensordotAxes(const Axis& of_x, const Axis& of_y) : pair_(true), x_(of_x), y_(of_y) {}

  bool is_pair() const { return pair_; }
  int count() const { return count_; }
  const Dims& x() const { return x_.list(); }
  const Dims& y() const { return y_.list(); }

 private:
  int count_ = 2;
  bool pair_ = false;
  Axis x_, y_;
};
struct TensordotOptions {
  TensordotAxes axes = 2;
};
// The sum over pairs of axes, which `axes` names; the axes left are those of x, then those of y. (m, k) and
// (k, n) give (m, n) for one pair. Throws ShapeError if summed extents differ, ValueError if `axes` is out of
// range, and IndexError if a named axis is out of bounds.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto tensordot(const X& x_, const Y& y_, const TensordotOptions& options = {}) {
  using R = detail::product_type_t<X, Y>;
  const Array<R> x = detail::as_type<R>(x_), y = detail::as_type<R>(y_);
  if (options.axes.is_pair())
    return detail::tensordot_axes("tensordot", x, y, options.axes.x(), options.axes.y());
  const int n = options.axes.count();
  if (n < 0 || n > x.ndim() || n > y.ndim())
    raise<ValueError>({"tensordot: axes=", n, " is out of range for shapes ", x.shape(), " and ", y.shape()});
  Dims of_x, of_y;
  for (int i = 0; i < n; ++i) of_x.push_back(x.ndim() - n + i), of_y.push_back(i);
  return detail::tensordot_axes("tensordot", x, y, of_x, of_y);
}

// The Kronecker product; the operand with fewer axes gets leading ones. (m, n) and (k, l) give (m k, n l).
// Throws ValueError if the array is too big.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto kron(const X& x_, const Y& y_) {
  using R = detail::product_type_t<X, Y>;
  const Array<R> x = detail::as_type<R>(x_), y = detail::as_type<R>(y_);
  const int n = std::max(x.ndim(), y.ndim());
  Dims sx, sy, out;
  for (int axis = 0; axis < n; ++axis) {
    const std::int64_t p = axis < n - x.ndim() ? 1 : x.shape(axis - (n - x.ndim()));
    const std::int64_t q = axis < n - y.ndim() ? 1 : y.shape(axis - (n - y.ndim()));
    sx.push_back(p), sx.push_back(1);
    sy.push_back(1), sy.push_back(q);
    out.push_back(detail::multiply_extents(p, q));
  }
  detail::count_elements("kron", out);
  const Array<R> product = detail::evaluate(detail::make_expr<rules::multiply>(
      detail::reshape_to("kron", x, sx), detail::reshape_to("kron", y, sy)));
  return detail::reshape_to("kron", product, out);
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/products/dot-inl.hpp"
#endif
