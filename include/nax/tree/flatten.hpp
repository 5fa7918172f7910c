#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "nax/core/error.hpp"
#include "nax/tree/leaf_types.hpp"
#include "nax/tree/map.hpp"
#include "nax/tree/structure.hpp"

// A tree as a vector of leaves and a definition that puts them together again.
NAX_BEGIN
namespace tree {

// The leaves in order: a vector of their type, or of a std::variant of their types where they have several.
template <class T>
std::vector<leaf_t<T>> leaves(const T& t) {
  std::vector<leaf_t<T>> out;
  for_each([&out](const auto& leaf) { out.push_back(leaf_t<T>(detail::settle(leaf))); }, t);
  return out;
}

// The structure that unflatten fills with leaves: a tree of type T whose leaves are empty.
template <class T>
class TreeDef {
 public:
  TreeDef(T skeleton, Structure structure)
      : skeleton_(std::move(skeleton)), structure_(std::move(structure)) {}

  const T& skeleton() const { return skeleton_; }
  const Structure& structure() const { return structure_; }
  std::size_t leaf_count() const { return structure_.leaf_count(); }

  friend bool operator==(const TreeDef& a, const TreeDef& b) { return a.structure_ == b.structure_; }
  friend bool operator==(const TreeDef& a, const Structure& b) { return a.structure_ == b; }
  friend std::ostream& operator<<(std::ostream& out, const TreeDef& d) { return out << d.structure_; }

 private:
  T skeleton_;
  Structure structure_;
};

// The structure of a tree that unflatten takes.
template <class T>
auto treedef(const T& t) {
  auto skeleton = map([](const auto& leaf) { return decltype(detail::settle(leaf)){}; }, t);
  return TreeDef<decltype(skeleton)>(std::move(skeleton), structure(t));
}

// auto [leaves, treedef] = tree::flatten(t);
template <class T>
auto flatten(const T& t) {
  return std::pair{leaves(t), treedef(t)};
}

namespace detail {

template <class Leaf, class L>
void put_leaf(Leaf& place, const L& leaf, std::size_t index) {
  if constexpr (IsVariant<L>::value) {
    const auto* held = std::get_if<Leaf>(&leaf);
    if (held == nullptr) {
      raise<TypeError>({"tree::unflatten: leaf ", index, " is of another type than its place"});
    }
    place = *held;
  } else {
    place = fit<Leaf>(leaf);
  }
}

}  // namespace detail

// The tree that flatten took apart. Throws ValueError for too few or too many leaves.
template <class T, class L>
T unflatten(const TreeDef<T>& definition, const std::vector<L>& leaves) {
  if (leaves.size() != definition.leaf_count()) {
    raise<ValueError>({"tree::unflatten: the number of leaves differs: ", leaves.size(), " for ",
                       definition.leaf_count(), " in ", definition.structure().to_string()});
  }
  T result = definition.skeleton();
  std::size_t next = 0;
  for_each(
      [&](auto& place) {
        detail::put_leaf(place, leaves[next], next);
        ++next;
      },
      result);
  return result;
}

}  // namespace tree
NAX_END
