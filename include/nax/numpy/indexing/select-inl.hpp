#pragma once

#include <algorithm>

#include "nax/loops/index_ranks.hpp"
#include "nax/numpy/indexing/index_arrays.hpp"
#include "nax/numpy/indexing/select.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase handle_without_elements(const ArrayBase& x) {
  ArrayBase handle = x;
  ArrayAccess::buffer(handle) = BufferRef();
  return handle;
}

// The selection of windows with a position for each of their elements.
NAX_ENGINE Selection without_windows(Selection s) {
  auto step = std::make_shared<GatherStep>(*s.gather);
  const Dims window = std::exchange(step->window, Dims());
  const ArrayBase starts = step->index, offsets = allocate_on_host(DType::int64, Frame{window, {}});
  std::int64_t* const at = elements<std::int64_t>(offsets);
  for (std::int64_t i = 0, n = layout_of(offsets).size(); i < n; ++i) {
    std::int64_t rest = i, stride = 1;
    at[i] = 0;
    for (std::size_t k = window.size(); k-- > 0; rest /= window[k]) {
      at[i] += rest % window[k] * stride;
      stride *= s.view_extent(step->axes[k]);
    }
  }
  const ArrayBase along = beside(starts, offsets);
  const Frame frame = merge_frames({&layout_of(starts)}, window);
  step->index = typed<std::int64_t>(allocate(DType::int64, frame, starts.device()));
  backend::run(starts.device(),
               ops::JoinIndices{1, frame.shape, plain_operand(starts, strides_over(layout_of(starts), frame)),
                                plain_operand(along, strides_over(layout_of(along), frame)),
                                plain_operand(step->index, layout_of(step->index).strides)});
  for (std::size_t axis = 0; axis < step->x_axis.size(); ++axis)
    for (std::size_t k = 0; k < window.size(); ++k)
      if (step->x_axis[axis] == step->axes[k])
        step->x_axis[axis] = -1, step->index_axis[axis] = static_cast<std::int64_t>(k);
  s.gather = std::move(step);
  return s;
}

NAX_ENGINE void add_selected(const ArrayBase& target, const Selection& s, const ArrayBase& g) {
  if (s.gather && !s.gather->window.empty())
    for (Level level : s.index_levels())  // windows of several examples may meet in the target
      if (!contains(layout_of(target).levels, level)) return add_selected(target, without_windows(s), g);
  Array<std::int64_t> hold;
  backend::run(target.device(), ops::Scatter{select_loop(s, target, g, hold), true});
}

NAX_ENGINE ArrayBase spread(const ArrayBase& g, const Selection& s, const Dims& visible,
                            const Levels& dropped) {
  Frame frame = merge_frames(
      {&layout_of(g), s.gather ? &static_cast<const Frame&>(layout_of(s.gather->index)) : &layout_of(g)},
      visible);
  for (int h = frame.hidden(); h-- > 0;)
    if (contains(dropped, frame.levels[h]))
      frame.levels.erase(static_cast<std::size_t>(h)), frame.shape.erase(static_cast<std::size_t>(h));
  const Device device = s.gather ? device_for("index", g, s.gather->index) : device_for("index", g);
  ArrayBase sums = allocate(lane_of(g.dtype()), frame, device);
  clear_elements(sums);
  add_selected(sums, s, brought_to(device, g));
  ArrayBase result = as_dtype(std::move(sums), g.dtype());
  if (serial_of(g) == 0) return result;
  return record(std::move(result),
                wrt(
                    g, [s](const ArrayBase& c) { return get(c, s); },
                    [s, visible, dropped](const ArrayBase& t) { return spread(t, s, visible, dropped); }));
}

// The node of get. Its cotangents are added in place to what the input has gathered already, so that a loop
// over rows costs what the rows cost, not what the array does.
struct GetNode final : ResultNode {
  std::uint64_t serial;
  Levels levels, dropped;  // of x; of the result but not of x
  Dims visible;            // of x
  std::optional<Selection> selection;

