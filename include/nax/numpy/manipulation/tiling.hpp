#pragma once

#include <vector>

#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/views/reshape.hpp"

// Repetition.
NAX_BEGIN

namespace detail {
NAX_ENGINE ArrayBase tiled(const ArrayBase& x, const Shape& reps);
}  // namespace detail

// The array laid side by side reps[i] times along axis i. Fewer numbers than axes speak of the last ones. (m,
// n) with reps {2, 3} gives (2 m, 3 n); of both the shorter gets leading ones. Throws ValueError if a number
// of repetitions is negative.
template <detail::ArrayLike X>
auto tile(const X& x, const Shape& reps) {
  return detail::typed<typename X::value_type>(detail::tiled(detail::materialise(x), reps));
}

struct RepeatOptions {
  Axis axis = {};  // of the flattened array when not given
};
namespace detail {
// The operand and its axis: flattened when none was given.
NAX_ENGINE ArrayBase repeat_operand(const ArrayBase& x, const Axis& along, int& axis);
NAX_ENGINE ArrayBase repeated(const ArrayBase& x, std::int64_t repeats, const Axis& along);
}  // namespace detail

// Each slice of an axis `repeats` times in a row. The result has the shape of x with the sum of the repeats
// along `axis`; without `axis` x is flattened and the result 1-d. Throws ValueError if a number of repeats is
// negative, ShapeError if their count does not fit, and IndexError if `axis` is out of bounds.
template <detail::ArrayLike X, std::integral I>
auto repeat(const X& x, I repeats, const RepeatOptions& options = {}) {
  return detail::typed<typename X::value_type>(
      detail::repeated(detail::materialise(x), static_cast<std::int64_t>(repeats), options.axis));
}
// Slice i of an axis repeats[i] times.
template <detail::ArrayLike X, class I>
requires detail::ArrayLike<I> || detail::IsVectorOfIntegers<I>::value auto repeat(
    const X& x_, const I& repeats_, const RepeatOptions& options = {}) {
  int axis;
  const auto x = detail::typed<typename X::value_type>(
      detail::repeat_operand(detail::materialise(x_), options.axis, axis));
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

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/manipulation/tiling-inl.hpp"
#endif
