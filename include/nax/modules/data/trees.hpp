#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nax/core/thread_pool.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/tree/tree.hpp"

// Trees of arrays as rows: stacked into batches, and taken apart again.
NAX_BEGIN
namespace data::detail {

using namespace nax::detail;

// Is all of T a tree, and has it expressions in it?
template <class T>
consteval bool is_whole_tree();
template <class T, std::size_t... I>
consteval bool are_whole_trees(std::index_sequence<I...>) {
  return (is_whole_tree<tree::detail::Child<T, I>>() && ...);
}
template <class T>
consteval bool is_whole_tree() {
  constexpr tree::NodeKind kind = tree::detail::node_kind<T>();
  if constexpr (kind == tree::NodeKind::leaf || kind == tree::NodeKind::fixed) {
    return true;
  } else if constexpr (kind == tree::NodeKind::map) {
    return is_whole_tree<typename T::mapped_type>();
  } else if constexpr (kind == tree::NodeKind::sequence || kind == tree::NodeKind::optional) {
    return is_whole_tree<typename T::value_type>();
  } else if constexpr (kind == tree::NodeKind::product) {
    return are_whole_trees<T>(std::make_index_sequence<tree::detail::child_count_v<T>>{});
  } else {
    return false;
  }
}
template <class T>
consteval bool has_expressions();
template <class T, std::size_t... I>
consteval bool have_expressions(std::index_sequence<I...>) {
  return (has_expressions<tree::detail::Child<T, I>>() || ...);
}
template <class T>
consteval bool has_expressions() {
  constexpr tree::NodeKind kind = tree::detail::node_kind<T>();
  if constexpr (kind == tree::NodeKind::leaf) {
    return requires { typename T::expression_tag; };
  } else if constexpr (kind == tree::NodeKind::map) {
    return has_expressions<typename T::mapped_type>();
  } else if constexpr (kind == tree::NodeKind::sequence || kind == tree::NodeKind::optional) {
    return has_expressions<typename T::value_type>();
  } else if constexpr (kind == tree::NodeKind::product) {
    return have_expressions<T>(std::make_index_sequence<tree::detail::child_count_v<T>>{});
  } else {
    return false;
  }
}

// Turns the result of a user's function into an element: expressions become arrays. An element need not be a
// tree (a path, a decoded file) until a batch is made of it.
template <class R>
auto settled(R&& result) {
  using U = std::remove_cvref_t<R>;
  static_assert(!std::is_void_v<U>, "data: a function in a pipeline must return an element");
  if constexpr (is_whole_tree<U>() && has_expressions<U>()) {
    return tree::materialise(result);
  } else {
    return U(std::forward<R>(result));
  }
}

// A leaf of one element: an array, or a number that is to become part of one.
struct LeafView {
  const ArrayBase* array;
  const void* number;
  DType dtype;
};

template <class L>
struct LeafElement {
  using type = element_t<L>;
};
template <class T>
struct LeafElement<Array<T>> {
  using type = T;
};

// A C++ number as the array's element type holds it.
template <class E>
void append_leaves(const E& element, std::vector<LeafView>& leaves) {
  tree::detail::for_each(
      "batch",
      [&leaves](const auto& leaf) {
        using L = std::remove_cvref_t<decltype(leaf)>;
        using T = typename LeafElement<L>::type;
        if constexpr (is_array_v<L>) {
          leaves.push_back({&leaf, nullptr, dtype_of<T>});
        } else {
          static_assert(sizeof(T) == sizeof(L), "batch: a number of this type has no array");
          leaves.push_back({nullptr, &leaf, dtype_of<T>});
        }
      },
      element);
}

template <class E>
std::string leaf_path(const E& element, std::size_t index) {
  std::string found;
  std::size_t i = 0;
  tree::for_each_with_path(
      [&](const std::string& path, const auto&) {
        if (i++ == index && !path.empty()) found = " at " + path;
      },
      element);
  return found;
}

// Leaf j of the elements, `stride` leaves an element, as one array with a leading axis; `path` names it in
// errors. Throws ShapeError where shapes differ.
NAX_ENGINE ArrayBase stack_leaf(const std::vector<LeafView>& leaves, std::size_t stride, std::size_t j,
                                FunctionRef<std::string(std::size_t)> path);

// The tree of `like`, its leaves (numbers too) replaced by these arrays.
template <class E>
auto with_leaves(const E& like, std::vector<ArrayBase>&& arrays) {
  std::size_t i = 0;
  return tree::detail::map(
      "batch",
      [&](const auto& leaf) {
        using T = typename LeafElement<std::remove_cvref_t<decltype(leaf)>>::type;
        return nax::detail::typed<T>(std::move(arrays[i++]));
      },
      like);
}

// The type of batches of E.
template <class E>
using Batched = decltype(with_leaves(std::declval<const E&>(), std::declval<std::vector<ArrayBase>>()));

// At least one element, of one structure.
template <class E>
Batched<E> stack_elements(const std::vector<E>& elements) {
  std::vector<LeafView> leaves;
  for (const E& element : elements) append_leaves(element, leaves);
  const std::size_t stride = leaves.size() / elements.size();
  std::vector<LeafView> first;
  append_leaves(elements[0], first);
  if (first.size() != stride) raise<ValueError>({"batch: the elements of a batch have different structures"});
  std::vector<ArrayBase> arrays;
  for (std::size_t j = 0; j < stride; ++j)
    arrays.push_back(stack_leaf(leaves, stride, j, [&](std::size_t k) { return leaf_path(elements[0], k); }));
  return with_leaves(elements[0], std::move(arrays));
}

// Row i of an array with a leading axis, as a view.
NAX_ENGINE ArrayBase row_of(const ArrayBase& a, std::int64_t i);

template <class T>
T row_of_tree(const T& arrays, std::int64_t i) {
  return tree::detail::map(
      "data",
      [i](const auto& leaf) {
        return nax::detail::typed<typename std::remove_cvref_t<decltype(leaf)>::value_type>(row_of(leaf, i));
      },
      arrays);
}

// These rows of a row-major array on the host, copied into one.
NAX_ENGINE ArrayBase gather_rows(const ArrayBase& a, std::span<const std::int64_t> rows);

// The number of rows that all leaves have. Throws, on behalf of `function`, ValueError where they differ or a
// leaf has no axis.
template <class T>
std::int64_t count_rows(const char* function, const T& arrays) {
  std::int64_t rows = -1;
  std::string first_path;
  tree::for_each_with_path(
      [&](const std::string& path, const auto& leaf) {
        static_assert(is_array_v<decltype(leaf)>,
                      "from_arrays: the leaves of the tree must be arrays, one row an element");
        check_operand(function, leaf);
        need_plain(function, "the data", leaf);
        need_host(function, leaf);
        const std::string place = path.empty() ? "" : " at " + path;
        if (leaf.ndim() == 0) raise<ValueError>({function, ": an array without axes has no rows", place});
        if (rows < 0) {
          rows = leaf.shape(0);
          first_path = path;
        } else if (rows != leaf.shape(0)) {
          raise<ValueError>(
              {function, ": the arrays have ", rows, " rows at ", first_path, " and ", leaf.shape(0), place});
        }
      },
      arrays);
  if (rows < 0) raise<ValueError>({function, ": there is no array in the data"});
  return rows;
}

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/trees-inl.hpp"
#endif
