#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/tree/path.hpp"
#include "nax/tree/traits.hpp"

// Visits the leaves of one tree, or of several trees in lock-step, by reference. A visitor with a member
// fixed(path, value) is shown each Static as well.
NAX_BEGIN
namespace tree {
namespace detail {

[[noreturn, gnu::cold]] NAX_ENGINE void throw_differ(const Path& path, const std::string& what, int which);

// The keys of two maps, the first few of each.
template <class T>
std::string keys_text(const T& t) {
  std::string text = "{";
  std::size_t i = 0;
  for (const auto& [key, value] : t) {
    if (i > 0) text += ", ";
    if (i++ == 8) return text + "...}";
    text += key_text<typename T::key_type>(&key);
  }
  return text + "}";
}
template <class T, class R, class Key>
[[noreturn, gnu::cold]] void throw_keys_differ(const Path& path, const char* what, const Key& key, const T& t,
                                               const R& r, int which) {
  throw_differ(path, what + key_text<Key>(&key) + ": " + keys_text(t) + " against " + keys_text(r), which);
}

// True if the nodes agree in lengths, keys and presence, which are known at run time only.
template <NodeKind kind, class T, class R>
void check_alike(const Path& path, const T& t, const R& r, int which) {
  if constexpr (kind == NodeKind::sequence) {
    if (t.size() != r.size()) {
      throw_differ(path, std::to_string(t.size()) + " items against " + std::to_string(r.size()), which);
    }
  } else if constexpr (kind == NodeKind::map) {
    for (const auto& [key, value] : t) {
      if (r.find(key) == r.end()) throw_keys_differ(path, "no key ", key, t, r, which);
    }
    for (const auto& [key, value] : r) {
      if (t.find(key) == t.end()) throw_keys_differ(path, "one more key ", key, t, r, which);
    }
  } else if constexpr (kind == NodeKind::optional) {
    if (t.has_value() != r.has_value()) {
      throw_differ(path, t.has_value() ? "a value against None" : "None against a value", which);
    }
  } else if constexpr (kind == NodeKind::fixed) {
    if (!(t == r)) throw_differ(path, static_text(t) + " against " + static_text(r), which);
  }
}

template <NodeKind kind, class T, class... R>
void check_all_alike([[maybe_unused]] const Path& path, [[maybe_unused]] const T& t, const R&... rest) {
  [[maybe_unused]] int which = 1;
  (check_alike<kind>(path, t, rest, ++which), ...);
}

// True if the types allow a lock-step walk over these trees.
template <class T, class... R>
consteval bool same_shape() {
  constexpr NodeKind kind = kind_of<T>;
  constexpr bool same_kind = ((kind_of<R> == kind) && ...);
  static_assert(
      same_kind,
      "tree: the trees have different structures: where one has a leaf, another has a container, or "
      "containers of different kinds meet");
  if constexpr (same_kind && kind == NodeKind::product) {
    constexpr bool same_count = ((child_count_v<const R> == child_count_v<const T>)&&...);
    static_assert(same_count, "tree: the trees have different structures: the numbers of fields differ");
    return same_count;
  }
  if constexpr (same_kind && kind == NodeKind::fixed) {
    constexpr bool same_type = (std::is_same_v<std::remove_const_t<R>, std::remove_const_t<T>> && ...);
    static_assert(same_type, "tree: the trees have different structures: Statics of different types meet");
    return same_type;
  }
  return same_kind;
}

template <class F, class T, class... R>
void walk(const Path& path, F& f, T& t, R&... rest);

template <class T, std::size_t... I, class F, class... Tuple>
void walk_children(std::index_sequence<I...>, [[maybe_unused]] const Path& path, [[maybe_unused]] F& f,
                   Tuple... children_of) {
  [[maybe_unused]] const auto step = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
    walk(child_path<T, i>(path), f, std::get<i>(children_of)...);
  };
  (step(std::integral_constant<std::size_t, I>{}), ...);
}

template <class F, class T, class... R>
void walk(const Path& path, F& f, T& t, R&... rest) {
  constexpr NodeKind kind = same_shape<T, R...>() ? kind_of<T> : NodeKind::none;
  check_all_alike<kind>(path, t, rest...);
  if constexpr (kind == NodeKind::leaf) {
    f(path, t, rest...);
  } else if constexpr (kind == NodeKind::sequence) {
    for (std::size_t i = 0; i < t.size(); ++i) walk(Path{.up = &path, .index = i}, f, t[i], rest[i]...);
  } else if constexpr (kind == NodeKind::map) {
    for (auto& [key, value] : t) walk(key_path(path, key), f, value, rest.find(key)->second...);
  } else if constexpr (kind == NodeKind::optional) {
    if (t.has_value()) walk(path, f, *t, *rest...);
  } else if constexpr (kind == NodeKind::fixed) {
    if constexpr (requires { f.fixed(path, t); }) f.fixed(path, t);
  } else if constexpr (kind == NodeKind::product) {
    walk_children<T>(std::make_index_sequence<child_count_v<T>>{}, path, f, children(t), children(rest)...);
  }
}

// for_each under another function's name in errors: `vjp: the trees differ at ...`.
template <class F, class T, class... R>
void for_each(std::string_view function, F&& f, T&& t, R&&... rest) {
  auto visit = [&f](const Path&, auto&... leaf) { f(leaf...); };
  walk(Path{.name = function}, visit, t, rest...);
}

}  // namespace detail

// f(leaf, leaf of the second tree, ...): references, const where the tree is. Throws ValueError where the
// trees differ.
template <class F, class T, class... R>
void for_each(F&& f, T&& t, R&&... rest) {
  detail::for_each("tree::for_each", f, t, rest...);
}

// f(path, leaf, ...), the path as text: `[0].w`.
template <class F, class T, class... R>
void for_each_with_path(F&& f, T&& t, R&&... rest) {
  auto visit = [&f](const detail::Path& path, auto&... leaf) { f(path.text(), leaf...); };
  detail::walk(detail::Path{.name = "tree::for_each_with_path"}, visit, t, rest...);
}

}  // namespace tree
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace tree::detail {

NAX_ENGINE void throw_differ(const Path& path, const std::string& what, int which) {
  const std::string place = path.text();
  raise<ValueError>({path.function(), ": the trees differ at ", (place.empty() ? "the root" : place), ": ",
                     what, " (tree 1 and tree ", which, ')'});
}

}  // namespace tree::detail
NAX_END
#endif
