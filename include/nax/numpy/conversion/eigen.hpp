#pragma once

#include "nax/backend/cpu/eigen_core.hpp"
#include "nax/core/bools.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

// To and from Eigen.
NAX_BEGIN

// A copy: 1-d of an Eigen vector, 2-d of a matrix, of whatever storage order.
template <class Derived>
auto from_eigen(const Eigen::DenseBase<Derived>& matrix) {
  using T = element_t<typename Derived::Scalar>;
  const std::int64_t rows = matrix.rows(), columns = matrix.cols();
  Shape shape{rows, columns};
  if constexpr (Derived::IsVectorAtCompileTime) shape = Shape{rows * columns};
  Array<T> a = detail::typed<T>(detail::allocate_on_host(dtype_of<T>, Frame{shape, {}}));
  using RowMajor = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor>(detail::elements<T>(a), rows, columns) = matrix.derived().array().template cast<T>();
  if constexpr (std::is_same_v<T, bool>) detail::normalize_bools(detail::elements<T>(a), a.nbytes());
  return detail::typed<T>(detail::placed(std::move(a)));
}

// A read-only matrix over the elements of a 0-, 1- or 2-d array, which must outlive it; a 1-d array is a
// column. Throws ShapeError for an array of more than two axes.
template <class T>
auto as_eigen(const Array<T>& a) {
  using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  if (a.ndim() > 2)
    raise<ShapeError>({"as_eigen: only arrays of up to two axes are matrices, shape ", a.shape()});
  const T* data = a.data();
  return Eigen::Map<const RowMajor>(data, a.ndim() > 0 ? a.shape(0) : 1, a.ndim() > 1 ? a.shape(1) : 1);
}

NAX_END
