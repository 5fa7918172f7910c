#pragma once

#include <tuple>
#include <vector>

#include "nax/numpy/views/reshape.hpp"

// Broadcasting asked for by name. The results are views with strides of 0.
NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase broadcast_visible(const char* function, const ArrayBase& x, const Dims& shape);
template <class T>
Array<T> broadcast_visible(const char* function, const Array<T>& x, const Dims& shape) {
  return typed<T>(broadcast_visible(function, handle_of(x), shape));
}

NAX_ENGINE Dims common_shape(const char* function, std::initializer_list<const Layout*> layouts);

}  // namespace detail

// A view with this shape; axes of extent 1 repeat. Throws ShapeError where the shapes do not fit.
template <detail::ArrayLike X>
auto broadcast_to(const X& x, const Shape& shape) {
  return detail::broadcast_visible("broadcast_to", detail::materialise(x), shape);
}

// The shape that arrays of these shapes broadcast to. Throws ShapeError if the shapes do not broadcast.
NAX_ENGINE Shape broadcast_shapes(const std::vector<Shape>& shapes);

// All of the shape they broadcast to: a vector as meshgrid gives one, a tuple where element types differ.
// Throws ShapeError if the shapes do not broadcast.
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

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/views/broadcast_to-inl.hpp"
#endif
