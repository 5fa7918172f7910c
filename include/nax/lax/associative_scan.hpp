#pragma once

#include "nax/lax/parts.hpp"
#include "nax/numpy/elementwise/exponential.hpp"

NAX_BEGIN
namespace lax {
struct AssociativeScanOptions {
  bool reverse = false;
  std::int64_t axis = 0;
};
}  // namespace lax

namespace detail {

// Every step-th element of an axis (counted from the front), `count` of them. Recorded.
template <class T>
Array<T> stepped(const Array<T>& x, int axis, std::int64_t start, std::int64_t step, std::int64_t count) {
  Selection s = Selection::all(layout_of(x));
  const std::size_t at = static_cast<std::size_t>(axis);
  s.start[at] = start;
  s.step[at] = step;
  s.count[at] = count;
  return get(x, s);
}

// f(array, its axis) for each array of a tree; `axis` may be negative.
template <class Tree, class F>
Tree map_arrays(Tree t, std::int64_t axis, const F& f) {
  tree::for_each(
      [&](auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>)
          leaf = f(leaf, normalize_axis("associative_scan", axis, leaf.ndim()));
      },
      t);
  return t;
}
template <class Tree>
Tree stepped_tree(const Tree& t, std::int64_t axis, std::int64_t start, std::int64_t step,
                  std::int64_t count) {
  return map_arrays(t, axis, [=](const auto& x, int a) { return stepped(x, a, start, step, count); });
}

// even[0], odd[0], even[1], ...: as many of both, or one more even.
template <class T>
Array<T> interleaved(const Array<T>& even, const Array<T>& odd, int axis) {
  const std::int64_t pairs = odd.shape(axis);
  const Array<T> first = even.shape(axis) == pairs ? even : stepped(even, axis, 0, 1, pairs);
  Shape merged = odd.shape();
  merged[static_cast<std::size_t>(axis)] = 2 * pairs;
  const Array<T> both = reshape_to(
      "associative_scan", stack_on("associative_scan", std::vector<Array<T>>{first, odd}, axis + 1), merged);
  if (even.shape(axis) == pairs) return both;
  return concatenate_on("associative_scan", std::vector<Array<T>>{both, stepped(even, axis, pairs, 1, 1)},
                        axis);
}

template <class Op, class Tree>
Tree combine(const Op& op, const Tree& a, const Tree& b) {
  static_assert(std::is_same_v<arrays_t<std::invoke_result_t<const Op&, const Tree&, const Tree&>>, Tree>,
                "lax::associative_scan: the function must return what it takes: a tree of the same arrays");
  return to_arrays(op(a, b));
}

// Pairs of neighbours are combined, their scan is found, and the rest follows by one combination each: 2 n
// combinations in all, log2(n) calls one after another.
template <class Op, class Tree>
Tree scan_pairs(const Op& op, const Tree& x, std::int64_t n, std::int64_t axis) {
  if (n < 2) return x;
  const std::int64_t half = n / 2;
  const Tree odd = scan_pairs(
      op, combine(op, stepped_tree(x, axis, 0, 2, half), stepped_tree(x, axis, 1, 2, half)), half, axis);
  const std::int64_t later = (n - 1) / 2;  // even elements behind the first
  Tree even = stepped_tree(x, axis, 0, 1, 1);
  if (later > 0) {
    const Tree rest = combine(op, stepped_tree(odd, axis, 0, 1, later), stepped_tree(x, axis, 2, 2, later));
    tree::for_each(
        [&](auto& first, const auto& more) {
          using Leaf = std::remove_cvref_t<decltype(first)>;
          if constexpr (is_array_v<Leaf>)
            first = concatenate_on("associative_scan", std::vector<Leaf>{first, more},
                                   normalize_axis("associative_scan", axis, first.ndim()));
        },
        even, rest);
  }
  tree::for_each(
      [&](auto& leaf, const auto& other) {
        if constexpr (is_array_v<decltype(leaf)>)
          leaf = interleaved(leaf, other, normalize_axis("associative_scan", axis, leaf.ndim()));
      },
      even, odd);
  return even;
}

}  // namespace detail

namespace lax {

// out[i] = x[0] op x[1] op ... op x[i] along `axis`, for an associative op of two trees of arrays, which gets
// many elements at once and must treat them one by one. `reverse` begins at the end. Each result has the
// shape of its array. Throws ShapeError where the arrays of xs differ in the extent of that axis.
template <class Op, class Xs>
auto associative_scan(const Op& op, const Xs& xs_, const AssociativeScanOptions& options = {}) {
  using namespace detail;
  auto xs = to_arrays(xs_);
  std::int64_t n = -1;
  tree::for_each(
      [&](const auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>) {
          check_operand("associative_scan", leaf);
          const std::int64_t extent =
              leaf.shape(normalize_axis("associative_scan", options.axis, leaf.ndim()));
          if (n >= 0 && extent != n)
            raise<ShapeError>({"associative_scan: the arrays differ in the extent of axis ", options.axis,
                               ": ", n, " and ", extent});
          n = extent;
        }
      },
      xs);
  if (n < 0) throw ValueError("associative_scan: xs has no arrays");
  const auto turned = [&](const auto& t) {
    return options.reverse && n > 0 ? stepped_tree(t, options.axis, n - 1, -1, n) : t;
  };
  return turned(scan_pairs(op, turned(xs), n, options.axis));
}

}  // namespace lax
NAX_END
