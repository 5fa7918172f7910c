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

// target += g at the selected places; hidden axes that the target has not are summed.
template <class To, class From>
void add_selected(const ArrayBase& target, const Selection& s, const ArrayBase& g) {
  Array<std::int64_t> hold;
  const loops::SelectLoop loop = select_loop(s, target, g, hold);
  if (on_accelerator(target))
    backend::operations(target.device()).scatter(target.device(), loop, true);
  else
    cpu::scatter_add<To, From>(loop);
}

template <class T>
Array<T> rounded(ArrayBase sums) {
  if constexpr (std::is_same_v<lane_t<T>, T>) {
    return typed<T>(std::move(sums));
  } else {
    return typed<T>(as_dtype(sums, dtype_of<T>));
  }
}

// Axes and serial alone: what the tape asks of an input.
NAX_ENGINE ArrayBase handle_without_elements(const ArrayBase& x);

template <class T>
Array<T> get(const Array<T>& x, const Selection& s);

// Zeros of visible shape `visible` with g added where s says. The hidden axes are those of g and of the
// indices, without the `dropped` ones: over these the sum goes.
template <class T>
Array<T> spread(const Array<T>& g, const Selection& s, const Dims& visible, const Levels& dropped) {
  Frame frame = merge_frames(
      {&layout_of(g), s.gather ? &static_cast<const Frame&>(layout_of(s.gather->index)) : &layout_of(g)},
      visible);
  for (int h = frame.hidden(); h-- > 0;)
    if (contains(dropped, frame.levels[h])) frame.levels.erase(h), frame.shape.erase(h);
  ArrayBase sums = allocate(dtype_of<lane_t<T>>, frame, device_for("index", g));
  clear_elements(sums);
  add_selected<lane_t<T>, T>(sums, s, g);
  Array<T> result = rounded<T>(std::move(sums));
  if (serial_of(g) == 0) return result;
  return record(std::move(result),
                wrt(
                    g, [s](const Array<T>& c) { return get(c, s); },
                    [s, visible, dropped](const Array<T>& t) { return spread(t, s, visible, dropped); }));
}

// The node of get. Its cotangents are added in place to what the input has gathered already, so that a loop
// over rows costs what the rows cost, not what the array does.
template <class T>
struct GetNode final : ResultNode<T> {
  std::uint64_t serial;
  Levels levels, dropped;  // of x; of the result but not of x
  Dims visible;            // of x
  std::optional<Selection> selection;

  GetNode(const Array<T>& x, const Selection& s)
      : serial(serial_of(x)), levels(layout_of(x).levels), visible(x.shape()), selection(s) {
    for (Level level : s.index_levels())
      if (!contains(levels, level)) dropped.push_back(level);
  }
  void pull(const ArrayBase& g, Reverse& sweep) override {
    const std::size_t node = sweep.place(serial);
    if (node == Tape::npos) return;
    const ArrayBase* sum = recording.tape ? nullptr : sweep.at(node);
    if (sum && fits(*sum, g))
      add_selected<T, T>(*sum, *selection, g);
    else
      sweep.add_at(node, spread(typed<T>(g), *selection, visible, dropped));
  }
  void push(Forward& sweep, std::size_t self) override {
    if (const ArrayBase* t = sweep.find(serial)) sweep.put(self, get(typed<T>(*t), *selection));
  }
  Watchers watchers(const Tape& tape) const override { return tape.watchers(serial); }

 private:
  // Can g be added to this sum where it lies?
  bool fits(const ArrayBase& sum, const ArrayBase& g) const {
    if constexpr (std::is_same_v<T, lane_t<T>>) {
      if (!is_exclusive(sum)) return false;
      for (Level level : layout_of(g).levels)
        if (!contains(layout_of(sum).levels, level) && !contains(dropped, level)) return false;
      return true;
    } else {
      return false;
    }
  }
};

template <class T>
Array<T> get(const Array<T>& x, const Selection& s) {
  Array<T> result;
  if (!s.gather) {
    Layout layout;
    const std::int64_t offset = s.view(layout_of(x), layout);
    result = typed<T>(view(x, std::move(layout), offset));
  } else {
    result = typed<T>(allocate(dtype_of<T>,
                               merge_frames({&layout_of(x), &layout_of(s.gather->index)}, s.result_shape()),
                               device_for("index", x, s.gather->index)));
    Array<std::int64_t> hold;
    const loops::SelectLoop loop = select_loop(s, x, result, hold);
    if (on_accelerator(result))
      backend::operations(result.device()).gather(result.device(), loop);
    else
      cpu::gather(loop, sizeof(T));
  }
  if constexpr (is_inexact_v<T>)
    if (is_recorded(x)) ArrayAccess::serial(result) = recording.tape->emplace<GetNode<T>>(x, s);
  return result;
}

// `count` entries of an axis from `start` on.
template <class T>
Array<T> stretch_of_axis(const Array<T>& x, int axis, std::int64_t start, std::int64_t count) {
  Selection s = Selection::all(layout_of(x));
  s.start[static_cast<std::size_t>(axis)] = start;
  s.count[static_cast<std::size_t>(axis)] = count;
  return get(x, s);
}

