#pragma once

#include <algorithm>

#include "nax/parallel/collective_rules.hpp"

// Collectives of mapped programs, by the name of the axis: inside vmap(f, {.axis_name = "i"}) and
// pmap(f, {.axis_name = "i"}) alike. All take a tree and keep its structure. Each throws ValueError where no
// axis of that name is mapped, ShapeError where shapes do not divide over the axis or differ between devices.
NAX_BEGIN

struct AllGatherOptions {
  int axis = 0;
  bool tiled = false;
};
struct PsumScatterOptions {
  int scatter_dimension = 0;
  bool tiled = false;
};
struct AllToAllOptions {
  bool tiled = false;
};

namespace detail {

// One function on every array of a tree.
template <class X, class F>
auto map_arrays(const X& x, F f) {
  return tree::map(
      [&](const auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>)
          return f(leaf);
        else if constexpr (Expression<Leaf>)
          return f(evaluate(leaf));
        else
          return f(Array<default_type_t<Leaf>>(leaf));
      },
      x);
}

NAX_ENGINE std::vector<MappedAxis> find_axes(const char* function, const AxisName& names);
NAX_ENGINE MappedAxis find_one_axis(const char* function, const AxisName& names);

template <class T>
Array<T> multiplied(const Array<T>& x, double factor) {
  return evaluate(x * static_cast<real_t<T>>(factor));
}
// Of whole numbers: their sum.
template <class T>
Combine combine_to_mean() {
  Combine combine = combine_to_sum<T>();
  if constexpr (is_inexact_v<T>) {
    combine.scale_on_host = scale_run<T>;
    combine.scale = [](const ArrayBase& x, double factor) -> ArrayBase {
      return multiplied(typed<T>(x), factor);
    };
  }
  return combine;
}

// Each array of a tree becomes the sum, or the mean of what is no whole number. Gradients of a tree over a
// device axis meet once: unrecorded arrays are sent together, and divided where they are added up.
template <class Tree>
void reduce_arrays(Tree& arrays, const std::vector<MappedAxis>& axes, bool mean) {
  for (const MappedAxis& axis : axes) {
    if (axis.on_devices && axis.size == 1) continue;
    std::vector<ArrayBase> together;
    std::vector<Combine> combine;
    std::vector<ArrayBase*> places;
    tree::for_each(
        [&](auto& leaf) {
          if constexpr (is_array_v<decltype(leaf)>) {
            using T = typename std::remove_cvref_t<decltype(leaf)>::value_type;
            if (!axis.on_devices || is_recorded(leaf)) {
              leaf = psum_one(leaf, axis);
              if constexpr (is_inexact_v<T>)
                if (mean) leaf = multiplied(leaf, 1.0 / static_cast<double>(axis.size));
            } else {
              together.push_back(contiguous(leaf));
              combine.push_back(mean ? combine_to_mean<T>() : combine_to_sum<T>());
              places.push_back(&leaf);
            }
          }
        },
        arrays);
    if (together.empty()) continue;
    const auto sums = axis.communicator().all_reduce(static_cast<int>(axis.index), mean ? "pmean" : "psum",
                                                     together, combine);
    for (std::size_t i = 0; i < sums.size(); ++i) *places[i] = sums[i];
  }
}
// Truth values are counted as int32.
template <class T>
auto summable(const Array<T>& x) {
  if constexpr (std::is_same_v<T, bool>)
    return Array<std::int32_t>(apply<rules::cast<std::int32_t>>(x));
  else
    return x;
}
template <class X>
auto reduce_tree(const X& x, const std::vector<MappedAxis>& axes, bool mean) {
  auto result = map_arrays(x, [](const auto& leaf) { return summable(leaf); });
  reduce_arrays(result, axes, mean);
  return result;
}

NAX_ENGINE std::int64_t total_size(const std::vector<MappedAxis>& axes);

template <class X>
auto extreme_tree(const char* function, Extreme extreme, const X& x, const AxisName& names) {
  const auto axes = find_axes(function, names);
  return map_arrays(x, [&](const auto& leaf) {
    auto result = leaf;
    for (const MappedAxis& axis : axes) result = extreme_one(function, extreme, result, axis);
    return result;
  });
}

}  // namespace detail

// The sum over the mapped axis (or axes), for all. Truth values are counted, as int32. Of the shape of x.
// Throws ValueError where no mapped axis has the name.
template <class X>
auto psum(const X& x, const AxisName& axis_name) {
  return detail::reduce_tree(x, detail::find_axes("psum", axis_name), false);
}

// The mean over the mapped axis. Integers and truth values become float. Of the shape of x. Throws ValueError
// where no mapped axis has the name.
template <class X>
auto pmean(const X& x, const AxisName& axis_name) {
  const auto axes = detail::find_axes("pmean", axis_name);
  const auto count = detail::total_size(axes);
  return tree::map(
      [&](const auto& leaf) {
        using T = typename std::remove_cvref_t<decltype(leaf)>::value_type;
        if constexpr (is_inexact_v<T>)
          return leaf;
        else
          return detail::evaluate(leaf / static_cast<float>(count));
      },
      detail::reduce_tree(x, axes, true));
}

