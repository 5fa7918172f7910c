#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "nax/core/error.hpp"
#include "nax/tree/for_each.hpp"

// Parts of trees by a selector or a path, and trees with another one in their place.
NAX_BEGIN
namespace tree {
namespace detail {

template <class T>
inline constexpr bool is_reference_tuple_v = false;
template <class... T>
inline constexpr bool is_reference_tuple_v<std::tuple<T&...>> = true;

// The place of a tree that a selector names.
template <class T, class Select>
class Place {
  using Named = std::invoke_result_t<const Select&, T&>;
  static constexpr bool several = is_reference_tuple_v<Named>;
  static_assert(
      several || std::is_lvalue_reference_v<Named>,
      "tree::at: the selector must return a reference, as [](auto& net) -> auto& { return net.head; } "
      "does, or std::tie of some");

 public:
  Place(T tree, Select select) : tree_(std::move(tree)), select_(std::move(select)) {}

  auto get() const {
    T copy = tree_;
    if constexpr (several)
      return std::apply([](auto&... part) { return std::make_tuple(part...); }, std::invoke(select_, copy));
    else
      return std::remove_cvref_t<Named>(std::invoke(select_, copy));
  }
  // (Of several: a tuple of values.)
  template <class Value>
  T set(const Value& value) const {
    T copy = tree_;
    std::invoke(select_, copy) = value;
    return copy;
  }
  // f of the part in its place, of each where there are several.
  template <class F>
  T apply(const F& f) const {
    T copy = tree_;
    if constexpr (several) {
      std::apply([&](auto&... part) { ((part = f(std::as_const(part))), ...); }, std::invoke(select_, copy));
    } else {
      auto& part = std::invoke(select_, copy);
      part = f(std::as_const(part));
    }
    return copy;
  }

 private:
  T tree_;
  Select select_;
};

// The leaf that a path names.
template <class T>
class LeafAt {
 public:
  LeafAt(T tree, std::string path) : tree_(std::move(tree)), path_(std::move(path)) {
    change(tree_, [](const auto&) {});
  }

  template <class Leaf>
  Leaf get() const {
    std::optional<Leaf> found;
    change(tree_, [&](const auto& leaf) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(leaf)>, Leaf>)
        found = leaf;
      else
        throw_type();
    });
    return std::move(*found);
  }
  template <class Value>
  T set(const Value& value) const {
    return apply([&](const auto&) -> const Value& { return value; });
  }
  // f must take any leaf; TypeError where the place cannot hold what it gives.
  template <class F>
  T apply(const F& f) const {
    T copy = tree_;
    change(copy, [&](auto& leaf) {
      using Leaf = std::remove_cvref_t<decltype(leaf)>;
      if constexpr (std::is_convertible_v<decltype(f(std::as_const(leaf))), Leaf>)
        leaf = Leaf(f(std::as_const(leaf)));
      else
        throw_type();
    });
    return copy;
  }

 private:
  template <class Tree, class F>
  void change(Tree& tree, const F& f) const {
    bool found = false;
    std::string all;
    const auto visit = [&](const Path& path, auto& leaf) {
      const std::string text = path.text();
      all += all.empty() ? "" : ", ";
      all += text;
      if (text != path_) return;
      found = true;
      f(leaf);
    };
    walk(Path{.name = "tree::at"}, visit, tree);
    if (!found) raise<ValueError>({"tree::at: no leaf at '", path_, "'; there are ", all});
  }
  [[noreturn, gnu::cold]] void throw_type() const {
    raise<TypeError>({"tree::at: the leaf at '", path_, "' is of another type"});
  }

  T tree_;
  std::string path_;
};

}  // namespace detail

// A part of a tree, named by a pointer to a member, or by a function that returns a reference to it, or
// std::tie of several: at(net, &Net::head).get(), .set(value), .apply(f). The tree stays as it was; set and
// apply give another one.
//   net = tree::at(net, [](auto& n) -> auto& { return n.layers[1].w; }).apply([](const auto& w) { return 2 *
//   w; });
template <class T, class Select>
requires std::is_invocable_v<const Select&, T&>
auto at(const T& t, Select select) { return detail::Place<T, Select>(t, std::move(select)); }
// The leaf at a path as tree::map_with_path spells it: at(net, ".layers[1].w").set(w), .get<Array<float>>().
// Throws ValueError where there is none, TypeError where it is of another type.
template <class T>
auto at(const T& t, const std::string& path) {
  return detail::LeafAt<T>(t, path);
}

}  // namespace tree
NAX_END
