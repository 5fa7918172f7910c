#pragma once

#include <cmath>
#include <tuple>
#include <type_traits>

#include "nax/core/dtype.hpp"

// A rule is one struct for one elementwise operation.
//
//   name             NumPy's name, for messages
//   operand<i, T...> the type to which operand i is converted, given the operands' element types
//   result<T...>     the element type that comes out
//   value(x...)      the operation
//   vjp(g, x..., y)  for cotangent g, operands x and result y: each operand's share, as a tuple. The
//                    Jacobian is diagonal, so a tangent in place of g gives the forward derivative.
//   differentiable   false where the derivative is zero or does not exist; then there is no vjp
//   linear           true where vjp reads no x and no y, so that a tape need not keep them
//   hands_on         true where vjp gives g itself or zero: what then lies below the zero takes no part
//   same_at_value    optional; true where the value at value(x), and the derivative there, are those at x
//   holomorphic      optional; false where a complex result of complex operands depends on their conjugates
//   number           optional; which operand is a whole C++ number, known wherever the rule runs
//   masks            true where `value` takes packets of truth values, too
//   symbolic         optional; false where `value` or `vjp` call what formulas have not (formula/symbol.hpp)
//
// `value` is a template over V: a SIMD packet or a number. `vjp` meets these and recorded arrays, with which
// `number` is a std::int64_t. Both may use + - * /, the comparisons, & | ! on truth values, V(number),
// select(mask, a, b), and the names of <cmath> and of rules/math.hpp after a using-declaration (a rule of the
// same name would hide the function).
NAX_BEGIN
namespace rules {

namespace detail {
template <class... T>
struct Promote;
template <class T>
struct Promote<T> {
  using type = T;
};
template <class A, class B, class... C>
struct Promote<A, B, C...> : Promote<promote_t<A, B>, C...> {};
}  // namespace detail

template <class... T>
using promote_all_t = typename detail::Promote<T...>::type;

// Whether operand i of the rule is a C++ number.
template <class Rule, int i>
inline constexpr bool is_number = [] {
  if constexpr (requires { Rule::number; })
    return Rule::number == i;
  else
    return false;
}();

// The families of signatures.
struct Arithmetic {  // one common type in and out
  static constexpr bool linear = false, hands_on = false, differentiable = true, masks = false;
  template <int, class... T>
  using operand = promote_all_t<T...>;
  template <class... T>
  using result = promote_all_t<T...>;
};
struct Inexact {  // integers become float first
  static constexpr bool linear = false, hands_on = false, differentiable = true, masks = false;
  template <int, class... T>
  using operand = inexact_t<promote_all_t<T...>>;
  template <class... T>
  using result = inexact_t<promote_all_t<T...>>;
};
struct Comparison {  // one common type in, bool out
  static constexpr bool linear = false, hands_on = false, differentiable = true, masks = false;
  template <int, class... T>
  using operand = promote_all_t<T...>;
  template <class... T>
  using result = bool;
};
struct Logical {  // truth values in and out
  static constexpr bool linear = false, hands_on = false, differentiable = true, masks = true;
  template <int, class... T>
  using operand = bool;
  template <class... T>
  using result = bool;
};
struct Selection {  // where: a condition, then two operands of a common type
  static constexpr bool linear = false, hands_on = true, differentiable = true, masks = true;
  template <int i, class C, class... T>
  using operand = std::conditional_t<i == 0, bool, promote_all_t<T...>>;
  template <class C, class... T>
  using result = promote_all_t<T...>;
};
struct RealPart {  // complex in, real out; real stays
  static constexpr bool linear = false, hands_on = false, differentiable = true, masks = false;
  template <int, class T>
  using operand = T;
  template <class T>
  using result = real_t<T>;
};

template <Dtype V>
constexpr V select(bool mask, V a, V b) {
  return mask ? a : b;
}

// The share, but 0 where g is 0.
template <Dtype G, Dtype V>
constexpr V unless_zero(G g, V share) {
  return g == G(0) ? V(0) : share;
}
// g * d, where a zero cotangent contributes zero even if the derivative d is infinite or NaN there. (For
// recorded arrays it is the product, and the caller of vjp drops what zeros made of infinities.)
template <class V>
constexpr V guarded(V g, V d) {
  return unless_zero(g, g * d);
}

}  // namespace rules
NAX_END
