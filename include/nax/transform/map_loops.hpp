#pragma once

#include <functional>

#include "nax/transform/vmap.hpp"

// A function under several vmaps, how many is known at run time only: between the levels it is a
// std::function.
NAX_BEGIN
namespace detail {

template <class F, class... A>
using looped_result_t = decltype(array_tree(std::declval<const F&>()(std::declval<const A&>()...)));

// An argument of which the first loops.size() - missing axes take part in the loops; those of extent 1 that
// are broadcast are taken out.
template <class A>
A squeezed_loops(const char* function, const A& argument, const Dims& loops, int core) {
  if constexpr (is_array_v<A>) {
    Dims shape;
    const int own = argument.ndim() - core, missing = static_cast<int>(loops.size()) - own;
    for (int axis = 0; axis < argument.ndim(); ++axis)
      if (axis >= own || argument.shape(axis) == loops[static_cast<std::size_t>(axis + missing)])
        shape.push_back(argument.shape(axis));
    return shape.size() == static_cast<std::size_t>(argument.ndim()) ? argument
                                                                     : reshape_to(function, argument, shape);
  } else {
    return argument;
  }
}

// f(args...) mapped over the axes of `loops`, to which the arguments' axes before their last cores[i] ones
// broadcast. Arguments that are no arrays, or whose core is -1, are not mapped.
template <class F, class... A>
auto map_loops(const char* function, const F& f, const Dims& loops, const std::vector<int>& cores,
               const A&... args) {
  using R = looped_result_t<F, A...>;
  using Level = std::function<R(const A&...)>;
  Level g = [&f](const A&... a) -> R { return array_tree(f(a...)); };
  // Which arguments have an axis for a loop, by loop.
  const auto mapped = [&](const auto& argument, std::size_t i, std::size_t loop) {
    if constexpr (is_array_v<decltype(argument)>) {
      if (cores[i] < 0) return false;
      const std::int64_t at = static_cast<std::int64_t>(loop) - static_cast<std::int64_t>(loops.size()) +
                              argument.ndim() - cores[i];
      return at >= 0 && argument.shape(at) == loops[loop];
    } else {
      return false;
    }
  };
  for (std::size_t loop = loops.size(); loop-- > 0;) {
    std::vector<Axes> in_axes;
    std::size_t i = 0;
    ((in_axes.push_back(mapped(args, i, loop) ? Axes(0) : Axes(none)), ++i), ...);
    g = vmap(std::move(g), {.in_axes = std::move(in_axes), .axis_size = loops[loop]});
  }
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return g((cores[i] < 0 ? args : squeezed_loops(function, args, loops, cores[i]))...);
  }
  (std::index_sequence_for<A...>{});
}

}  // namespace detail
NAX_END
