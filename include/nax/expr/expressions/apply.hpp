#pragma once

#include "nax/expr/expressions/expr.hpp"

// How a function of the library meets its operands: arrays, expressions and numbers build an expression; a
// recorded value (below) is computed at once, so that derivatives of derivatives pass over one operation at a
// time and the set of expression types stays finite.
NAX_BEGIN

// A value of type V in a rule that runs on the tape. Rules see it as a number.
template <class T>
struct Recorded {
  using value_type = T;
  Array<T> array;

  Recorded(Array<T> a) : array(std::move(a)) {}
  template <Scalar S>
  explicit Recorded(S constant) : array(static_cast<T>(constant)) {}
};

// Callers of a vjp drop the products of zero cotangents and infinities (drop_dead in recorded_op.hpp).
template <class T>
Recorded<T> guarded(const Recorded<T>& g, const Recorded<T>& d) {
  return g * d;
}

namespace detail {

template <class X>
struct IsRecorded : std::false_type {};
template <class T>
struct IsRecorded<Recorded<T>> : std::true_type {};
template <class X>
inline constexpr bool is_recorded_v = IsRecorded<std::remove_cvref_t<X>>::value;

template <class X>
const X& unwrap(const X& x) {
  return x;
}
template <class T>
const Array<T>& unwrap(const Recorded<T>& x) {
  return x.array;
}

template <class E>
Recorded<typename E::value_type> compute_recorded(const E& e) {
  return {evaluate(e)};
}

}  // namespace detail

// Operands that elementwise functions accept.
template <class X>
concept Numeric = detail::Operand<X> || detail::is_recorded_v<X>;
// At least one operand is nax's: what operators and functions of two operands ask for.
template <class... X>
concept AnyArray = (Numeric<X> && ...) &&
                   ((detail::ArrayLike<std::remove_cvref_t<X>> || detail::is_recorded_v<X>) || ...);
// Operands that named functions accept: numbers alone, too, which make a 0-d expression. (Not a half alone:
// it has the functions of std through float.)
template <class... X>
concept Function = AnyArray<X...> ||
    ((std::is_arithmetic_v<std::remove_cvref_t<X>> || is_complex_v<std::remove_cvref_t<X>>)&&...);

namespace detail {

// The element type of an operand; of a number, what it has on its own.
template <class X>
struct OperandType {
  using type = typename X::value_type;
};
template <Scalar S>
struct OperandType<S> {
  using type = default_type_t<S>;
};
template <class X>
using operand_type_t = typename OperandType<std::remove_cvref_t<X>>::type;

template <class Rule, Numeric... X>
auto apply(X&&... x) {
  if constexpr ((is_recorded_v<X> || ...))
    return compute_recorded(make_expr<Rule>(unwrap(x)...));
  else
    return make_expr<Rule>(std::forward<X>(x)...);
}
template <class Rule, Numeric... X>
auto apply_selection(X&&... x) {
  if constexpr ((is_recorded_v<X> || ...))
    return compute_recorded(make_selection<Rule>(unwrap(x)...));
  else
    return make_selection<Rule>(std::forward<X>(x)...);
}

}  // namespace detail
NAX_END
