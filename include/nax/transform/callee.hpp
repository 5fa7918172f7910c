#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "nax/expr/evaluate.hpp"
#include "nax/tree/traits.hpp"

// The function that a transform is given: what it takes, as what its arguments reach it, and whether it can
// be called with them. What is wrong is said by one static_assert, in refuse() below, before anything else is
// compiled: a page of templates tells nobody that an argument is missing.
namespace nax::inline NAX_ABI::detail {

// What a transform returns: a function that takes what F takes, or the same mapped.
template <class F, class Body>
struct Transformed : Body {};

template <class F, class Body>
Transformed<F, Body> transformed(Body body) {
  return {std::move(body)};
}

// The function at the bottom of transforms of transforms.
template <class F>
struct Callee {
  using type = F;
};
template <class F, class Body>
struct Callee<Transformed<F, Body>> : Callee<F> {};
template <class F>
using callee_t = typename Callee<F>::type;

// ---- what it takes

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

// ---- as what arguments reach it

// May a number become an element of type T? (No fraction is dropped.)
template <class T, class X>
inline constexpr bool becomes_v = std::is_convertible_v<X, T> &&
                                  (is_inexact_v<T> || !std::is_floating_point_v<X>);

// An argument where the function takes a P. Expressions are computed. A number becomes a 0-d array, of P's
// elements if P is an array, of the default type where P cannot be told; where P is a number it stays one.
template <class P, class X>
auto lift_as(const X& x) {
  if constexpr (Expression<X>) {
    return evaluate(x);
  } else if constexpr (!Scalar<X>) {
    return x;
  } else if constexpr (is_array_v<P>) {
    using T =
        std::conditional_t<becomes_v<typename P::value_type, X>, typename P::value_type, default_type_t<X>>;
    return Array<T>(static_cast<T>(x));
  } else if constexpr (Scalar<P> && std::is_convertible_v<X, P>) {
    return static_cast<P>(x);
  } else {
    return Array<default_type_t<X>>(x);
  }
}
template <class P, class X>
using lifted_as_t = decltype(lift_as<P>(std::declval<const X&>()));

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

// ---- whether it can be called with them

// The first type in a tree that no tree can hold; void if there is none.
template <class... Part>
struct FirstBad {
  using type = void;
};
template <class T, class... Above>
struct BadPart;
template <class Part, class... Rest>
struct FirstBad<Part, Rest...> {
  using type = std::conditional_t<std::is_void_v<typename Part::type>, typename FirstBad<Rest...>::type,
                                  typename Part::type>;
};
template <class T, class Indices, class... Above>
struct BadChild;
template <class T, std::size_t... i, class... Above>
struct BadChild<T, std::index_sequence<i...>, Above...>
    : FirstBad<BadPart<tree::detail::Child<T, i>, T, Above...>...> {};
template <class T, class... Above>
constexpr auto bad_part() {
  constexpr tree::NodeKind kind = tree::detail::node_kind<T>();
  if constexpr ((std::is_same_v<T, Above> || ...))  // a tree of its own kind
    return FirstBad<>();
  else if constexpr (kind == tree::NodeKind::none ||
                     (kind == tree::NodeKind::leaf && !std::is_copy_constructible_v<T>))
    return std::type_identity<T>();
  else if constexpr (kind == tree::NodeKind::sequence || kind == tree::NodeKind::optional)
    return BadPart<typename T::value_type, T, Above...>();
  else if constexpr (kind == tree::NodeKind::map)
    return BadPart<typename T::mapped_type, T, Above...>();
  else if constexpr (kind == tree::NodeKind::product)
    return BadChild<T, std::make_index_sequence<tree::detail::child_count_v<T>>, Above...>();
  else
    return FirstBad<>();
}
template <class T, class... Above>
struct BadPart : decltype(bad_part<T, Above...>()) {};

// (The body of a template is compiled here first.)
template <class F, class... X>
inline constexpr bool callable_with = std::is_member_pointer_v<F> || requires(const F& f, const X&... x) {
  f(x...);
};

enum class Mistake {
  none,
  argnums_out_of_range,
  number_differentiated,
  no_tree,
  not_callable,
  returns_nothing,
  no_loss,
  loss_not_floating,
  no_tuples
};

template <class... X>
using bad_part_t = typename FirstBad<BadPart<X>...>::type;
// (All return auto: so compilers go through them at once, and do not list them twice.)
template <class... X>
constexpr auto find_in_trees() {
  return std::is_void_v<bad_part_t<X...>> ? Mistake::none : Mistake::no_tree;
}
// Of a call of F with a tuple of this type. (Transforms of transforms: the function at the bottom gets the
// same types, and is named.)
template <class F, class Arguments>
struct CallMistake;
template <class F, class... X>
struct CallMistake<F, std::tuple<X...>> {
  static constexpr auto find() {
    using Function = callee_t<F>;
    if constexpr (!callable_with<Function, X...>)
      return Mistake::not_callable;
    else if constexpr (std::is_member_pointer_v<Function>)
      return Mistake::none;
    else if constexpr (std::is_void_v<decltype(std::declval<const Function&>()(std::declval<const X&>()...))>)
      return Mistake::returns_nothing;
    else
      return Mistake::none;
  }
};
// The same where all arguments must be trees.
template <class F, class Arguments>
struct MappedMistake;
template <class F, class... X>
struct MappedMistake<F, std::tuple<X...>> {
  static constexpr auto find() {
    if constexpr (find_in_trees<X...>() != Mistake::none)
      return Mistake::no_tree;
    else
      return CallMistake<F, std::tuple<X...>>::find();
  }
};

struct RefusedFunction {
  template <class... X>
  Array<float> operator()(const X&...) const;
};
template <class R>
R in_place_of();

// Says what is wrong. Returns what might have been returned, so that no more errors follow.
template <Mistake mistake, class Result, class F, class... X>
Result refuse(std::type_identity<std::tuple<X...>>) {
  using enum Mistake;
  static_assert(mistake != argnums_out_of_range, "argnums is out of range for the number of arguments");
  static_assert(mistake != number_differentiated,
                "the function takes a number where it is differentiated: let it take an Array");
  if constexpr (mistake == no_tree) (void)tree::detail::checked_node_kind<bad_part_t<X...>>();
  if constexpr (mistake == not_callable)
    static_assert(callable_with<callee_t<F>, X...>,
                  "the function cannot be called, as const, with what it gets from the transform");
  static_assert(mistake != returns_nothing, "the function returns nothing");
  static_assert(mistake != no_loss, "the function must return one array, or std::pair{loss, aux}");
  static_assert(mistake != loss_not_floating, "the loss must be of a floating type");
  static_assert(mistake != no_tuples,
                "primals and tangents are tuples: jvp(f, std::tuple{x}, std::tuple{dx})");
  return in_place_of<Result>();
}

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

}  // namespace nax::inline NAX_ABI::detail
