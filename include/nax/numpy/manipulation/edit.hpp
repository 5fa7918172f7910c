#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/numpy/reductions/reduce.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"

// Slices put in and taken out.
NAX_BEGIN

struct EditOptions {
  Axis axis = {};  // of the flattened arrays when not given
};

namespace detail {

// The operand and its axis: flattened when none was given.
template <class T>
Array<T> edit_operand(const char* function, Array<T> x, const EditOptions& options, int& axis) {
  check_operand(function, x);
  if (!options.axis.given()) x = reshape_to(function, x, Shape{x.size()});
  axis = normalize_axis(function, options.axis.given() ? options.axis.list()[0] : 0, x.ndim());
  return x;
}

// An index as an array of integers: of a 1-d mask as long as the axis where it is true.
template <class I>
auto named_places(const char* function, const I& obj, int axis, std::int64_t n) {
  if constexpr (std::is_same_v<I, std::vector<bool>>) {
    return named_places(function, host_numbers<bool>(obj), axis, n);
  } else {
    const auto index = index_array(obj);
    need_plain(function, "the places", index);
    if constexpr (std::is_same_v<typename decltype(index)::value_type, bool>) {
      if (!(index.shape() == Shape{n}))
        raise<ValueError>({function, ": the mask of shape ", index.shape(), " must be 1-d and of the extent ",
                           n, " of axis ", axis});
      return true_positions(function, typed<bool>(constant(index)));
    } else {
      return index;
    }
  }
}

// Positions that an integer, a slice, a mask, a vector or an array of integers names on an axis of n places.
template <class I>
std::vector<std::int64_t> named_positions(const char* function, const I& obj, int axis, std::int64_t n) {
  std::vector<std::int64_t> out;
  if constexpr (std::is_same_v<I, Slice>) {
    const SliceRange range = resolve(obj, n);
    for (std::int64_t i = 0; i < range.count; ++i) out.push_back(range.start + i * range.step);
  } else {
    out = checked_index(function, named_places(function, obj, axis, n), axis, n).to_vector();
  }
  return out;
}
// Positions before which something can be put: of n places, and behind the last. Negative ones count from n.
template <class I>
std::vector<std::int64_t> places_before(const char* function, const I& obj, int axis, std::int64_t n) {
  if constexpr (std::is_same_v<I, Slice>) {
    return named_positions(function, obj, axis, n);
  } else {
    const Array<std::int64_t> index = as_type<std::int64_t>(named_places(function, obj, axis, n));
    std::vector<std::int64_t> places = index.to_vector();
    for (std::int64_t& place : places) {
      if (place < -n || place > n)
        raise<IndexError>(
            {function, ": index ", place, " is out of bounds for axis ", axis, " with size ", n});
      if (place < 0) place += n;
    }
    return places;
  }
}

}  // namespace detail

// values after x: on an axis, where all other extents agree, or both flattened. With `axis` the result has
// the shape of x, longer along it by the extent of the values; else shape (n,), n the size of both. Throws
// ShapeError if extents other than that of the axis differ, and IndexError if `axis` is out of bounds.
template <detail::ArrayLike X, detail::Operand V>
auto append(const X& x_, const V& values, const EditOptions& options = {}) {
  using T = typename X::value_type;
  const auto x = detail::as_array(x_);
  const typename AtProxy<T>::Value v(values);
  if (options.axis.given())
    return detail::concatenate_on("append", std::vector{x, v.get()}, options.axis.list()[0]);
  return detail::concatenate_on("append",
                                std::vector{detail::reshape_to("append", x, Shape{x.size()}),
                                            detail::reshape_to("append", v.get(), Shape{v.get().size()})},
                                0);
}

// x without the slices that `obj` (an integer, a slice, a mask, a vector or an array of integers) names. The
// result has the shape of x, shorter along `axis` by the slices named; without `axis` x is flattened and the
// result 1-d. (`delete` is a keyword.)
template <detail::ArrayLike X, class I>
auto delete_(const X& x_, const I& obj, const EditOptions& options = {}) {
  int axis;
  const auto x = detail::edit_operand("delete", detail::as_array(x_), options, axis);
  const std::int64_t n = x.shape(axis);
  std::vector<bool> gone(static_cast<std::size_t>(n), false);
  for (std::int64_t i : detail::named_positions("delete", obj, axis, n))
    gone[static_cast<std::size_t>(i)] = true;
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < n; ++i)
    if (!gone[static_cast<std::size_t>(i)]) kept.push_back(i);
  return detail::take_positions(x, detail::index_array(kept), axis);
}

