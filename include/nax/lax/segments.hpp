#pragma once

#include "nax/lax/windows.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/elementwise/logic.hpp"
#include "nax/numpy/indexing/take.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/sorting/sort.hpp"

// Reductions of rows that share a number: jax.ops.segment_sum and its like.
NAX_BEGIN

struct SegmentOptions {
  std::optional<std::int64_t> num_segments = {};  // the largest id + 1 when not given
  bool indices_are_sorted = false;                // JAX's hints; nothing depends on them here
  bool unique_indices = false;
};

namespace detail {

struct Segments {
  Array<std::int64_t> ids;  // those out of range name a segment behind the others
  std::int64_t count;
};
template <class X, class I>
Segments segments_of(const char* function, const Array<X>& x, const Array<I>& ids,
                     const SegmentOptions& options) {
  static_assert(is_integer_v<I>, "segment ids must be of an integer type");
  check_operand(function, x);
  check_operand(function, ids);
  if (ids.ndim() != 1 || x.ndim() < 1 || x.shape(0) != ids.shape(0))
    raise<ShapeError>({function, ": segment_ids must be one for each row of data: shapes ", ids.shape(),
                       " and ", x.shape()});
  std::int64_t count = 0;
  if (options.num_segments) {
    count = *options.num_segments;
    if (count < 0) raise<ValueError>({function, ": num_segments must not be negative: ", count});
  } else if (is_batched(ids)) {
    raise<ValueError>({function, ": segment_ids are batched by vmap: give num_segments"});
  } else if (ids.size() > 0) {
    count = std::max<std::int64_t>(0, static_cast<std::int64_t>(Array<I>(nax::max(ids)).item()) + 1);
  }
  const Array<std::int64_t> wide = ids.template astype<std::int64_t>();
  return {where(logical_or(wide < std::int64_t{0}, wide >= count), count, wide), count};
}

// `start` for each segment and one more, shaped below as the rows of x.
template <class T>
Array<T> segment_start(const Array<T>& x, std::int64_t count, T start) {
  Dims shape = x.shape();
  shape[0] = count + 1;
  const ComputeOn beside_x(x);
  return full<T>(Shape(shape), start);
}
template <class T>
Array<T> without_last_row(const Array<T>& x) {
  return x(slice(0, x.shape(0) - 1));
}

// The row, element by element, that is the best of its segment; the number of rows where there is none. Rows
// are written from the worst to the best, and of equal ones the first after the others, since the last write
// to a place stays.
template <class T>
Array<std::int64_t> best_rows_in_order(const Array<T>& x, const Segments& s, bool greatest) {
  Array<T> key = flip(typed<T>(constant(x)), {.axis = 0});
  if constexpr (is_inexact_v<T>)
    if (!greatest)
      key = evaluate(make_expr<rules::negative>(key));  // a NaN is the last in ascending order alone
  const bool descending = !greatest && !is_inexact_v<T>;
  const Array<std::int64_t> order = as_type<std::int64_t>(argsort_axis(key, 0, descending));
  const Array<std::int64_t> rows = x.shape(0) - std::int64_t{1} - order;
  Dims shape(static_cast<std::size_t>(x.ndim()), 1);
  shape[0] = x.shape(0);
  const Array<std::int64_t> ids =
      broadcast_visible("segment_max", reshape_to("segment_max", s.ids, shape), x.shape());
  const Array<std::int64_t> segments = get(ids, along_selection(layout_of(ids), rows, 0));
  const Array<std::int64_t> none = segment_start(rows, s.count, x.shape(0));
  return without_last_row(update(none, along_selection(layout_of(none), segments, 0), rows, Update::set));
}
template <class T, class Better>
Array<std::int64_t> best_rows(const char* function, const Array<T>& x, const Segments& s, bool greatest,
                              const Better& better) {
  const Device device = device_for(function, x, s.ids);
  if (on_accelerator(device)) {
    check_recordable(function, x);
    check_recordable(function, s.ids);
    return best_rows_in_order(x, s, greatest);
  }
  Frame frame = merge_frames({&layout_of(x), &layout_of(s.ids)}, x.shape());
  const Array<T> values = typed<T>(copy_over(constant(x), frame));
  const std::size_t hidden = frame.levels.size();
  std::int64_t examples = 1, width = 1;
  for (std::size_t h = 0; h < hidden; ++h) examples *= frame.shape[h];
  for (std::size_t a = hidden + 1; a < frame.shape.size(); ++a) width *= frame.shape[a];
  const std::int64_t rows = frame.shape[hidden];
  Frame of_ids = frame, out = frame;
  while (of_ids.shape.size() > hidden + 1) of_ids.shape.pop_back();
  out.shape[hidden] = s.count;
  const Array<std::int64_t> ids = typed<std::int64_t>(copy_over(s.ids, of_ids));
  Array<std::int64_t> result = typed<std::int64_t>(allocate_on_host(DType::int64, out));
  const T* a = elements<const T>(values, transforms_handled);
  const std::int64_t* id = elements<const std::int64_t>(ids, transforms_handled);
  std::int64_t* to = elements<std::int64_t>(result);
  std::fill(to, to + examples * s.count * width, rows);
  for (std::int64_t e = 0; e < examples; ++e)
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t segment = id[e * rows + i];
      if (segment >= s.count) continue;
      for (std::int64_t k = 0; k < width; ++k) {
        std::int64_t& best = to[(e * s.count + segment) * width + k];
        const T value = a[(e * rows + i) * width + k];
        if (best == rows || better(value, a[(e * rows + best) * width + k])) best = i;
      }
    }
  return result;
}

