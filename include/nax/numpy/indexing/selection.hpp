#pragma once

#include <memory>
#include <optional>

#include "nax/backend/cpu/maps/gather.hpp"
#include "nax/numpy/indexing/index_arrays.hpp"
#include "nax/numpy/indexing/slice.hpp"
#include "nax/numpy/views/views.hpp"

// Which elements of an array an index means, worked out once and then used to read, to write, and to
// differentiate.
//
// A Selection is first a view: for each visible axis of x a start, a step and a count, and the list of the
// axes that the view keeps. Where index arrays take part there is a second step, a gather from that view: one
// int64 array of positions (checked, not negative) over the view's indexed axes, which it reads as one,
// row-major. x_axis and index_axis say for each visible axis of the result whether the view moves along it,
// the index array, or both. Where a position is that of a window's first element, as in dynamic_slice, the
// view moves along the indexed axes, too, by the window's extents. Everything is about visible axes: the same
// selection serves cotangents and tangents with hidden axes of their own.
NAX_BEGIN
namespace detail {

struct GatherStep {
  Array<std::int64_t> index;
  Dims axes;                // of the view, indexed
  Dims x_axis, index_axis;  // per axis of the result; -1 where that side stands still
  Dims window;              // per indexed axis, its extent; empty where positions are of elements
};

struct Selection {
  Dims start, step, count;  // per axis of x
  Dims kept;                // per axis of the view: the axis of x, or -1 for a new one
  std::shared_ptr<const GatherStep> gather;

  static Selection all(const Frame& x) {
    Selection s;
    for (int axis = 0; axis < x.ndim(); ++axis) s.append(0, 1, x.visible(axis), true);
    return s;
  }
  void append(std::int64_t from, std::int64_t by, std::int64_t n, bool keep) {
    if (keep) kept.push_back(static_cast<std::int64_t>(start.size()));
    start.push_back(from);
    step.push_back(by);
    count.push_back(n);
  }

  // The view's layout over an array of layout `x`; its offset.
  std::int64_t view(const Layout& x, Layout& out) const;

  std::int64_t view_extent(std::int64_t axis) const {
    const std::int64_t from = kept[static_cast<std::size_t>(axis)];
    return from < 0 ? 1 : count[static_cast<std::size_t>(from)];
  }
  // The visible axes of the result.
  Dims result_shape() const;
  Levels index_levels() const { return gather ? layout_of(gather->index).levels : Levels(); }
};

// A frame of these hidden axes and visible ones, their extents taken from the operand that has them.
NAX_ENGINE Frame merge_frames(std::initializer_list<const Frame*> hidden, const Dims& visible);

// Row-major positions over axes of these extents as offsets for their strides.
NAX_ENGINE Array<std::int64_t> offsets_of(const Array<std::int64_t>& index, const Dims& extents,
                                          const Dims& strides);

// The loop that moves values (over hidden axes and the result's visible ones) from or to the places that `s`
// selects in `data`. `hold` keeps alive what the loop points into.
NAX_ENGINE loops::SelectLoop select_loop(const Selection& s, const ArrayBase& data, const ArrayBase& values,
                                         Array<std::int64_t>& hold);

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/indexing/selection-inl.hpp"
#endif
