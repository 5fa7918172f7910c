#pragma once

#include "nax/core/bools.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

// To and from Eigen. Only declares what it takes of it: a file that calls these functions includes
// <Eigen/Core>.
namespace Eigen {
template <class Derived>
class DenseBase;
template <class Scalar, int rows, int columns, int options, int max_rows, int max_columns>
class Matrix;
template <class Scalar, int rows, int columns, int options, int max_rows, int max_columns>
class Array;
template <int outer, int inner>
class Stride;
template <class Plain, int options, class Strides>
class Map;
}  // namespace Eigen

NAX_BEGIN
namespace detail {
// Eigen's names with every argument, since only Eigen may give defaults: of any size (-1), rows first (1).
template <class T>
using EigenMatrix = Eigen::Matrix<T, -1, -1, 1, -1, -1>;
template <class T>
using EigenArray = Eigen::Array<T, -1, -1, 1, -1, -1>;
template <class Plain>
using EigenMap = Eigen::Map<Plain, 0, Eigen::Stride<0, 0>>;
}  // namespace detail

// A copy of an Eigen vector of n elements, of shape (n,), or of a matrix, of shape (rows, columns), of
// whatever storage order. Include <Eigen/Core> to call it.
template <class Derived>
auto from_eigen(const Eigen::DenseBase<Derived>& matrix) {
  using T = element_t<typename Derived::Scalar>;
  const std::int64_t rows = matrix.rows(), columns = matrix.cols();
  Shape shape{rows, columns};
  if constexpr (Derived::IsVectorAtCompileTime) shape = Shape{rows * columns};
  Array<T> a = detail::typed<T>(detail::allocate_on_host(dtype_of<T>, Frame{shape, {}}));
  detail::EigenMap<detail::EigenArray<T>>(detail::elements<T>(a), rows, columns) =
      matrix.derived().array().template cast<T>();
  if constexpr (std::is_same_v<T, bool>) detail::normalize_bools(detail::elements<T>(a), a.nbytes());
  return detail::typed<T>(detail::placed(std::move(a)));
}

// A read-only matrix over the elements of a 0-, 1- or 2-d array, which must outlive it; a 1-d array is a
// column. Throws ShapeError for an array of more than two axes. Include <Eigen/Core> to call it.
template <class T>
auto as_eigen(const Array<T>& a) {
  if (a.ndim() > 2)
    raise<ShapeError>({"as_eigen: only arrays of up to two axes are matrices, shape ", a.shape()});
  const T* data = a.data();
  return detail::EigenMap<const detail::EigenMatrix<T>>(data, a.ndim() > 0 ? a.shape(0) : 1,
                                                        a.ndim() > 1 ? a.shape(1) : 1);
}

NAX_END
