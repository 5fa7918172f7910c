#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "nax/core/array.hpp"
#include "nax/tree/for_each.hpp"

// Trees in two parts, as Equinox's filters give them: what is trained, and what is frozen.
NAX_BEGIN
namespace tree {
namespace detail {

template <class Predicate, class Leaf>
bool is_chosen(const Predicate& predicate, const Path& path, const Leaf& leaf) {
  if constexpr (std::is_invocable_v<const Predicate&, const std::string&, const Leaf&>)
    return static_cast<bool>(predicate(path.text(), leaf));
  else
    return static_cast<bool>(predicate(leaf));
}

template <class Leaf>
bool is_left_out(const Leaf& leaf) {
  if constexpr (requires { leaf.ndim(); })
    return leaf.ndim() == 1 && leaf.size() == 0;
  else
    return false;
}

}  // namespace detail

// {chosen, others}: the tree twice, each with empty arrays (shape (0,)) in the place of the leaves that are
// the other's. predicate(leaf), or predicate(path, leaf), says which are chosen. Both have the tree's type,
// so that transforms, optimisers and files take them; empty arrays cost nothing and their gradients are
// empty. Numbers and Statics, which cannot be empty, are in both.
//   auto [head, frozen] = tree::partition(net, [](const std::string& path, const auto&) {
//     return path.starts_with(".head");
//   });
//   auto g = grad([](const Net& p, const Net& f, ...) { return loss(tree::combine(p, f), ...); })(head,
//   frozen);
template <class T, class Predicate>
std::pair<T, T> partition(const T& t, const Predicate& predicate) {
  std::pair<T, T> parts(t, t);
  const auto leave_out = [&](const detail::Path& path, auto& chosen, auto& other, const auto& leaf) {
    using Leaf = std::remove_cvref_t<decltype(leaf)>;
    if constexpr (!Scalar<Leaf>) {
      if (detail::is_chosen(predicate, path, leaf))
        other = Leaf();
      else
        chosen = Leaf();
    }
  };
  detail::walk(detail::Path{.name = "tree::partition"}, leave_out, parts.first, parts.second, t);
  return parts;
}

// The tree whose leaves are those of the first tree, or, where that has an empty array (shape (0,)), of the
// next one that has another: combine(partition(t, p)...) is t. Throws ValueError where the trees differ.
template <class T, class... R>
T combine(const T& t, const R&... rest) {
  static_assert((std::is_same_v<T, R> && ...), "tree::combine: the trees must be of one type");
  T out = t;
  detail::for_each(
      "tree::combine",
      [](auto& leaf, const auto&... others) {
        const auto fill = [&](const auto& other) {
          if (detail::is_left_out(leaf)) leaf = other;
        };
        (fill(others), ...);
      },
      out, rest...);
  return out;
}

}  // namespace tree
NAX_END
