#pragma once

#include "nax/numpy/products/contract.hpp"
#include "nax/numpy/reductions/reduce.hpp"

NAX_BEGIN

// The matrix product with NumPy's rules: 1-d operands become a row or a column that is dropped again; axes
// before the last two broadcast. (..., m, k) and (..., k, n) give (..., m, n). Throws ShapeError where the
// inner dimensions differ and for 0-d operands.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto matmul(const X& x, const Y& y) {
  using R = promote_t<typename X::value_type, typename Y::value_type>;
  return detail::matmul_arrays<R>("matmul", detail::as_type<R>(x), detail::as_type<R>(y));
}

NAX_END