template <class T, class Better>
Array<T> segment_extremum(const char* function, const Array<T>& x, const Segments& s, T none_there,
                          bool greatest, const Better& better) {
  const Array<std::int64_t> rows = best_rows(function, x, s, greatest, better);
  Dims shape = x.shape();
  shape[0] = 1;
  const ComputeOn beside_x(x);
  const Array<T> one_more =
      concatenate_on(function, std::vector<Array<T>>{x, Array<T>(full<T>(Shape(shape), none_there))}, 0);
  return get(one_more, along_selection(layout_of(one_more), rows, 0));
}

}  // namespace detail

// out[k] = the sum of the rows x[i] with segment_ids[i] == k. Ids out of range count for nothing; segments
// without rows are 0. Differentiable in x. x (n, ...) gives (num_segments, ...). Throws ShapeError unless
// there is an id for each row, and ValueError for a negative `num_segments`, or none under vmap.
template <detail::ArrayLike X, detail::ArrayLike I>
auto segment_sum(const X& x_, const I& segment_ids, const SegmentOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::as_array(x_);
  const auto s = detail::segments_of("segment_sum", x, detail::as_array(segment_ids), options);
  return detail::without_last_row(Array<T>(detail::segment_start(x, s.count, T(0)).at(s.ids).add(x)));
}
// Products; segments without rows are 1. x (n, ...) gives (num_segments, ...). Throws ShapeError unless there
// is an id for each row, and ValueError for a negative `num_segments`, or none under vmap.
template <detail::ArrayLike X, detail::ArrayLike I>
auto segment_prod(const X& x_, const I& segment_ids, const SegmentOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::as_array(x_);
  const auto s = detail::segments_of("segment_prod", x, detail::as_array(segment_ids), options);
  return detail::without_last_row(Array<T>(detail::segment_start(x, s.count, T(1)).at(s.ids).multiply(x)));
}
// Maxima, of real types; segments without rows are -inf, or the least integer. A gradient goes to the first
// of the largest. x (n, ...) gives (num_segments, ...). Throws ShapeError unless there is an id for each row,
// and ValueError for a negative `num_segments`, or none under vmap.
template <detail::ArrayLike X, detail::ArrayLike I>
auto segment_max(const X& x_, const I& segment_ids, const SegmentOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::as_array(x_);
  const auto s = detail::segments_of("segment_max", x, detail::as_array(segment_ids), options);
  return detail::segment_extremum("segment_max", x, s, detail::extreme_of<T, cpu::reduce_op::Max>(), true,
                                  [](T a, T b) { return a > b || (a != a && b == b); });
}
// The smallest element of each segment. x (n, ...) gives (num_segments, ...). Throws ShapeError unless there
// is an id for each row, and ValueError for a negative `num_segments`, or none under vmap.
template <detail::ArrayLike X, detail::ArrayLike I>
auto segment_min(const X& x_, const I& segment_ids, const SegmentOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::as_array(x_);
  const auto s = detail::segments_of("segment_min", x, detail::as_array(segment_ids), options);
  return detail::segment_extremum("segment_min", x, s, detail::extreme_of<T, cpu::reduce_op::Min>(), false,
                                  [](T a, T b) { return a < b || (a != a && b == b); });
}

namespace lax {
using nax::segment_max;
using nax::segment_min;
using nax::segment_prod;
using nax::segment_sum;
}  // namespace lax

NAX_END
