#pragma once

#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/indexing/put.hpp"
#include "nax/numpy/indexing/selection.hpp"

// Reading and writing what a Selection means, with derivatives. Three linear functions, each other's
// transposes:
//   get(x, s)          the selected elements
//   spread(g, s, ...)  zeros, with g added at the selected places
//   update(x, s, v)    x with v written to, or added at, the selected places
NAX_BEGIN
namespace detail {

enum class Update { set, add };

// target += g at the selected places; hidden axes that the target has not are summed. g is of the target's
// type, or of a half type where that is float.
NAX_ENGINE void add_selected(const ArrayBase& target, const Selection& s, const ArrayBase& g);

// Axes and serial alone: what the tape asks of an input.
NAX_ENGINE ArrayBase handle_without_elements(const ArrayBase& x);

NAX_ENGINE ArrayBase get(const ArrayBase& x, const Selection& s);
template <class T>
Array<T> get(const Array<T>& x, const Selection& s) {
  return typed<T>(get(handle_of(x), s));
}

// Zeros of visible shape `visible` with g added where s says. The hidden axes are those of g and of the
// indices, without the `dropped` ones: over these the sum goes.
NAX_ENGINE ArrayBase spread(const ArrayBase& g, const Selection& s, const Dims& visible,
                            const Levels& dropped);

// `count` entries of an axis from `start` on.
template <class T>
Array<T> stretch_of_axis(const Array<T>& x, int axis, std::int64_t start, std::int64_t count) {
  Selection s = Selection::all(layout_of(x));
  s.start[static_cast<std::size_t>(axis)] = start;
  s.count[static_cast<std::size_t>(axis)] = count;
  return get(x, s);
}

// Counts, for each index, how many before it (or after it) name its place too.
[[gnu::cold]] NAX_ENGINE ArrayBase index_ranks(const Selection& s, bool after);
// The greatest of these ranks. While a program is recorded, the greatest that there may be: every index of a
// line names one place. Throws NotRecordable for lines of more than 32 indices then.
[[gnu::cold]] NAX_ENGINE std::int64_t last_rank(const Selection& s, const ArrayBase& ranks);
// Returns the selection with the indices of one rank only.
[[gnu::cold]] NAX_ENGINE Selection with_rank(const Selection& s, const ArrayBase& ranks, std::int64_t rank);

// Of several indices of one place only the last.
NAX_ENGINE Selection last_ones(const Selection& s);

// v over the selected shape; leading ones that it has too many are let go, as NumPy does.
NAX_ENGINE ArrayBase fit_values(const char* function, const ArrayBase& v, const Dims& shape);

// May this handle's elements be written over? No other handle shares them, and no two places share one.
inline bool owns_elements(const ArrayBase& x) {
  const BufferRef& buffer = ArrayAccess::buffer(x);
  return buffer.unique() && !buffer->source && layout_of(x).is_contiguous();
}

// x with `value`, of x's type and broadcast to the selected shape, at the selected places. Of several writes
// to one place, `add` takes the sum and `set` the last. x's buffer is reused if no other handle shares it; a
// tape that needs the old elements does.
NAX_ENGINE ArrayBase update(ArrayBase x, Selection s, const ArrayBase& value, Update mode);
template <class T>
Array<T> update(Array<T> x, Selection s, const Array<T>& value, Update mode) {
  return typed<T>(update(ArrayBase(std::move(x)), std::move(s), handle_of(value), mode));
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/indexing/select-inl.hpp"
#endif
