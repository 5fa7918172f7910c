#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "nax/tree/for_each.hpp"

// map builds a tree of the same structure from f of each leaf.
//
// A tuple or container takes the type of the results; a struct stays the struct it was, and so does
// everything inside it: its fields must be able to hold the results (a number's place converts them). That is
// the `keep` below.
NAX_BEGIN
namespace tree {
namespace detail {

// Turns the result of f into a value: expressions become arrays.
template <class X>
auto settle(X&& x) {
  using U = std::remove_cvref_t<X>;
  if constexpr (requires { typename U::expression_tag; }) {
    return Array<typename U::value_type>(x);
  } else {
    return U(std::forward<X>(x));
  }
}

// True if a leaf of type Leaf can hold an R. A number goes into an array that can hold it: no complex one
// into a real array.
template <class Leaf, class R>
consteval bool can_hold() {
  if constexpr (Scalar<R> && requires { typename Leaf::value_type; }) {
    return std::is_convertible_v<R, Leaf> && std::is_constructible_v<typename Leaf::value_type, R>;
  } else {
    return std::is_convertible_v<R, Leaf>;
  }
}

template <class Leaf, class R>
Leaf fit(R&& result) {
  using U = std::remove_cvref_t<R>;
  if constexpr (std::is_same_v<U, Leaf>) {
    return std::forward<R>(result);
  } else if constexpr (Scalar<Leaf> && std::is_constructible_v<Leaf, U>) {
    return static_cast<Leaf>(result);
  } else {
    static_assert(
        can_hold<Leaf, U>(),
        "tree::map: f gives another type than the struct's field can hold; return the field's type, or use "
        "a std::tuple in place of the struct");
    return std::forward<R>(result);
  }
}

template <class T, class... R>
struct Retuple {
  using type = std::tuple<R...>;
};
template <class A, class B, class R0, class R1>
struct Retuple<std::pair<A, B>, R0, R1> {
  using type = std::pair<R0, R1>;
};

template <class T, class E>
struct Resequence {
  using type = std::vector<E>;
};
template <class A, std::size_t n, class E>
struct Resequence<std::array<A, n>, E> {
  using type = std::array<E, n>;
};

template <class T, class E>
struct Remap;
template <class K, class V, class C, class A, class E>
struct Remap<std::map<K, V, C, A>, E> {
  using type = std::map<K, E, C>;
};

template <bool keep, class F, class T, class... R>
auto build(const Path& path, F& f, const T& t, const R&... rest);

template <bool keep, class T, std::size_t... I, class F, class... Tuple>
auto build_product(std::index_sequence<I...>, [[maybe_unused]] const Path& path, [[maybe_unused]] F& f,
                   const T& t, Tuple... children_of) {
  [[maybe_unused]] const auto child = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
    return build < keep || !TupleLike < T >> (child_path<T, i>(path), f, std::get<i>(children_of)...);
  };
  if constexpr (ListsFields<T>) {
    T result = t;
    auto fields = tree_fields(result);
    ((std::get<I>(fields) = child(std::integral_constant<std::size_t, I>{})), ...);
    return result;
  } else if constexpr (keep || PlainStruct<T>) {
    return T{child(std::integral_constant<std::size_t, I>{})...};
  } else {
    using Result = typename Retuple<T, decltype(child(std::integral_constant<std::size_t, I>{}))...>::type;
    return Result{child(std::integral_constant<std::size_t, I>{})...};
  }
}

template <bool keep, class F, class T, class... R>
auto build(const Path& path, F& f, const T& t, const R&... rest) {
  constexpr NodeKind kind = same_shape<T, R...>() ? kind_of<T> : NodeKind::none;
  check_all_alike<kind>(path, t, rest...);
  if constexpr (kind == NodeKind::leaf) {
    static_assert(!std::is_void_v<decltype(f(path, t, rest...))>,
                  "tree::map: f returns nothing; to visit leaves without a result use tree::for_each");
    if constexpr (keep) {
      return fit<T>(settle(f(path, t, rest...)));
    } else {
      return settle(f(path, t, rest...));
    }
  } else if constexpr (kind == NodeKind::sequence) {
    using Element = decltype(build<keep>(path, f, t[0], rest[0]...));
    using Result = std::conditional_t<keep, T, typename Resequence<T, Element>::type>;
    Result result{};
    if constexpr (requires { result.reserve(t.size()); }) result.reserve(t.size());
    for (std::size_t i = 0; i < t.size(); ++i) {
      const Path step{.up = &path, .index = i};
      if constexpr (requires { result.reserve(t.size()); }) {
        result.push_back(build<keep>(step, f, t[i], rest[i]...));
      } else {
        result[i] = build<keep>(step, f, t[i], rest[i]...);
      }
    }
    return result;
  } else if constexpr (kind == NodeKind::map) {
    using Value = decltype(build<keep>(path, f, t.begin()->second, rest.begin()->second...));
    using Result = std::conditional_t<keep, T, typename Remap<T, Value>::type>;
    Result result;
    for (const auto& [key, value] : t) {
      result.emplace_hint(result.end(), key,
                          build<keep>(key_path(path, key), f, value, rest.find(key)->second...));
    }
    return result;
  } else if constexpr (kind == NodeKind::optional) {
    using Result = std::optional<decltype(build<keep>(path, f, *t, *rest...))>;
    Result result;
    if (t.has_value()) result.emplace(build<keep>(path, f, *t, *rest...));
    return result;
  } else if constexpr (kind == NodeKind::fixed) {
    return T(t);
  } else if constexpr (kind == NodeKind::product) {
    return build_product<keep>(std::make_index_sequence<child_count_v<const T>>{}, path, f, t, children(t),
                               children(rest)...);
  }
}

// map under another function's name in errors: `apply_updates: the trees differ at ...`.
template <class F, class T, class... R>
auto map(std::string_view function, F&& f, const T& t, const R&... rest) {
  auto call = [&f](const Path&, const auto&... leaf) -> decltype(auto) { return f(leaf...); };
  return build<false>(Path{.name = function}, call, t, rest...);
}

}  // namespace detail

// f(leaf, leaf of the second tree, ...) for each leaf, numbers too; f may return an expression. Throws
// ValueError where the trees differ, naming the place and what is there.
template <class F, class T, class... R>
[[nodiscard]] auto map(F&& f, const T& t, const R&... rest) {
  return detail::map("tree::map", f, t, rest...);
}

// f(path, leaf, ...), the path as text: `[0].w`, `['bias']`; empty for a lone leaf.
template <class F, class T, class... R>
auto map_with_path(F&& f, const T& t, const R&... rest) {
  auto call = [&f](const detail::Path& path, const auto&... leaf) -> decltype(auto) {
    return f(path.text(), leaf...);
  };
  return detail::build<false>(detail::Path{.name = "tree::map_with_path"}, call, t, rest...);
}

// The tree with its expressions computed; everything else is as it was.
template <class T>
auto materialise(const T& t) {
  return map(
      [](const auto& leaf) -> const auto& { return leaf; }, t);
}

}  // namespace tree
NAX_END
