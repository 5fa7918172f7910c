#pragma once

#include <type_traits>

#include "nax/core/compiled_once.hpp"

// Rules whose functions on arrays (recorded_op.hpp) and on symbols (formula.hpp), of float and of double, lie
// in the engine (compiled/rules.cpp): files that call it name them, and compile none.
NAX_BEGIN
namespace rules {

struct negative;
struct square;
struct absolute;
struct reciprocal;
struct sqrt;
struct rsqrt;
struct cbrt;
struct exp;
struct exp2;
struct expm1;
struct log;
struct log2;
struct log10;
struct log1p;
struct sin;
struct cos;
struct tan;
struct arcsin;
struct arccos;
struct arctan;
struct sinh;
struct cosh;
struct tanh;
struct arcsinh;
struct arccosh;
struct arctanh;
struct expit;
struct erf;
struct erfc;
struct relu;
struct softplus;
struct silu;
struct gelu;
struct gelu_tanh;
struct sign;
struct add;
struct subtract;
struct multiply;
struct divide;
struct power;
struct maximum;
struct minimum;
struct hypot;
struct arctan2;
struct logaddexp;
struct equal;
struct not_equal;
struct less;
struct less_equal;
struct greater;
struct greater_equal;
struct where;

}  // namespace rules
namespace detail {

template <class... Rules>
struct RuleList {
  template <class Rule>
  static constexpr bool has = (std::is_same_v<Rule, Rules> || ...);
  // each.operator()<Rule>() for each.
  template <class Each>
  static void visit(Each each) {
    (each.template operator()<Rules>(), ...);
  }
};

using EngineUnary =
    RuleList<rules::negative, rules::square, rules::absolute, rules::reciprocal, rules::sqrt, rules::rsqrt,
             rules::cbrt, rules::exp, rules::exp2, rules::expm1, rules::log, rules::log2, rules::log10,
             rules::log1p, rules::sin, rules::cos, rules::tan, rules::arcsin, rules::arccos, rules::arctan,
             rules::sinh, rules::cosh, rules::tanh, rules::arcsinh, rules::arccosh, rules::arctanh,
             rules::expit, rules::erf, rules::erfc, rules::relu, rules::softplus, rules::silu, rules::gelu,
             rules::gelu_tanh, rules::sign>;
using EngineBinary =
    RuleList<rules::add, rules::subtract, rules::multiply, rules::divide, rules::power, rules::maximum,
             rules::minimum, rules::hypot, rules::arctan2, rules::logaddexp, rules::equal, rules::not_equal,
             rules::less, rules::less_equal, rules::greater, rules::greater_equal>;

template <class T>
inline constexpr bool is_engine_type = std::is_same_v<T, float> || std::is_same_v<T, double>;
// Whether the engine has the rule's functions for operands of these types.
template <class Rule, class... A>
inline constexpr bool is_engine_rule = false;
template <class Rule, class T>
inline constexpr bool is_engine_rule<Rule, T> = is_engine_type<T>&& EngineUnary::has<Rule>;
template <class Rule, class T>
inline constexpr bool is_engine_rule<Rule, T, T> = is_engine_type<T>&& EngineBinary::has<Rule>;
template <class T>
inline constexpr bool is_engine_rule<rules::where, bool, T, T> = is_engine_type<T>;

// Whether this file takes them from there.
template <class Rule, class... A>
inline constexpr bool calls_rule =
#if defined(NAX_CALLS_LIBRARY) || defined(NAX_COMPILED_ENGINE)
    is_engine_rule<Rule, A...>;
#else
    false;
#endif

}  // namespace detail
NAX_END
