#pragma once

#include "nax/expr/expressions/apply.hpp"
#include "nax/rules/arithmetic.hpp"
#include "nax/rules/bitwise.hpp"
#include "nax/rules/comparison.hpp"

// The operators of arrays, expressions and recorded values.
NAX_BEGIN
namespace detail {

template <class X>
inline constexpr bool is_comparison = false;
template <class Rule, class... A>
inline constexpr bool is_comparison<Expr<Rule, A...>> = std::is_base_of_v<rules::Comparison, Rule> &&
                                                        sizeof...(A) == 2;
// Refuses a < b < c, which would compare truth values with c.
template <class X, class Y>
constexpr void refuse_chain() {
  static_assert(!is_comparison<std::remove_cvref_t<X>> && !is_comparison<std::remove_cvref_t<Y>>,
                "a < b < c compares truth values with c: write (a < b) & (b < c)");
}
// Truth values may be compared with each other, not with numbers.
template <class X, class Y>
constexpr void refuse_equal_chain() {
  using A = std::remove_cvref_t<X>;
  using B = std::remove_cvref_t<Y>;
  constexpr bool truths = [] {
    if constexpr (is_recorded_v<A> || is_recorded_v<B>)
      return true;
    else
      return std::is_same_v<operand_type_t<A>, bool> && std::is_same_v<operand_type_t<B>, bool>;
  }();
  static_assert(truths || (!is_comparison<A> && !is_comparison<B>),
                "a == b == c compares truth values with c: write (a == b) & (b == c)");
}

// Bits are those of integers and truth values. (Of others it says so, and gives what stops no further.)
template <class Rule, class... X>
auto apply_bits(X&&... x) {
  using T = typename Rule::template result<operand_type_t<X>...>;
  static_assert(!is_inexact_v<T>,
                "& | ^ ~ are for integers and truth values, not for floats: x^2 is square(x) or power(x, 2)");
  if constexpr (is_inexact_v<T>)
    return Array<T>();
  else
    return apply<Rule>(std::forward<X>(x)...);
}

}  // namespace detail

// clang-format off
template <class X, class Y> requires AnyArray<X, Y> auto operator+(X&& x, Y&& y) { return detail::apply<rules::add>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator-(X&& x, Y&& y) { return detail::apply<rules::subtract>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator*(X&& x, Y&& y) { return detail::apply<rules::multiply>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator/(X&& x, Y&& y) { return detail::apply<rules::divide>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator==(X&& x, Y&& y) { detail::refuse_equal_chain<X, Y>(); return detail::apply<rules::equal>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator!=(X&& x, Y&& y) { detail::refuse_equal_chain<X, Y>(); return detail::apply<rules::not_equal>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator<(X&& x, Y&& y) { detail::refuse_chain<X, Y>(); return detail::apply<rules::less>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator<=(X&& x, Y&& y) { detail::refuse_chain<X, Y>(); return detail::apply<rules::less_equal>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator>(X&& x, Y&& y) { detail::refuse_chain<X, Y>(); return detail::apply<rules::greater>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator>=(X&& x, Y&& y) { detail::refuse_chain<X, Y>(); return detail::apply<rules::greater_equal>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator%(X&& x, Y&& y) { return detail::apply<rules::mod>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator&(X&& x, Y&& y) { return detail::apply_bits<rules::bitwise_and>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator|(X&& x, Y&& y) { return detail::apply_bits<rules::bitwise_or>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator^(X&& x, Y&& y) { return detail::apply_bits<rules::bitwise_xor>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator<<(X&& x, Y&& y) { return detail::apply<rules::left_shift>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X, class Y> requires AnyArray<X, Y> auto operator>>(X&& x, Y&& y) { return detail::apply<rules::right_shift>(std::forward<X>(x), std::forward<Y>(y)); }
template <class X> requires AnyArray<X> auto operator-(X&& x) { return detail::apply<rules::negative>(std::forward<X>(x)); }
template <class X> requires AnyArray<X> auto operator~(X&& x) { return detail::apply_bits<rules::invert>(std::forward<X>(x)); }
template <class X> requires AnyArray<X> auto operator!(X&& x) { return detail::apply<rules::logical_not>(std::forward<X>(x)); }
template <class X> requires AnyArray<X> std::remove_cvref_t<X> operator+(X&& x) { return std::forward<X>(x); }
// Whether an element is neither infinite nor NaN.
template <class X> requires Function<X> auto isfinite(X&& x) { return detail::apply<rules::isfinite>(std::forward<X>(x)); }
// clang-format on

// Overloads for recorded values that rules call; others are in numpy/ and special/.
template <class M, class T>
Recorded<T> select(const Recorded<M>& mask, const Recorded<T>& x, const Recorded<T>& y) {
  return detail::apply_selection<rules::where>(mask, x, y);
}
NAX_END
