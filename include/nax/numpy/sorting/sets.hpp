#pragma once

#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/sorting/nonzero.hpp"
#include "nax/numpy/sorting/unique.hpp"

// Arrays of any shape as sets of their elements. How many a result has depends on the values, so that vmap
// refuses all of these (union1d takes a .size). The elements move along with their derivatives. NaN is equal
// to nothing but, within one array, to other NaNs.
NAX_BEGIN

// .assume_unique: no element occurs twice in an array, so that none is looked for.
struct SetOptions {
  bool assume_unique = false;
};

namespace detail {

template <class X, class Y>
using set_t = promote_t<typename X::value_type, typename Y::value_type>;

template <class R, class X>
Array<R> set_operand(const char* function, const X& x_, bool distinct) {
  const Array<R> x = as_type<R>(x_);
  check_unique(function, x);
  if (!distinct) return unique_of(function, x, {}, true).values;
  return reshape_to(function, x, Shape{x.size()});
}
template <class T>
Array<T> not_in(const Array<T>& x, const Array<T>& y) {
  return extract(isin(x, y, {.invert = true}), x);
}

}  // namespace detail

// The elements of either array in ascending order. .size, .fill_value as for unique. The result has shape
// (n,) for n elements. Throws ValueError under vmap, since the length of the result depends on values.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto union1d(const X& ar1_, const Y& ar2_, const UniqueOptions<detail::set_t<X, Y>>& options = {}) {
  using R = detail::set_t<X, Y>;
  const Array<R> ar1 = detail::as_type<R>(ar1_), ar2 = detail::as_type<R>(ar2_);
  detail::check_operand("union1d", ar1);
  detail::check_operand("union1d", ar2);
  const auto both = std::vector{detail::reshape_to("union1d", ar1, Shape{ar1.size()}),
                                detail::reshape_to("union1d", ar2, Shape{ar2.size()})};
  return unique(detail::concatenate_on("union1d", both, 0), options);
}

// The elements of both arrays in ascending order. The result has shape (n,) for n elements. Throws ValueError
// under vmap, since the length of the result depends on values.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto intersect1d(const X& ar1_, const Y& ar2_, const SetOptions& options = {}) {
  using R = detail::set_t<X, Y>;
  const Array<R> ar1 = detail::set_operand<R>("intersect1d", ar1_, options.assume_unique),
                 ar2 = detail::set_operand<R>("intersect1d", ar2_, true);
  return sort(extract(isin(ar1, ar2), ar1));
}
template <class T>
struct Intersect1d {
  Array<T> values;
  Array<std::int32_t> ar1_indices, ar2_indices;  // where each occurs first in the flattened arrays
};
// NumPy's intersect1d with return_indices. All three have shape (n,) for n common elements. Throws ValueError
// under vmap, since the length of the result depends on values.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto intersect1d_indices(const X& ar1_, const Y& ar2_) {
  using R = detail::set_t<X, Y>;
  const auto ar1 = detail::unique_of<R>("intersect1d_indices", detail::as_type<R>(ar1_), {}, true),
             ar2 = detail::unique_of<R>("intersect1d_indices", detail::as_type<R>(ar2_), {}, true);
  const Array<bool> in2 = isin(ar1.values, ar2.values), in1 = isin(ar2.values, ar1.values);
  return Intersect1d<R>{extract(in2, ar1.values), extract(in2, ar1.indices), extract(in1, ar2.indices)};
}

// The elements of the first array that the second has not, in ascending order (.assume_unique: in their own).
// The result has shape (n,) for n elements. Throws ValueError under vmap, since the length of the result
// depends on values.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto setdiff1d(const X& ar1_, const Y& ar2_, const SetOptions& options = {}) {
  using R = detail::set_t<X, Y>;
  return detail::not_in(detail::set_operand<R>("setdiff1d", ar1_, options.assume_unique),
                        detail::set_operand<R>("setdiff1d", ar2_, true));
}

// The elements of one of the arrays alone, in ascending order. The result has shape (n,) for n elements.
// Throws ValueError under vmap, since the length of the result depends on values.
template <detail::ArrayLike X, detail::ArrayLike Y>
auto setxor1d(const X& ar1_, const Y& ar2_, const SetOptions& options = {}) {
  using R = detail::set_t<X, Y>;
  const Array<R> ar1 = detail::set_operand<R>("setxor1d", ar1_, options.assume_unique),
                 ar2 = detail::set_operand<R>("setxor1d", ar2_, options.assume_unique);
  return sort(
      detail::concatenate_on("setxor1d", std::vector{detail::not_in(ar1, ar2), detail::not_in(ar2, ar1)}, 0));
}

NAX_END
