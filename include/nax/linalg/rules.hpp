#pragma once

#include <memory>

#include "nax/linalg/matrices.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/indexing/diagonal.hpp"
#include "nax/numpy/indexing/indexing.hpp"
#include "nax/transform/differentiate.hpp"

// Shared by factorisations: runs a kernel over a batch of matrices, with derivatives that are written
// once, as a tangent.
NAX_BEGIN
namespace detail {
namespace la {

// Short names for what the formulas are made of. Each computes: the set of expressions stays small.
template <class T>
Array<T> plus(const Array<T>& x, const Array<T>& y) {
  return evaluate(make_expr<rules::add>(x, y));
}
template <class T>
Array<T> minus(const Array<T>& x, const Array<T>& y) {
  return evaluate(make_expr<rules::subtract>(x, y));
}
template <class T>
Array<T> times(const Array<T>& x, const Array<T>& y) {
  return evaluate(make_expr<rules::multiply>(x, y));
}
template <class T>
Array<T> over(const Array<T>& x, const Array<T>& y) {
  return evaluate(make_expr<rules::divide>(x, y));
}
template <class T>
Array<T> product(const Array<T>& x, const Array<T>& y) {
  return matmul_arrays("linalg", x, y);
}
template <class T>
Array<T> product(const Array<T>& x, const Array<T>& y, const Array<T>& z) {
  return product(product(x, y), z);
}
template <class T>
Array<T> conjugated(const Array<T>& x) {
  if constexpr (is_complex_v<T>)
    return evaluate(make_expr<rules::conjugate>(x));
  else
    return x;
}
template <class T>
Array<T> adjoint(const Array<T>& x) {
  return conjugated(matrix_transpose(x));
}
template <class T>
Array<T> halved(const Array<T>& x) {
  return evaluate(make_expr<rules::multiply>(x, typed<T>(host_number(T(real_t<T>(0.5))))));
}
// (x + x^H) / 2
template <class T>
Array<T> hermitian_part(const Array<T>& x) {
  return halved(plus(x, adjoint(x)));
}
template <class T>
Array<real_t<T>> real_part(const Array<T>& x) {
  if constexpr (is_complex_v<T>)
    return evaluate(make_expr<rules::real>(x));
  else
    return x;
}
template <class To, class T>
Array<To> converted(const Array<T>& x) {
  return x.template astype<To>();
}
// Ones on a diagonal, on the device of x.
template <class T>
Array<T> eye_beside(const ArrayBase& x, std::int64_t rows, const EyeOptions& options = {}) {
  return typed<T>(beside(x, eye_on_host<T>(rows, options)));
}
// The diagonals of matrices, as rows; and what has rows x as diagonals.
template <class T>
Array<T> diagonals(const Array<T>& x) {
  return diagonal_view(x, {x.ndim() - 2, x.ndim() - 1, 0});
}
// x with an axis of extent 1 before the last one, or behind it.
template <class T>
Array<T> as_rows(const Array<T>& x) {
  Dims visible = x.shape();
  visible.insert(visible.size() - 1, 1);
  return restride(x, with_visible(layout_of(x), visible));
}
template <class T>
Array<T> as_columns(const Array<T>& x) {
  return with_unit_axes(x, 0, true);
}
// The first rows, or columns, of matrices.
template <class T>
Array<T> first_rows(const Array<T>& x, std::int64_t count) {
  return x.shape(-2) == count ? x : x(ellipsis, slice(0, count), _);
}
template <class T>
Array<T> first_columns(const Array<T>& x, std::int64_t count) {
  return x.shape(-1) == count ? x : x(ellipsis, slice(0, count));
}

// 1 / (w_j - w_i) for i != j, and 0 on the diagonal. Infinite where two are equal.
template <class T>
Array<T> inverse_gaps(const Array<T>& w) {
  const Array<T> one = eye_beside<T>(w, w.shape(-1));
  const Array<T> gaps = plus(minus(as_rows(w), as_columns(w)), one);
  return minus(evaluate(make_expr<rules::reciprocal>(gaps)), one);
}

}  // namespace la

// A result of matrices: the leading axes of `a`, hidden ones too, and these behind them. On its device.
NAX_ENGINE Frame frame_like(const Frame& a, std::initializer_list<std::int64_t> tail);
template <class T>
Array<T> matrices_like(const ArrayBase& a, std::initializer_list<std::int64_t> tail) {
  return typed<T>(allocate(dtype_of<T>, frame_like(layout_of(a), tail), device_for("linalg", a)));
}

// Puts a result on the tape by its tangent: push(t, y) maps a tangent of `a` to the result's, y being the
// result. It is linear in t and written with functions that have derivatives themselves, so the cotangent's
// way, its transpose, need not be written, and every order of derivatives exists.
template <class R, class T, class Push>
Array<R> record_tangent(Array<R> result, const Array<T>& a, Push push) {
  if (!may_be_recorded(a)) return result;
  const Frame frame = layout_of(a);
  const auto pull = [frame, push](const Array<R>& g, const Array<R>& y) {
    return transpose_linear<T>([&](const Array<T>& t) -> Array<R> { return push(t, y); }, frame, g);
  };
  return record_with_result(std::move(result), wrt(a, pull, push));
}

// At the door: matrices of a type that the kernels know, on a device that has factorisations.
template <class T>
void check_matrices(const char* function, const Array<T>& a) {
  static_assert(is_linalg_v<T>, "linalg: the type must be float, double or complex");
  check_operand(function, a);
  if (a.ndim() < 2) raise<ShapeError>({function, ": the array must be at least 2-d, shape ", a.shape()});
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE Frame frame_like(const Frame& a, std::initializer_list<std::int64_t> tail) {
  Frame frame = leading_axes(a);
  for (std::int64_t extent : tail) frame.shape.push_back(extent);
  count_elements("linalg", frame.shape);
  return frame;
}

}  // namespace detail
NAX_END
#endif
