#pragma once

#include "nax/expr/differentiation/output_node.hpp"
#include "nax/transform/differentiate.hpp"

// Making call nodes (see tape/call_node.hpp) and reading trees of arguments and results for them.
NAX_BEGIN
namespace detail {

// Visits the floating arrays of a tree.
template <class Tree, class F>
void for_each_input(Tree& t, F f) {
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          if constexpr (is_inexact_v<typename Leaf::value_type>) f(leaf);
        }
      },
      t);
}

template <class Tree>
bool any_input_recorded(const Tree& t) {
  bool any = false;
  for_each_input(t, [&](const ArrayBase& leaf) { any = any || is_recorded(leaf); });
  return any;
}

template <class Tree>
Watchers watchers_of(const Tree& t, const Tape& tape) {
  Watchers all = 0;
  for_each_input(t, [&](const ArrayBase& leaf) { all |= tape.watchers(serial_of(leaf)); });
  return all;
}

// Detaches the values of a tree from the tape.
template <class Tree>
void make_constant(Tree& t) {
  for_each_input(t, [](ArrayBase& leaf) { ArrayAccess::serial(leaf) = 0; });
}

// Appends `node` and one output node for each floating array of `out`, which become its results.
template <class N, class Out, class... A>
void record_call(Out& out, A&&... args) {
  Tape& tape = *recording.tape;
  const std::uint64_t serial = tape.emplace<N>(std::forward<A>(args)...);
  auto* call = static_cast<CallNode*>(&tape[tape.find(serial)]);
  std::size_t count = 0, slot = 0;
  for_each_input(out, [&](const ArrayBase&) { ++count; });
  for_each_input(out, [&](ArrayBase& leaf) {
    ArrayAccess::serial(leaf) = tape.emplace<OutputNode>(call, serial, slot++, count);
  });
}

// The tree with zeros for its floating arrays.
template <class Tree>
Tree zeros_like_tree(Tree t) {
  for_each_input(t, [](auto& leaf) { leaf = zeros_over(leaf); });
  return t;
}

// The cotangents of a result tree; zeros where none came.
template <class Out>
Out cotangent_tree(const Out& out, const std::vector<ArrayBase>& cotangents) {
  Out tree = out;
  std::size_t slot = 0;
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          using T = typename Leaf::value_type;
          if constexpr (is_inexact_v<T>) {
            const ArrayBase& g = cotangents[slot++];
            leaf = holds_value(g) ? typed<typename Leaf::value_type>(g) : zeros_over(leaf);
          } else {
            leaf = zeros_over(leaf);
          }
        }
      },
      tree);
  return tree;
}

}  // namespace detail
NAX_END
