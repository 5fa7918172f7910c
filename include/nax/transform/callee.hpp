#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "nax/expr/evaluation/evaluate.hpp"
#include "nax/tree/traits.hpp"

// The parameters of the function given to a transform, and the types of the arguments that it gets.
NAX_BEGIN
namespace detail {

template <class Check, class F, class Body>
class Transformed;

// The function at the bottom of transforms of transforms.
template <class F>
struct Callee {
  using type = F;
};
template <class Check, class F, class Body>
struct Callee<Transformed<Check, F, Body>> : Callee<F> {};
template <class F>
using callee_t = typename Callee<F>::type;

// ---- its parameters

struct Anything {};  // the type of a parameter that cannot be told: the function is a template, or overloaded

template <class... P>
struct Parameters {};
template <class F>
struct ParametersOf : std::type_identity<Anything> {};
template <class R, class... P>
struct ParametersOf<R(P...)> : std::type_identity<Parameters<P...>> {};
template <class R, class... P>
struct ParametersOf<R(P...) noexcept> : std::type_identity<Parameters<P...>> {};
template <class F>
struct ParametersOf<F*> : ParametersOf<F> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...)> : std::type_identity<Parameters<P...>> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) const> : std::type_identity<Parameters<P...>> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) noexcept> : std::type_identity<Parameters<P...>> {};
template <class R, class C, class... P>
struct ParametersOf<R (C::*)(P...) const noexcept> : std::type_identity<Parameters<P...>> {};
template <class F>
requires requires { &F::operator(); }
struct ParametersOf<F> : ParametersOf<decltype(&F::operator())> {};

template <class P, std::size_t i>
struct ParameterAt : std::type_identity<Anything> {};
template <class... P, std::size_t i>
requires(i < sizeof...(P)) struct ParameterAt<Parameters<P...>, i>
    : std::type_identity<std::remove_cvref_t<std::tuple_element_t<i, std::tuple<P...>>>> {
};
template <class F, std::size_t i>
using parameter_t = typename ParameterAt<typename ParametersOf<callee_t<std::decay_t<F>>>::type, i>::type;

// ---- its arguments

// True if a number converts to an element of type T without dropping a fraction.
template <class T, class X>
inline constexpr bool becomes_v = std::is_convertible_v<X, T> &&
                                  (is_inexact_v<T> || !std::is_floating_point_v<X>);

// An argument where the function takes a P. Expressions are computed. A number becomes a 0-d array, of P's
// elements if P is an array, of the default type where P cannot be told; where P is a number it stays one.
template <class P, class X>
constexpr auto lifted_type() {
  if constexpr (Expression<X>) {
    return std::type_identity<Array<typename X::value_type>>();
  } else if constexpr (!Scalar<X>) {
    return std::type_identity<X>();
  } else if constexpr (is_array_v<P>) {
    using T =
        std::conditional_t<becomes_v<typename P::value_type, X>, typename P::value_type, default_type_t<X>>;
    return std::type_identity<Array<T>>();
  } else if constexpr (Scalar<P> && std::is_convertible_v<X, P>) {
    return std::type_identity<P>();
  } else {
    return std::type_identity<Array<default_type_t<X>>>();
  }
}
template <class P, class X>
using lifted_as_t = typename decltype(lifted_type<P, X>())::type;

template <class P, class X>
lifted_as_t<P, X> lift_as(const X& x) {
  using Lifted = lifted_as_t<P, X>;
  if constexpr (Expression<X>)
    return evaluate(x);
  else if constexpr (!Scalar<X>)
    return x;
  else if constexpr (is_array_v<Lifted>)
    return Lifted(static_cast<typename Lifted::value_type>(x));
  else
    return static_cast<Lifted>(x);
}

template <class F, class Indices, class... X>
struct Lifted;
template <class F, std::size_t... i, class... X>
struct Lifted<F, std::index_sequence<i...>, X...> {
  using type = std::tuple<lifted_as_t<parameter_t<F, i>, X>...>;
  static type lift(const X&... x) { return type(lift_as<parameter_t<F, i>>(x)...); }
};
// The arguments as F gets them, a tuple.
template <class F, class... X>
using lifted_t = typename Lifted<F, std::index_sequence_for<X...>, X...>::type;
template <class F, class... X>
lifted_t<F, X...> lift_for(const X&... x) {
  return Lifted<F, std::index_sequence_for<X...>, X...>::lift(x...);
}

// ---- the call

template <class F, class Arguments>
decltype(auto) call_with(const F& f, Arguments&& arguments) {
  if constexpr (std::is_member_pointer_v<F>)
    return std::apply(f, std::forward<Arguments>(arguments));
  else
    return [&]<std::size_t... i>(std::index_sequence<i...>)->decltype(auto) {
      return f(std::get<i>(std::forward<Arguments>(arguments))...);
    }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<Arguments>>>());
}

}  // namespace detail
NAX_END
