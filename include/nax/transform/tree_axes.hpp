#pragma once

#include "nax/transform/axes.hpp"
#include "nax/tree/for_each.hpp"

// Pairs the leaves of a tree with their entry of in_axes or out_axes.
NAX_BEGIN
namespace detail {

[[noreturn, gnu::cold]] inline void throw_axes_mismatch(const char* function, std::size_t children,
                                                        std::size_t given) {
  raise<ValueError>({function, ": axes(...) names ", given, " children, the tree has ", children});
}

// f(leaf, axes of that leaf).
template <class T, class F>
void for_each_with_axes(const char* function, T& t, const Axes& axes, F& f) {
  if (!axes.is_list()) {
    tree::for_each([&](auto& leaf) { f(leaf, axes); }, t);
    return;
  }
  const auto& each = axes.children();
  constexpr auto kind = tree::detail::kind_of<std::remove_const_t<T>>;
  if constexpr (kind == tree::NodeKind::product) {
    auto children = tree::detail::children(t);
    constexpr std::size_t n = std::tuple_size_v<decltype(children)>;
    if (each.size() != n) throw_axes_mismatch(function, n, each.size());
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (for_each_with_axes(function, std::get<i>(children), each[i], f), ...);
    }
    (std::make_index_sequence<n>{});
  } else if constexpr (kind == tree::NodeKind::sequence) {
    if (each.size() != t.size()) throw_axes_mismatch(function, t.size(), each.size());
    for (std::size_t i = 0; i < t.size(); ++i) for_each_with_axes(function, t[i], each[i], f);
  } else if constexpr (kind == tree::NodeKind::map) {
    if (each.size() != t.size()) throw_axes_mismatch(function, t.size(), each.size());
    std::size_t i = 0;
    for (auto& [key, value] : t) for_each_with_axes(function, value, each[i++], f);
  } else {
    throw_axes_mismatch(function, 1, each.size());
  }
}

}  // namespace detail
NAX_END
