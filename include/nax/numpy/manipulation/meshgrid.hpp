#pragma once

#include <vector>

#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/views/broadcast_to.hpp"

// Coordinates of a grid from those of its axes.
NAX_BEGIN

struct MeshgridOptions {
  bool sparse = false;          // extents of 1 instead of repetition
  const char* indexing = "xy";  // "ij": matrix order
};

namespace detail {

struct Meshgrid {
  using Options = MeshgridOptions;
  template <class T>
  static std::vector<Array<T>> call(const std::vector<Array<T>>& list, const Options& options) {
    const std::string_view indexing = options.indexing;
    if (indexing != "xy" && indexing != "ij")
      raise<ValueError>({"meshgrid: indexing must be 'xy' or 'ij', not '", indexing, "'"});
    const std::size_t n = list.size();
    const auto axis_of = [&](std::size_t i) { return indexing == "xy" && i < 2 && n > 1 ? 1 - i : i; };
    Dims full(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
      if (list[i].ndim() > 1) raise<ShapeError>({"meshgrid: arguments must be 1-d, shape ", list[i].shape()});
      full[axis_of(i)] = list[i].size();
    }
    std::vector<Array<T>> out;
    for (std::size_t i = 0; i < n; ++i) {
      Dims own(n, 1);
      own[axis_of(i)] = list[i].size();
      out.push_back(reshape_to("meshgrid", list[i], own));
      if (!options.sparse) out.back() = broadcast_visible("meshgrid", out.back(), full);
    }
    return out;
  }
};
struct MeshgridFunction : ListFunction<Meshgrid> {
  using ListFunction<Meshgrid>::operator();
  template <ArrayLike X, ArrayLike Y>
  requires std::is_same_v<typename X::value_type, typename Y::value_type>
  auto operator()(const X& x, const Y& y, const Options& options = {}) const {
    return Meshgrid::call(std::vector{as_array(x), as_array(y)}, options);
  }
  template <ArrayLike X, ArrayLike Y, ArrayLike Z>
  requires std::is_same_v<typename X::value_type, typename Y::value_type>
  auto operator()(const X& x, const Y& y, const Z& z, const Options& options = {}) const {
    return Meshgrid::call(std::vector{as_array(x), as_array(y), as_array(z)}, options);
  }
};

}  // namespace detail

// Coordinate arrays of a grid: meshgrid(x, y), meshgrid({x, y, z}, {.indexing = "ij"}). Each result has shape
// (n1, n0, n2, ...) for arrays of n0, n1, n2... elements, and (n0, n1, n2, ...) with "ij". Throws ShapeError
// for an array of several axes, and ValueError for an unknown indexing.
inline constexpr detail::MeshgridFunction meshgrid{};

NAX_END
