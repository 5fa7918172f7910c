#pragma once

#include "nax/numpy/products/dot.hpp"

// Products of matrices and vectors whose other axes broadcast.
NAX_BEGIN
namespace detail {

template <class T>
void check_matrix_and_vector(const char* function, const Array<T>& matrix, const Array<T>& vector) {
  check_operand(function, matrix);
  check_operand(function, vector);
  if (matrix.ndim() < 2)
    raise<ShapeError>({function, ": the matrix must be at least 2-d, shape ", matrix.shape()});
  if (vector.ndim() < 1) raise<ShapeError>({function, ": the vector must be at least 1-d"});
}

}  // namespace detail

// x1 (..., M, N) times the vectors x2 (..., N): (..., M). Throws ShapeError where N or the leading axes
// disagree.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto matvec(const X& x1_, const Y& x2_) {
  using R = detail::product_type_t<X, Y>;
  const Array<R> x1 = detail::as_type<R>(x1_), x2 = detail::as_type<R>(x2_);
  detail::check_matrix_and_vector("matvec", x1, x2);
  if (x1.shape(-1) != x2.shape(-1)) detail::throw_inner("matvec", x1.shape(), x2.shape());
  const Array<R> product = detail::matmul_arrays<R>("matvec", x1, expand_dims(x2, -1));
  Dims shape = product.shape();
  shape.pop_back();
  return detail::reshape_to("matvec", product, shape);
}
// The vectors x1 (..., M), conjugated, times x2 (..., M, N): (..., N). Throws ShapeError if the inner extents
// differ, the vector is 0-d or the matrix has less than two axes.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto vecmat(const X& x1_, const Y& x2_) {
  using R = detail::product_type_t<X, Y>;
  Array<R> x1 = detail::as_type<R>(x1_);
  const Array<R> x2 = detail::as_type<R>(x2_);
  detail::check_matrix_and_vector("vecmat", x2, x1);
  if (x1.shape(-1) != x2.shape(-2)) detail::throw_inner("vecmat", x1.shape(), x2.shape());
  if constexpr (is_complex_v<R>) x1 = detail::evaluate(detail::make_expr<rules::conjugate>(x1));
  const Array<R> product = detail::matmul_arrays<R>("vecmat", expand_dims(x1, -2), x2);
  Dims shape = product.shape();
  shape.erase(shape.size() - 2);
  return detail::reshape_to("vecmat", product, shape);
}

NAX_END