  GetNode(const ArrayBase& x, const Selection& s)
      : serial(serial_of(x)), levels(layout_of(x).levels), visible(x.shape()), selection(s) {
    for (Level level : s.index_levels())
      if (!contains(levels, level)) dropped.push_back(level);
  }
  void pull(const ArrayBase& g, Reverse& sweep) override {
    const std::size_t node = sweep.place(serial);
    if (node == Tape::npos) return;
    const ArrayBase* sum = recording.tape ? nullptr : sweep.at(node);
    if (sum && fits(*sum, g))
      add_selected(*sum, *selection, g);
    else
      sweep.add_at(node, spread(g, *selection, visible, dropped));
  }
  void push(Forward& sweep, std::size_t self) override {
    if (const ArrayBase* t = sweep.find(serial)) sweep.put(self, get(*t, *selection));
  }
  Watchers watchers(const Tape& tape) const override { return tape.watchers(serial); }

 private:
  // Can g be added to this sum where it lies?
  bool fits(const ArrayBase& sum, const ArrayBase& g) const {
    if (lane_of(g.dtype()) != g.dtype() || !is_exclusive(sum)) return false;
    for (Level level : layout_of(g).levels)
      if (!contains(layout_of(sum).levels, level) && !contains(dropped, level)) return false;
    return true;
  }
};

NAX_ENGINE ArrayBase get(const ArrayBase& x, const Selection& s) {
  ArrayBase result;
  if (!s.gather) {
    Layout layout;
    const std::int64_t offset = s.view(layout_of(x), layout);
    result = view(x, std::move(layout), offset);
  } else {
    result = allocate(x.dtype(), merge_frames({&layout_of(x), &layout_of(s.gather->index)}, s.result_shape()),
                      device_for("index", x, s.gather->index));
    Array<std::int64_t> hold;
    backend::run(result.device(), ops::Gather{select_loop(s, x, result, hold)});
    check_result("take", result, {&x});
  }
  if (is_recorded(x)) ArrayAccess::serial(result) = recording.tape->emplace<GetNode>(x, s);
  return result;
}