// x with values before each place that `obj` names (places of x, not of the result). The result has the shape
// of x, longer along `axis` by the places named; without `axis` x is flattened and the result 1-d. Throws
// IndexError if `axis` or a position is out of bounds, and ShapeError if the values do not broadcast to the
// places.
template <detail::ArrayLike X, class I, detail::Operand V>
auto insert(const X& x_, const I& obj, const V& values, const EditOptions& options = {}) {
  using T = typename X::value_type;
  int axis;
  const auto x = detail::edit_operand("insert", detail::as_array(x_), options, axis);
  const std::int64_t n = x.shape(axis);
  Array<T> v = typename AtProxy<T>::Value(values).get();
  detail::device_for("insert", x, v);  // together
  v = detail::brought_to(x.device(), v);
  std::vector<std::int64_t> places = detail::places_before("insert", obj, axis, n);
  // As NumPy: a lone integer inserts along the values' first axis, a list of places one slice at each.
  Dims filled;
  for (int a = v.ndim(); a < x.ndim(); ++a) filled.push_back(1);
  for (std::int64_t extent : v.shape()) filled.push_back(extent);
  v = detail::reshape_to("insert", v, filled);
  if constexpr (std::integral<I>) v = moveaxis(v, 0, axis);
  if (places.size() == 1) places.assign(static_cast<std::size_t>(v.shape(axis)), places[0]);
  const std::int64_t m = static_cast<std::int64_t>(places.size());
  // Where each inserted and each old slice ends up.
  std::vector<std::int64_t> moved;
  std::vector<std::int64_t> sorted(static_cast<std::size_t>(m)), inserted(static_cast<std::size_t>(m));
  std::iota(sorted.begin(), sorted.end(), std::int64_t{0});
  const auto place_of = [&](std::int64_t j) { return places[static_cast<std::size_t>(j)]; };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::int64_t i, std::int64_t j) { return place_of(i) < place_of(j); });
  auto next = sorted.cbegin();
  for (std::int64_t i = 0, at = 0; i <= n; ++i) {
    for (; next != sorted.cend() && place_of(*next) == i; ++next)
      inserted[static_cast<std::size_t>(*next)] = at++;
    if (i < n) moved.push_back(at++);
  }
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = n + m;
  const auto at_positions = [&](const std::vector<std::int64_t>& positions) {
    detail::Selection s = detail::Selection::all(Frame{shape, {}});
    auto step = std::make_shared<detail::GatherStep>();
    step->index = detail::typed<std::int64_t>(detail::beside(x, detail::index_array(positions)));
    step->axes.push_back(axis);
    for (int a = 0; a < x.ndim(); ++a)
      step->x_axis.push_back(a == axis ? -1 : a), step->index_axis.push_back(a == axis ? 0 : -1);
    s.gather = std::move(step);
    return s;
  };
  const detail::ComputeOn beside_x(x);
  Array<T> out = detail::update(empty<T>(shape), at_positions(moved), x, detail::Update::set);
  return detail::update(std::move(out), at_positions(inserted), v, detail::Update::set);
}

// The elements in row-major order, repeated or cut to fill another shape. The result has the shape `shape`.
// Throws ValueError if an extent is negative.
template <detail::ArrayLike X>
auto resize(const X& x_, const Shape& shape) {
  using T = typename X::value_type;
  const auto x = detail::as_array(x_);
  for (std::int64_t d : shape)
    if (d < 0) raise<ValueError>({"resize: all elements of the new shape must be non-negative: ", shape});
  const std::int64_t n = x.size(), wanted = detail::count_elements("resize", shape);
  if (n == 0) return zeros<T>(shape);
  const auto positions =
      detail::generated_on_host<std::int64_t>("resize", wanted, [n](std::int64_t i) { return i % n; });
  return detail::reshape_to(
      "resize", detail::take_positions(detail::reshape_to("resize", x, Shape{n}), positions, 0), shape);
}

NAX_END
