#pragma once

#include <vector>

#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/views/reshape.hpp"

// Repetition.
NAX_BEGIN

// The array laid side by side reps[i] times along axis i. Fewer numbers than axes speak of the last ones.
template <detail::ArrayLike X>
auto tile(const X& x_, const Shape& reps) {
  const auto x = detail::as_array(x_);
  const int ndim = x.ndim() > static_cast<int>(reps.size()) ? x.ndim() : static_cast<int>(reps.size());
  Dims apart, repeated, out;
  for (int axis = 0; axis < ndim; ++axis) {
    const int own = axis - (ndim - x.ndim()), given = axis - (ndim - static_cast<int>(reps.size()));
    const std::int64_t n = own < 0 ? 1 : x.shape(own),
                       r = given < 0 ? 1 : reps[static_cast<std::size_t>(given)];
    if (r < 0) raise<ValueError>({"tile: negative repetitions are not allowed, ", reps});
    apart.push_back(1), apart.push_back(n);
    repeated.push_back(r), repeated.push_back(n);
    out.push_back(detail::multiply_extents(r, n));
  }
  detail::count_elements("tile", out);
  return detail::reshape_to(
      "tile", detail::broadcast_visible("tile", detail::reshape_to("tile", x, apart), repeated), out);
}

struct RepeatOptions {
  Axis axis = {};  // of the flattened array when not given
};
namespace detail {
template <class X>
auto repeat_operand(const X& x, const RepeatOptions& options, int& axis) {
  auto a = as_array(x);
  if (!options.axis.given()) a = reshape_to("repeat", a, Shape{a.size()});
  axis = normalize_axis("repeat", options.axis.given() ? options.axis.list()[0] : 0, a.ndim());
  return a;
}
}  // namespace detail

// Each slice of an axis `repeats` times in a row.
template <detail::ArrayLike X, std::integral I>
auto repeat(const X& x_, I repeats, const RepeatOptions& options = {}) {
  int axis;
  const auto x = detail::repeat_operand(x_, options, axis);
  const std::int64_t r = static_cast<std::int64_t>(repeats);
  if (r < 0) raise<ValueError>({"repeat: repeats may not contain negative values: ", r});
  Dims out = x.shape(), apart = out;
  apart.insert(static_cast<std::size_t>(axis) + 1, 1);
  Dims repeated = apart;
  repeated[static_cast<std::size_t>(axis) + 1] = r;
  std::int64_t& extent = out[static_cast<std::size_t>(axis)];
  extent = detail::multiply_extents(extent, r);
  detail::count_elements("repeat", out);
  return detail::reshape_to(
      "repeat", detail::broadcast_visible("repeat", detail::reshape_to("repeat", x, apart), repeated), out);
}
// Slice i of an axis repeats[i] times.
template <detail::ArrayLike X, class I>
requires detail::ArrayLike<I> || detail::IsVectorOfIntegers<I>::value auto repeat(
    const X& x_, const I& repeats_, const RepeatOptions& options = {}) {
  int axis;
  const auto x = detail::repeat_operand(x_, options, axis);
  const auto repeats = detail::plain_values("repeat", "repeats", detail::index_array(repeats_));
  const std::int64_t n = x.shape(axis);
  if (repeats.size() != 1 && static_cast<std::int64_t>(repeats.size()) != n)
    raise<ShapeError>(
        {"repeat: operands could not be broadcast together with shape (", n, ",) (", repeats.size(), ",)"});
  const auto times = [&](std::int64_t i) {
    return static_cast<std::int64_t>(repeats[repeats.size() == 1 ? 0 : static_cast<std::size_t>(i)]);
  };
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (times(i) < 0) raise<ValueError>({"repeat: repeats may not contain negative values: ", times(i)});
    total = detail::add_extents(total, times(i));
  }
  Dims out = x.shape();
  out[static_cast<std::size_t>(axis)] = total;
  detail::count_elements("repeat", out);
  std::int64_t from = -1, left = 0;
  const auto positions = detail::generated_on_host<std::int64_t>("repeat", total, [&](std::int64_t) {
    while (left == 0) left = times(++from);
    --left;
    return from;
  });
  return detail::take_positions(x, positions, axis);
}

NAX_END
