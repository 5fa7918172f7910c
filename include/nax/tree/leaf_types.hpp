#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include "nax/tree/traits.hpp"

// The distinct types of a tree's leaves, in order of first appearance.
NAX_BEGIN
namespace tree {
namespace detail {

template <class... T>
struct TypeList {
  static constexpr std::size_t size = sizeof...(T);
};

template <class List, class... New>
struct Union {
  using type = List;
};
template <class... T, class First, class... New>
struct Union<TypeList<T...>, First, New...> {
  using type = typename Union<
      std::conditional_t<(std::is_same_v<T, First> || ...), TypeList<T...>, TypeList<T..., First>>,
      New...>::type;
};
template <class List, class... Lists>
struct UnionOfLists {
  using type = List;
};
template <class List, class... New, class... Lists>
struct UnionOfLists<List, TypeList<New...>, Lists...> {
  using type = typename UnionOfLists<typename Union<List, New...>::type, Lists...>::type;
};

template <class T>
consteval auto leaf_types();

template <class T, std::size_t... I>
consteval auto leaf_types_of_children(std::index_sequence<I...>) {
  return typename UnionOfLists<TypeList<>, decltype(leaf_types<Child<T, I>>())...>::type{};
}

template <class T>
consteval auto leaf_types() {
  constexpr NodeKind kind = kind_of<T>;
  if constexpr (kind == NodeKind::leaf) {
    if constexpr (requires { typename T::expression_tag; }) {
      return TypeList<Array<typename T::value_type>>{};
    } else {
      return TypeList<T>{};
    }
  } else if constexpr (kind == NodeKind::map) {
    return leaf_types<typename T::mapped_type>();
  } else if constexpr (kind == NodeKind::fixed) {
    return TypeList<>{};
  } else if constexpr (kind == NodeKind::product) {
    return leaf_types_of_children<T>(std::make_index_sequence<child_count_v<T>>{});
  } else {
    return leaf_types<typename T::value_type>();
  }
}

template <class List>
struct LeafOf {
  using type = std::monostate;
};
template <class T>
struct LeafOf<TypeList<T>> {
  using type = T;
};
template <class A, class B, class... T>
struct LeafOf<TypeList<A, B, T...>> {
  using type = std::variant<A, B, T...>;
};

template <class T>
struct IsVariant : std::false_type {};
template <class... T>
struct IsVariant<std::variant<T...>> : std::true_type {};

}  // namespace detail

template <class T>
using leaf_types_t = decltype(detail::leaf_types<T>());

// The one type of T's leaves, or a std::variant of them; std::monostate where T can have none.
template <class T>
using leaf_t = typename detail::LeafOf<leaf_types_t<T>>::type;

}  // namespace tree
NAX_END
