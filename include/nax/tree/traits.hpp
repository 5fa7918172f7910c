#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "nax/core/dtype.hpp"
#include "nax/core/fwd.hpp"
#include "nax/tree/fields.hpp"
#include "nax/tree/static.hpp"

// Decides by type alone whether something is a tree.
//
//   leaf       an Array, an expression, a number, an opaque type that specialises is_leaf_v
//   sequence   std::vector, std::array          children: the elements
//   map        std::map                         children: the values
//   optional   std::optional                    one child, or none
//   fixed      tree::Static                     none: its value belongs to the structure
//   product    std::tuple, std::pair, an aggregate of up to 24 fields, or a class that lists its fields in a
//   friend:
//                class Model {
//                  ...
//                  friend constexpr auto tree_fields(Model& self) {
//                    return std::tie(self.weights_, self.bias_);
//                  }
//                };
//              (constexpr, so that paths and files name its fields, and do not count them).
//              Empty structs (std::monostate) are trees without leaves.
NAX_BEGIN
namespace tree {

// Specialise for opaque types that travel through trees whole: `template <> ... is_leaf_v<Key> = true`.
template <class T>
inline constexpr bool is_leaf_v = Scalar<T> || requires {
  typename T::expression_tag;
};
template <class Element>
inline constexpr bool is_leaf_v<Array<Element>> = true;

enum class NodeKind { leaf, sequence, map, optional, product, fixed, none };

namespace detail {

template <class T>
struct StandardNode {
  static constexpr NodeKind kind = NodeKind::none;
};
template <class T, class A>
struct StandardNode<std::vector<T, A>> {
  static constexpr NodeKind kind = NodeKind::sequence;
};
template <class A>
struct StandardNode<std::vector<bool, A>> {  // its elements are no objects
  static constexpr NodeKind kind = NodeKind::none;
};
template <class T, std::size_t n>
struct StandardNode<std::array<T, n>> {
  static constexpr NodeKind kind = NodeKind::sequence;
};
template <class K, class V, class C, class A>
struct StandardNode<std::map<K, V, C, A>> {
  static constexpr NodeKind kind = NodeKind::map;
};
template <class T>
struct StandardNode<std::optional<T>> {
  static constexpr NodeKind kind = NodeKind::optional;
};
template <class... T>
struct StandardNode<std::tuple<T...>> {
  static constexpr NodeKind kind = NodeKind::product;
};
template <class A, class B>
struct StandardNode<std::pair<A, B>> {
  static constexpr NodeKind kind = NodeKind::product;
};

template <class T>
concept TupleLike = StandardNode<T>::kind == NodeKind::product&& requires {
  std::tuple_size<T>::value;
};

template <class T>
concept ListsFields = std::is_class_v<T> && StandardNode<T>::kind == NodeKind::none&& requires(T& t) {
  tree_fields(t);
};

// A field without leaves that jit tells apart by a number; texts of structures do not show it.
template <class T>
concept Marked = ListsFields<T> && requires(const T& t) {
  tree_mark(t);
};

template <class T>
concept PlainStruct =
    std::is_class_v<T> && std::is_aggregate_v<T> && StandardNode<T>::kind == NodeKind::none &&
    !is_leaf_v<T> && !ListsFields<T>;

template <class T>
consteval NodeKind node_kind() {
  if constexpr (is_leaf_v<T>) {
    return NodeKind::leaf;
  } else if constexpr (is_static_v<T>) {
    return NodeKind::fixed;
  } else if constexpr (StandardNode<T>::kind != NodeKind::none) {
    return StandardNode<T>::kind;
  } else {
    return ListsFields<T> || PlainStruct<T> ? NodeKind::product : NodeKind::none;
  }
}

template <class T>
concept VectorOfBool = std::is_same_v<std::remove_cv_t<T>, std::vector<bool>>;

// Structs whose members keep them from being assigned to. Transforms replace the leaves of trees.
template <class T>
concept HasFixedMembers = PlainStruct<T> && std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;

// One clear sentence instead of a page of templates, for every type that no tree can hold.
template <class T>
consteval NodeKind checked_node_kind() {
  using U = std::remove_cv_t<T>;
  constexpr NodeKind kind = node_kind<U>();
  if constexpr (kind == NodeKind::leaf) {
    static_assert(std::is_copy_constructible_v<U>, "tree: a move-only type cannot be a leaf");
  } else if constexpr (kind == NodeKind::none) {
    static_assert(!std::is_array_v<U>, "tree: a C array is no tree; use std::array");
    static_assert(!VectorOfBool<U>, "tree: std::vector<bool> has no elements to refer to; use Array<bool>");
    static_assert(
        !std::is_class_v<U> || std::is_copy_constructible_v<U>,
        "tree: a move-only type (std::unique_ptr, a stream, ...) is no tree and cannot be a leaf; hold it in "
        "a nax::tree::Static");
    static_assert(
        kind != NodeKind::none,
        "tree: this type is no tree: neither an Array, a number, a std::tuple, pair, array, vector, map or "
        "optional, nor an aggregate of such; hold a string, an enum, a function in a nax::tree::Static, give "
        "a class of arrays a friend tree_fields");
  } else if constexpr (kind == NodeKind::product) {
    static_assert(!HasFixedMembers<U>,
                  "tree: a struct with a const member or a reference is no tree, since its leaves could not "
                  "be replaced; make it a plain member");
  }
  return kind;
}

template <class T>
inline constexpr NodeKind kind_of = checked_node_kind<T>();

template <class Tuple, std::size_t... I>
constexpr auto tie_all(Tuple& t, std::index_sequence<I...>) {
  return std::tie(std::get<I>(t)...);
}
template <class... F>
constexpr std::tuple<const F&...> as_const_refs(std::tuple<F&...> fields) {
  return fields;
}

// A tuple of references to the children of a product, const for a const tree.
template <class T>
constexpr auto children(T& t) {
  using U = std::remove_cv_t<T>;
  if constexpr (TupleLike<U>) {
    return tie_all(t, std::make_index_sequence<std::tuple_size_v<U>>{});
  } else if constexpr (ListsFields<U>) {
    if constexpr (std::is_const_v<T>) {
      return as_const_refs(tree_fields(const_cast<U&>(t)));
    } else {
      return tree_fields(t);
    }
  } else {
    return fields_of(t);
  }
}

template <class T>
using Children = decltype(children(std::declval<T&>()));

template <class T>
inline constexpr std::size_t child_count_v = std::tuple_size_v<Children<T>>;

template <class T, std::size_t i>
using Child = std::remove_cvref_t<std::tuple_element_t<i, Children<T>>>;

}  // namespace detail

// True if T can be a tree. (Its children are checked when it is used.)
template <class T>
concept Tree = detail::node_kind<std::remove_cvref_t<T>>()
!= NodeKind::none;

}  // namespace tree
NAX_END
