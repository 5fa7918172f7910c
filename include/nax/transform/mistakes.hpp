#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nax/transform/callee.hpp"
#include "nax/tree/traits.hpp"

// Mistakes in calls of transformed functions, found from types alone.
//
// A transformed function has two overloads. The first is there where the call is right. The second, deleted,
// is there where it is not: its return type names the mistake in a sentence, which the compiler quotes. So
// std::is_invocable answers without an error, and a wrong call is refused in a few lines.
NAX_BEGIN
namespace detail {

enum class Mistake {
  none,
  argnums_out_of_range,
  number_differentiated,
  c_array,
  vector_of_bool,
  move_only,
  has_base_class,
  too_many_fields,
  fixed_member,
  no_tree,
  not_static,
  not_callable,
  returns_nothing,
  returns_number,
  no_loss,
  loss_not_floating,
  no_tuples,
  other_tree
};

// A string as a template argument.
template <std::size_t n>
struct Sentence {
  char text[n] = {};
  constexpr Sentence(const char (&from)[n]) {
    for (std::size_t i = 0; i < n; ++i) text[i] = from[i];
  }
};

template <Mistake mistake>
constexpr auto sentence_of() {
  using enum Mistake;
  if constexpr (mistake == argnums_out_of_range)
    return Sentence("argnums is out of range for the number of arguments");
  else if constexpr (mistake == number_differentiated)
    return Sentence("the function takes a number where it is differentiated: let it take an Array");
  else if constexpr (mistake == c_array)
    return Sentence("tree: a C array is no tree; use std::array");
  else if constexpr (mistake == vector_of_bool)
    return Sentence("tree: std::vector<bool> has no elements to refer to; use Array<bool>");
  else if constexpr (mistake == move_only)
    return Sentence("tree: a move-only type is no tree; hold it in a nax::tree::Static");
  else if constexpr (mistake == has_base_class)
    return Sentence("tree: a struct with a base class needs a friend tree_fields, or the base as a field");
  else if constexpr (mistake == too_many_fields)
    return Sentence("tree: a struct may have at most 24 fields; group some, or add a friend tree_fields");
  else if constexpr (mistake == fixed_member)
    return Sentence(
        "tree: a struct with a const member or a reference is no tree, since its leaves could not be "
        "replaced; make it a plain member");
  else if constexpr (mistake == no_tree)
    return Sentence(
        "tree: an argument is no tree: give its class a friend tree_fields, hold other fields in "
        "a nax::tree::Static");
  else if constexpr (mistake == not_static)
    return Sentence(
        "jit: an argument is no tree: give its class a friend tree_fields, or an operator == to be static");
  else if constexpr (mistake == not_callable)
    return Sentence("the function cannot be called, as const, with what it gets from the transform");
  else if constexpr (mistake == returns_nothing)
    return Sentence("the function returns nothing");
  else if constexpr (mistake == returns_number)
    return Sentence(
        "the function returns a number, which has no derivative: let it return an Array (item() gives a "
        "number)");
  else if constexpr (mistake == no_loss)
    return Sentence("the function must return one array, or std::pair{loss, aux}");
  else if constexpr (mistake == loss_not_floating)
    return Sentence("the loss must be of a floating type");
  else if constexpr (mistake == no_tuples)
    return Sentence("primals and tangents are tuples: jvp(f, std::tuple{x}, std::tuple{dx})");
  else
    return Sentence("the cotangent or tangent must be a tree like the function's result or argument");
}

// ---- arguments that are no trees

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

template <class T>
constexpr auto mistake_of_part() {
  using enum Mistake;
  if constexpr (std::is_void_v<T>)
    return none;
  else if constexpr (std::is_array_v<T>)
    return c_array;
  else if constexpr (tree::detail::VectorOfBool<T>)
    return vector_of_bool;
  else if constexpr (std::is_class_v<T> && !std::is_copy_constructible_v<T>)
    return move_only;
  else if constexpr (!tree::detail::PlainStruct<T>)
    return no_tree;
  else if constexpr (tree::detail::HasBase<T>)
    return has_base_class;
  else if constexpr (tree::detail::HasFixedMembers<T>)
    return fixed_member;
  else
    return tree::field_count_v<T> > tree::max_fields ? too_many_fields : no_tree;
}

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
  else if constexpr (kind != tree::NodeKind::product)
    return FirstBad<>();
  else if constexpr (tree::detail::PlainStruct<T> && mistake_of_part<T>() != Mistake::no_tree)
    return std::type_identity<T>();
  else
    return BadChild<T, std::make_index_sequence<tree::detail::child_count_v<T>>, Above...>();
}
template <class T, class... Above>
struct BadPart : decltype(bad_part<T, Above...>()) {};