// Which round each index belongs to when every round names a place at most once: the k-th to name its place
// is in round k. Fills `rounds` in the order of a row-major walk over the index array; how many rounds there
// are.
NAX_ENGINE std::int64_t rounds_of(const Selection& s, std::vector<std::int64_t>& rounds);

// Returns the selection with indices dropped where keep(i) is false; i counts the index array's elements.
template <class F>
Selection with_dropped(const Selection& s, const F& keep) {
  auto step = std::make_shared<GatherStep>(*s.gather);
  step->index = typed<std::int64_t>(copy_over(s.gather->index, layout_of(s.gather->index)));
  std::int64_t* at = elements<std::int64_t>(step->index);
  const std::int64_t n = layout_of(step->index).size();
  for (std::int64_t i = 0; i < n; ++i)
    if (!keep(i)) at[i] = loops::dropped_index;
  Selection out = s;
  out.gather = std::move(step);
  return out;
}

// Counts on a GPU, for each index, how many before it (or after it) name its place too.
[[gnu::cold]] NAX_ENGINE ArrayBase ranks_on_device(const Selection& s, bool after);
// Returns the selection with the indices of one rank only.
[[gnu::cold]] NAX_ENGINE Selection with_rank(const Selection& s, const ArrayBase& ranks, std::int64_t rank);

// Of several indices of one place only the last.
NAX_ENGINE Selection last_ones(const Selection& s);

// v over the selected shape; leading ones that it has too many are let go, as NumPy does.
template <class T>
Array<T> fit_values(const char* function, const Array<T>& v, const Dims& shape) {
  const int extra = v.ndim() - static_cast<int>(shape.size());
  bool fits = true;
  Dims rest;
  for (int axis = 0; axis < v.ndim(); ++axis) {
    const std::int64_t n = v.shape(axis);
    if (axis < extra) {
      fits = fits && n == 1;
      continue;
    }
    rest.push_back(n);
    fits = fits && (n == 1 || n == shape[static_cast<std::size_t>(axis - extra)]);
  }
  if (!fits)
    raise<ShapeError>(
        {function, ": could not broadcast values of shape ", v.shape(), " into the selected shape ", shape});
  return broadcast_frame(extra > 0 ? restride(v, with_visible(layout_of(v), rest)) : v,
                         with_visible(layout_of(v), shape));
}

// May this handle's elements be written over? Nobody else holds them, and no two places share one.
inline bool owns_elements(const ArrayBase& x) {
  const BufferRef& buffer = ArrayAccess::buffer(x);
  return buffer.unique() && !buffer->source && layout_of(x).is_contiguous();
}

// x with `value`, broadcast to the selected shape, at the selected places. Of several writes to one place,
// `add` takes the sum and `set` the last. x's buffer is reused where nobody else holds it; a tape that needs
// the old elements does.
template <class T>
Array<T> update(Array<T> x, Selection s, const Array<T>& value, Update mode) {
  const char* const name = mode == Update::set ? "at.set" : "at.add";
  const Dims visible = x.shape();
  const Device device = device_for(name, x, value);
  if (on_accelerator(device) && !on_accelerator(x)) x = put(x, device);
  const Array<T> v = fit_values(name, brought_to(device, value), s.result_shape());
  const Frame frame =
      merge_frames({&layout_of(x), &layout_of(v),
                    s.gather ? &static_cast<const Frame&>(layout_of(s.gather->index)) : &layout_of(x)},
                   visible);
  if constexpr (is_inexact_v<T>)
    if (mode == Update::set && is_recorded(v)) s = last_ones(s);
  const Array<T> mark = typed<T>(handle_without_elements(x));

  Array<T> target;
  if (static_cast<const Frame&>(layout_of(x)) == frame && owns_elements(x)) {
    target = std::move(x);
    ArrayAccess::serial(target) = 0;
  } else {
    target = typed<T>(copy_over(x, frame));
  }
  Array<std::int64_t> hold;
  const loops::SelectLoop loop = select_loop(s, target, v, hold);
  if (on_accelerator(target))
    backend::operations(device).scatter(device, loop, mode == Update::add);
  else if (mode == Update::set)
    cpu::scatter_set(loop, sizeof(T));
  else
    cpu::scatter_add<T, T>(loop);
  if constexpr (is_inexact_v<T>) {
    if (serial_of(mark) == 0 && serial_of(v) == 0) return target;
    const bool set = mode == Update::set;
    const auto through = [s, set](const Array<T>& g) {
      return set ? update(g, s, Array<T>(T(0)), Update::set) : g;
    };
    return record(std::move(target), wrt(mark, through, through),
                  wrt(
                      v, [s](const Array<T>& g) { return get(g, s); },
                      [s, visible](const Array<T>& t) { return spread(t, s, visible, Levels()); }));
  } else {
    return target;
  }
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/indexing/select-inl.hpp"
#endif