// The largest value over the mapped axis, for all. Of the shape of x. Throws ValueError where no mapped axis
// has the name.
template <class X>
auto pmax(const X& x, const AxisName& axis_name) {
  return detail::extreme_tree("pmax", detail::Extreme::max, x, axis_name);
}
// The smallest value over the mapped axis, for all. Of the shape of x. Throws ValueError where no mapped axis
// has the name.
template <class X>
auto pmin(const X& x, const AxisName& axis_name) {
  return detail::extreme_tree("pmin", detail::Extreme::min, x, axis_name);
}

// Gathers the values of all devices along a new axis or, tiled, concatenates them along an existing one.
// Throws ValueError where no mapped axis has the name, and IndexError if `axis` is out of bounds.
template <class X>
auto all_gather(const X& x, const AxisName& axis_name, const AllGatherOptions& options = {}) {
  const auto axis = detail::find_one_axis("all_gather", axis_name);
  return detail::map_arrays(x, [&](const auto& leaf) {
    const int at = detail::normalize_axis("all_gather", options.axis, leaf.ndim() + (options.tiled ? 0 : 1));
    return detail::all_gather_one(leaf, axis, at, options.tiled);
  });
}

// The sum over the mapped axis, of which each keeps its part of scatter_dimension. Truth values are counted,
// as int32. Throws ValueError where no mapped axis has the name, and IndexError if the axis is out of bounds.
template <class X>
auto psum_scatter(const X& x, const AxisName& axis_name, const PsumScatterOptions& options = {}) {
  const auto axis = detail::find_one_axis("psum_scatter", axis_name);
  return detail::map_arrays(x, [&](const auto& leaf) {
    const int at = detail::normalize_axis("psum_scatter", options.scatter_dimension, leaf.ndim());
    return detail::psum_scatter_one(detail::summable(leaf), axis, at, options.tiled);
  });
}

// Splits `split_axis`, sends part i to device i, and concatenates what arrives along `concat_axis`. Throws
// ValueError where no mapped axis has the name, and IndexError if an axis is out of bounds.
template <class X>
auto all_to_all(const X& x, const AxisName& axis_name, int split_axis, int concat_axis,
                const AllToAllOptions& options = {}) {
  const auto axis = detail::find_one_axis("all_to_all", axis_name);
  return detail::map_arrays(x, [&](const auto& leaf) {
    const int split = detail::normalize_axis("all_to_all", split_axis, leaf.ndim());
    const int joined = detail::normalize_axis("all_to_all", concat_axis, leaf.ndim());
    return detail::all_to_all_one(leaf, axis, split, joined, options.tiled);
  });
}

// For each pair {from, to} of `permutation`, `to` receives the values of `from`; who receives nothing has
// zeros. Throws ValueError for an index out of range and where a source or a destination is named twice.
template <class X>
auto ppermute(const X& x, const AxisName& axis_name, std::vector<std::pair<int, int>> permutation) {
  std::sort(permutation.begin(), permutation.end());  // devices may name the pairs in any order
  const auto axis = detail::find_one_axis("ppermute", axis_name);
  std::vector<bool> from(static_cast<std::size_t>(axis.size)), to(from);
  for (const auto& move : permutation) {
    if (move.first < 0 || move.first >= axis.size || move.second < 0 || move.second >= axis.size)
      raise<ValueError>({"ppermute: the pair (", move.first, ", ", move.second,
                         ") is out of range for an axis of size ", axis.size});
    if (from[static_cast<std::size_t>(move.first)] || to[static_cast<std::size_t>(move.second)])
      throw ValueError("ppermute: sources and destinations must each be named once");
    from[static_cast<std::size_t>(move.first)] = to[static_cast<std::size_t>(move.second)] = true;
  }
  return detail::map_arrays(x,
                            [&](const auto& leaf) { return detail::ppermute_one(leaf, axis, permutation); });
}

// This program's place along the axis, an int32 of rank 0. Throws ValueError where no mapped axis has the
// name.
NAX_ENGINE Array<std::int32_t> axis_index(const AxisName& axis_name);

// The number of programs along the axis (or the product over several). Throws ValueError where no mapped axis
// has the name.
inline std::int64_t axis_size(const AxisName& axis_name) {
  return detail::total_size(detail::find_axes("axis_size", axis_name));
}

// Where JAX has them.
namespace lax {
using nax::all_gather;
using nax::all_to_all;
using nax::axis_index;
using nax::axis_size;
using nax::pmax;
using nax::pmean;
using nax::pmin;
using nax::ppermute;
using nax::psum;
using nax::psum_scatter;
}  // namespace lax

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/parallel/collectives-inl.hpp"
#endif
