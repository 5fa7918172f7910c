#pragma once

#include <tuple>
#include <vector>

#include "nax/numpy/join.hpp"

// Broadcasting asked for by name. The results are views with strides of 0.
namespace nax::inline NAX_ABI {
namespace detail {

template <class T>
Array<T> broadcast_visible(const char* function, const Array<T>& x, const Dims& shape) {
  check_operand(function, x);
  Frame frame = with_visible(layout_of(x), shape);
  count_elements(function, frame.shape);
  const int ndim = static_cast<int>(shape.size()), extra = ndim - x.ndim();
  bool fits = extra >= 0;
  for (int axis = 0; fits && axis < x.ndim(); ++axis) {
    const std::int64_t n = x.shape(axis);
    fits = n == 1 || n == shape[static_cast<std::size_t>(axis + extra)];
  }
  if (!fits)
    raise<ShapeError>(
        {function, ": operands could not be broadcast together with remapped shapes [original->remapped]: ",
         x.shape(), " and requested shape ", shape});
  return broadcast_frame(x, frame);
}

NAX_ENGINE Dims common_shape(const char* function, std::initializer_list<const Layout*> layouts) {
  Frame frame;
  for (const Layout* layout : layouts) frame = broadcast(function, frame, Frame{layout->visible_shape(), {}});
  return frame.shape;
}

}  // namespace detail

template <detail::ArrayLike X>
auto broadcast_to(const X& x, const Shape& shape) {
  return detail::broadcast_visible("broadcast_to", detail::materialise(x), shape);
}

// The shape that arrays of these shapes broadcast to.
NAX_ENGINE Shape broadcast_shapes(const std::vector<Shape>& shapes) {
  Frame frame;
  for (const Shape& shape : shapes) frame = detail::broadcast("broadcast_shapes", frame, Frame{shape, {}});
  return frame.shape;
}

// All of the shape they broadcast to: a vector as meshgrid gives one, a tuple where element types differ.
template <class T>
std::vector<Array<T>> broadcast_arrays(const std::vector<Array<T>>& list) {
  Frame frame;
  for (const Array<T>& x : list) frame = detail::broadcast("broadcast_arrays", frame, Frame{x.shape(), {}});
  std::vector<Array<T>> out;
  for (const Array<T>& x : list) out.push_back(detail::broadcast_visible("broadcast_arrays", x, frame.shape));
  return out;
}
template <class T>
std::vector<Array<T>> broadcast_arrays(std::initializer_list<Array<T>> list) {
  return broadcast_arrays(std::vector<Array<T>>(list));
}
template <detail::ArrayLike First, detail::ArrayLike... X>
auto broadcast_arrays(const First& first, const X&... x) {
  using T = typename First::value_type;
  if constexpr ((std::is_same_v<T, typename X::value_type> && ...)) {
    return broadcast_arrays(std::vector<Array<T>>{Array<T>(first), Array<T>(x)...});
  } else {
    return [](const auto&... a) {
      const Dims shape = detail::common_shape("broadcast_arrays", {&detail::layout_of(a)...});
      return std::tuple{detail::broadcast_visible("broadcast_arrays", a, shape)...};
    }(detail::as_array(first), detail::as_array(x)...);
  }
}

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

// Coordinate arrays of a grid: meshgrid(x, y), meshgrid({x, y, z}, {.indexing = "ij"}).
inline constexpr detail::MeshgridFunction meshgrid{};

}  // namespace nax::inline NAX_ABI
