#pragma once

#include "nax/expr/evaluation/evaluate.hpp"
#include "nax/expr/expressions/operators.hpp"
#include "nax/rules/cast.hpp"

// Conversion of element types.
NAX_BEGIN

// x with elements of type To. Floats to integers truncate: NaN is 0, what is beyond the range its least or
// greatest number. Numbers to bool ask whether they are not zero, complex numbers to real ones keep the real
// part. Gradients are converted back.
template <class To, class X>
requires Function<X>
auto astype(X&& x) { return detail::apply<rules::cast<To>>(std::forward<X>(x)); }

template <class Element>
template <class To>
Array<To> Array<Element>::astype() const {
  if constexpr (std::is_same_v<To, Element>)
    return *this;
  else
    return detail::evaluate(detail::make_expr<rules::cast<To>>(*this));
}

namespace detail {

// An operand as an array of element type R.
template <class R, ArrayLike X>
Array<R> as_type(const X& x) {
  if constexpr (std::is_same_v<typename X::value_type, R>)
    return materialise(x);
  else
    return x.template astype<R>();
}

// f(x...) as an R, where f gets half types as float. So sums of squares, means and numbers such as an epsilon
// are floats, and the result is rounded once.
template <class R, class F, class... T>
Array<R> in_lanes(const F& f, const Array<T>&... x) {
  return as_type<R>(f(as_type<lane_t<T>>(x)...));
}

}  // namespace detail
NAX_END