NAX_ENGINE ArrayBase fit_values(const char* function, const ArrayBase& v, const Dims& shape) {
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

NAX_ENGINE ArrayBase update(ArrayBase x, Selection s, const ArrayBase& value, Update mode) {
  const char* const name = mode == Update::set ? "at.set" : "at.add";
  const Dims visible = x.shape();
  const Device device = s.gather ? device_for(name, x, value, s.gather->index) : device_for(name, x, value);
  if (goes_along(x, device)) x = put(x, device);
  const ArrayBase v = fit_values(name, brought_to(device, value), s.result_shape());
  const Frame frame =
      merge_frames({&layout_of(x), &layout_of(v),
                    s.gather ? &static_cast<const Frame&>(layout_of(s.gather->index)) : &layout_of(x)},
                   visible);
  if (mode == Update::set && is_recorded(v)) s = last_ones(s);
  const ArrayBase mark = handle_without_elements(x);

  ArrayBase target;
  if (static_cast<const Frame&>(layout_of(x)) == frame && owns_elements(x)) {
    target = std::move(x);
    ArrayAccess::serial(target) = 0;
  } else {
    target = copy_over(x, frame);
  }
  Array<std::int64_t> hold;
  backend::run(target.device(), ops::Scatter{select_loop(s, target, v, hold), mode == Update::add});
  if (serial_of(mark) == 0 && serial_of(v) == 0) return target;
  const bool set = mode == Update::set;
  const auto through = [s, set](const ArrayBase& g) {
    return set ? update(g, s, zeros_over(g.dtype(), Frame{}, g.device()), Update::set) : g;
  };
  return record(std::move(target), wrt(mark, through, through),
                wrt(
                    v, [s](const ArrayBase& g) { return get(g, s); },
                    [s, visible](const ArrayBase& t) { return spread(t, s, visible, Levels()); }));
}

// The index array of a selection as lines: indices of two lines never name one place. An axis along which x
// and the indices go together, as in take_along_axis, parts the indices into lines, as hidden axes do.
struct IndexLines {
  ArrayBase index;     // contiguous; the axes that part lines come first
  std::int64_t lines;  // how many
  std::vector<std::pair<std::size_t, std::size_t>> moves;

  explicit IndexLines(const GatherStep& gather) : index(gather.index), lines(1) {
    Layout layout = layout_of(index);
    const std::size_t hidden = static_cast<std::size_t>(layout.hidden());
    std::size_t front = hidden;
    for (std::size_t own = 0; own + hidden < layout.shape.size(); ++own)
      for (std::size_t axis = 0; axis < gather.x_axis.size(); ++axis)
        if (gather.x_axis[axis] >= 0 && gather.index_axis[axis] == static_cast<std::int64_t>(own)) {
          moves.emplace_back(own + hidden, front);
          layout.move_axis(own + hidden, front++);
        }
    for (std::size_t axis = 0; axis < front; ++axis) lines *= layout.shape[axis];
    index = contiguous(moves.empty() ? index : view(index, std::move(layout), 0));
  }
  // Indices of one line.
  std::int64_t each() const { return lines == 0 ? 0 : layout_of(index).size() / lines; }
  // Brings an array of the lines' shape back to the order of the indices.
  ArrayBase in_order(const ArrayBase& x) const {
    if (moves.empty()) return x;
    Layout layout = layout_of(x);
    for (std::size_t k = moves.size(); k-- > 0;) layout.move_axis(moves[k].second, moves[k].first);
    return contiguous(view(x, std::move(layout), 0));
  }
};

NAX_ENGINE ArrayBase index_ranks(const Selection& s, bool after) {
  const IndexLines of(*s.gather);
  ArrayBase ranks = allocate(DType::int64, layout_of(of.index), of.index.device());
  const std::int64_t lines = of.lines, each = of.each();
  if (layout_of(ranks).size() == 0) return of.in_order(ranks);
  backend::run(ranks.device(), ops::IndexRanks{lines, each, after},
               {device_data(of.index), device_data(ranks)});
  return of.in_order(ranks);
}

NAX_ENGINE std::int64_t last_rank(const Selection& s, const ArrayBase& ranks) {
  constexpr std::int64_t most_rounds = 32;
  const std::int64_t n = layout_of(ranks).size();
  if (n == 0) return 0;
  if (!on_accelerator(ranks)) {
    const std::int64_t* at = elements<const std::int64_t>(ranks, transforms_handled);
    return *std::max_element(at, at + n);
  }
  if (on_program(ranks.device())) {
    const std::int64_t each = IndexLines(*s.gather).each();
    if (each <= most_rounds) return each - 1;
  }
  return extreme_number(ranks, loops::ReduceKind::max);
}

NAX_ENGINE Selection with_rank(const Selection& s, const ArrayBase& ranks, std::int64_t rank) {
  const ArrayBase index = contiguous(s.gather->index);
  auto step = std::make_shared<GatherStep>(*s.gather);
  step->index = typed<std::int64_t>(allocate(DType::int64, layout_of(index), index.device()));
  const std::int64_t n = layout_of(index).size();
  backend::run(index.device(), ops::KeepRanked{n, rank},
               {device_data(ranks), device_data(index), device_data(step->index)});
  Selection out = s;
  out.gather = std::move(step);
  return out;
}

NAX_ENGINE Selection last_ones(const Selection& s) {
  if (!s.gather || !s.gather->window.empty()) return s;
  const ArrayBase ranks = index_ranks(s, true);
  if (!on_accelerator(ranks) && last_rank(s, ranks) == 0) return s;
  return with_rank(s, ranks, 0);
}

}  // namespace detail
NAX_END