template <class... X>
using bad_part_t = typename FirstBad<BadPart<X>...>::type;
template <class X>
inline constexpr bool is_tree_v = std::is_void_v<bad_part_t<X>>;

template <class... X>
constexpr auto find_in_trees() {
  return mistake_of_part<bad_part_t<X...>>();
}

// ---- the call

// (The body of a template is compiled here first.)
template <class F, class... X>
inline constexpr bool callable_with = std::is_member_pointer_v<F> || requires(const F& f, const X&... x) {
  f(x...);
};

template <class F>
inline constexpr bool is_transformed_v = false;
template <class Check, class F, class Body>
inline constexpr bool is_transformed_v<Transformed<Check, F, Body>> = true;

// Of a call of F with a tuple of this type. A transformed function answers for itself, so that the function
// at the bottom is judged first. (Checks return auto: so compilers go through them at once, and list a
// function's own errors once.)
template <class F, class Arguments>
struct CallMistake;
template <class F, class... X>
struct CallMistake<F, std::tuple<X...>> {
  static constexpr auto find() {
    if constexpr (is_transformed_v<F>)
      return F::template mistake<X...>();
    else if constexpr (!callable_with<F, X...>)
      return Mistake::not_callable;
    else if constexpr (std::is_member_pointer_v<F>)
      return Mistake::none;
    else if constexpr (std::is_void_v<decltype(std::declval<const F&>()(std::declval<const X&>()...))>)
      return Mistake::returns_nothing;
    else
      return Mistake::none;
  }
};
// Of the same where all arguments must be trees.
template <class F, class Arguments>
struct MappedMistake;
template <class F, class... X>
struct MappedMistake<F, std::tuple<X...>> {
  static constexpr auto find() {
    constexpr Mistake in_trees = find_in_trees<X...>();
    if constexpr (in_trees != Mistake::none)
      return in_trees;
    else
      return CallMistake<F, std::tuple<X...>>::find();
  }
};

// Checks as transforms name them: find<F, X...>() of the call of a transformed F with arguments X.
struct CheckCall {
  template <class F, class... X>
  static constexpr auto find() {
    return CallMistake<F, lifted_t<F, X...>>::find();
  }
};
struct CheckMapped {
  template <class F, class... X>
  static constexpr auto find() {
    return MappedMistake<F, lifted_t<F, X...>>::find();
  }
};

// Of jit, whose arguments that are no trees are static, and are compared.
struct CheckJitted {
  template <class F, class... X>
  static constexpr auto find() {
    if constexpr (!are_trees_or_compared(static_cast<const lifted_t<F, X...>*>(nullptr)))
      return Mistake::not_static;
    else
      return CheckCall::find<F, X...>();
  }

 private:
  template <class... X>
  static constexpr bool are_trees_or_compared(const std::tuple<X...>*) {
    return ((is_tree_v<X> || std::equality_comparable<X>)&&...);
  }
};

// ---- refusing

// In place of a result. It converts to anything, so that no more errors follow.
struct Refused {
  template <class T>
  operator T() const;
};

struct RefusedFunction {
  template <class... X>
  Array<float> operator()(const X&...) const;
};
// In place of a result and a function.
using RefusedPair = std::pair<Array<float>, RefusedFunction>;

// The result of a transform: a function that takes the arguments of F, or mapped ones. Check finds the
// mistake in a call.
template <class Check, class F, class Body>
class Transformed {
 public:
  explicit Transformed(Body body) : body_(std::move(body)) {}

  template <class... X>
  static constexpr auto mistake() {
    return Check::template find<F, X...>();
  }

  template <class... X>
  requires(Check::template find<F, std::remove_cvref_t<X>...>() == Mistake::none) auto operator()(
      X&&... x) const {
    return body_(std::forward<X>(x)...);
  }
  template <class... X, Sentence why = sentence_of<Check::template find<F, X...>()>()>
  requires(Check::template find<F, X...>() != Mistake::none) Refused operator()(const X&...) const = delete;

 private:
  Body body_;
};

template <class Check, class F, class Body>
auto transformed(Body body) {
  return Transformed<Check, F, Body>(std::move(body));
}

}  // namespace detail
NAX_END
