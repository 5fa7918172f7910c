#pragma once

#include "nax/expr/expressions/operators.hpp"
#include "nax/rules/rational.hpp"

// Common divisors and multiples of integers, never negative.
NAX_BEGIN

// clang-format off
// The greatest common divisor of integers.
template <class X, class Y> requires Function<X, Y> auto gcd(X&& x, Y&& y) { return detail::apply<rules::gcd>(std::forward<X>(x), std::forward<Y>(y)); }
// The least common multiple of integers.
template <class X, class Y> requires Function<X, Y> auto lcm(X&& x, Y&& y) { return detail::apply<rules::lcm>(std::forward<X>(x), std::forward<Y>(y)); }
// clang-format on

NAX_END
