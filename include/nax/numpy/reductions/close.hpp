#pragma once

#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/reductions/any_all.hpp"

// Arrays that are equal, or nearly.
NAX_BEGIN

struct CloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;  // is NaN close to NaN?
};
// Where |x - y| <= atol + rtol |y|, or both are the same infinity. Integers become float first. The result
// has the shape to which x and y broadcast.
template <class X, class Y>
requires Function<X, Y> Array<bool> isclose(const X& x, const Y& y, const CloseOptions& options = {}) {
  const auto nearby = detail::apply<rules::isclose>(x, y, options.rtol, options.atol);
  if (options.equal_nan) return nearby | (isnan(x) & isnan(y));
  return nearby;
}
// Are all elements close? A 0-d array. Throws ShapeError where the shapes do not broadcast.
template <class X, class Y>
requires Function<X, Y> Array<bool> allclose(const X& x, const Y& y, const CloseOptions& options = {}) {
  return all(isclose(x, y, options));
}

struct ArrayEqualOptions {
  bool equal_nan = false;  // is NaN equal to NaN?
};
// Have the arrays one shape and the same elements? A 0-d array.
template <detail::ArrayLike X, detail::ArrayLike Y>
Array<bool> array_equal(const X& x, const Y& y, const ArrayEqualOptions& options = {}) {
  if (!(x.shape() == y.shape())) return Array<bool>(false);
  if (options.equal_nan) return all((x == y) | (isnan(x) & isnan(y)));
  return all(x == y);
}

// Whether the arrays are equal once one is broadcast to the other. A 0-d array.
template <detail::ArrayLike X, detail::ArrayLike Y>
Array<bool> array_equiv(const X& x, const Y& y) {
  const Dims a = x.shape(), b = y.shape();
  const std::size_t common = a.size() < b.size() ? a.size() : b.size();
  for (std::size_t k = 1; k <= common; ++k)
    if (a[a.size() - k] != b[b.size() - k] && a[a.size() - k] != 1 && b[b.size() - k] != 1)
      return Array<bool>(false);
  return all(x == y);
}

NAX_END
