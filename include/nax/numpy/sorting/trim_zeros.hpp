#pragma once

#include <string_view>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/manipulation/split.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/sorting/nonzero.hpp"

NAX_BEGIN

struct TrimZerosOptions {
  std::string_view trim = "fb";  // from the front, from the back, or both
  Axis axis = {};                // of all axes when not given
};

// x without the zeros at the ends of its axes: the smallest block that holds all elements that are not zero
// (NaN is not). How large it is depends on the values, so that vmap refuses it. The result has as many axes
// as x: (m, n) at most for x of shape (m, n). Throws ValueError for other letters than f and b.
template <detail::ArrayLike X>
auto trim_zeros(const X& filt, const TrimZerosOptions& options = {}) {
  using T = typename X::value_type;
  Array<T> x = detail::materialise(filt);
  const Array<bool> mask = detail::truth("trim_zeros", x);
  bool front = false, back = false;
  for (const char letter : options.trim) {
    if (letter != 'f' && letter != 'F' && letter != 'b' && letter != 'B')
      raise<ValueError>({"trim_zeros: unexpected character(s) in trim: '", options.trim, "'"});
    front |= letter == 'f' || letter == 'F';
    back |= letter == 'b' || letter == 'B';
  }
  const AxisMarks marks = detail::marked_axes("trim_zeros", options.axis, x.ndim());
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (!marks[static_cast<std::size_t>(axis)]) continue;
    Dims order(std::size_t{1}, axis);
    for (int other = 0; other < x.ndim(); ++other)
      if (other != axis) order.push_back(other);
    const std::int64_t n = mask.shape(axis), each = n > 0 ? mask.size() / n : 0;
    const std::vector<bool> at =
        any(detail::reshape_to("trim_zeros", detail::permute(mask, order), Shape{n, each}), {.axis = 1})
            .to_vector();
    std::int64_t begin = 0, end = n;
    if (back)
      while (end > 0 && !at[static_cast<std::size_t>(end - 1)]) --end;
    if (front)
      while (begin < end && !at[static_cast<std::size_t>(begin)]) ++begin;
    x = Array<T>(detail::narrow(x, axis, begin, end));
  }
  return x;
}

NAX_END
