#pragma once

#include "nax/special/fixed.hpp"

NAX_BEGIN
namespace special {

// The confluent hypergeometric function of real arguments; NaN where cancellation leaves fewer than six
// digits (a and b far below 0). Differentiable in x; throws ValueError where a or
// b is being differentiated.
template <class A, class B, class X>
requires Function<A, B, X>
auto hyp1f1(const A& a, const B& b, X&& x) {
  return detail::apply<rules::hyp1f1>(detail::fixed("hyp1f1", "a", a), detail::fixed("hyp1f1", "b", b),
                                      std::forward<X>(x));
}
// Gauss' hypergeometric function of real arguments, x <= 1; NaN where cancellation leaves fewer than six
// digits (a or b far below 0). Differentiable in x; throws ValueError where a, b
// or c is being differentiated.
template <class A, class B, class C, class X>
requires Function<A, B, C, X>
auto hyp2f1(const A& a, const B& b, const C& c, X&& x) {
  return detail::apply<rules::hyp2f1>(detail::fixed("hyp2f1", "a", a), detail::fixed("hyp2f1", "b", b),
                                      detail::fixed("hyp2f1", "c", c), std::forward<X>(x));
}

}  // namespace special
NAX_END
