#pragma once

#include "nax/numpy/indexing/device_indices.hpp"
#include "nax/numpy/indexing/select.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE ArrayBase handle_without_elements(const ArrayBase& x) {
  ArrayBase handle = x;
  ArrayAccess::buffer(handle) = BufferRef();
  return handle;
}

NAX_ENGINE void add_selected(const ArrayBase& target, const Selection& s, const ArrayBase& g) {
  Array<std::int64_t> hold;
  const loops::SelectLoop loop = select_loop(s, target, g, hold);
  backend::operations(target.device()).scatter(target.device(), loop, true);
}

NAX_ENGINE ArrayBase spread(const ArrayBase& g, const Selection& s, const Dims& visible,
                            const Levels& dropped) {
  Frame frame = merge_frames(
      {&layout_of(g), s.gather ? &static_cast<const Frame&>(layout_of(s.gather->index)) : &layout_of(g)},
      visible);
  for (int h = frame.hidden(); h-- > 0;)
    if (contains(dropped, frame.levels[h])) frame.levels.erase(h), frame.shape.erase(h);
  ArrayBase sums = allocate(lane_of(g.dtype()), frame, device_for("index", g));
  clear_elements(sums);
  add_selected(sums, s, g);
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
    const loops::SelectLoop loop = select_loop(s, x, result, hold);
    backend::operations(result.device()).gather(result.device(), loop);
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
  const Device device = device_for(name, x, value);
  if (on_accelerator(device) && !on_accelerator(x)) x = put(x, device);
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
  const loops::SelectLoop loop = select_loop(s, target, v, hold);
  backend::operations(target.device()).scatter(target.device(), loop, mode == Update::add);
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

NAX_ENGINE std::int64_t rounds_of(const Selection& s, std::vector<std::int64_t>& rounds) {
  const ArrayBase index = contiguous(s.gather->index);
  const Layout& layout = layout_of(index);
  std::int64_t places = 1, batches = 1, most = 0;
  for (std::int64_t axis : s.gather->axes) places *= s.view_extent(axis);
  for (int h = 0; h < layout.hidden(); ++h) batches *= layout.shape[static_cast<std::size_t>(h)];
  const std::int64_t size = layout.size(), each = batches > 0 ? size / batches : 0;
  const std::int64_t* at = elements<const std::int64_t>(index, transforms_handled);
  rounds.assign(static_cast<std::size_t>(size), 0);
  std::vector<std::int64_t> seen(static_cast<std::size_t>(places), 0);
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t i = b * each; i < (b + 1) * each; ++i) {
      if (at[i] == loops::dropped_index) continue;
      const std::int64_t k = seen[static_cast<std::size_t>(at[i])]++;
      rounds[static_cast<std::size_t>(i)] = k;
      if (k + 1 > most) most = k + 1;
    }
    for (std::int64_t i = b * each; i < (b + 1) * each; ++i)
      if (at[i] != loops::dropped_index) seen[static_cast<std::size_t>(at[i])] = 0;
  }
  return most;
}

NAX_ENGINE ArrayBase ranks_on_device(const Selection& s, bool after) {
  const ArrayBase index = contiguous(s.gather->index);
  const Layout& layout = layout_of(index);
  ArrayBase ranks = allocate(DType::int64, layout, index.device());
  std::int64_t lines = 1;
  for (int h = 0; h < layout.hidden(); ++h) lines *= layout.shape[static_cast<std::size_t>(h)];
  if (layout.size() > 0)
    backend::accelerator_operations(index.device())
        .index_ranks(index.device(), lines, layout.size() / lines, after,
                     reinterpret_cast<const std::int64_t*>(device_data(index)),
                     reinterpret_cast<std::int64_t*>(device_data(ranks)));
  return ranks;
}

NAX_ENGINE std::int64_t last_rank(const ArrayBase& ranks) {
  constexpr std::int64_t most_rounds = 32;
  const Layout& layout = layout_of(ranks);
  if (layout.size() == 0) return 0;
  std::int64_t each = layout.size();
  for (int h = 0; h < layout.hidden(); ++h) each /= layout.shape[static_cast<std::size_t>(h)];
  if (on_program(ranks.device()) && each <= most_rounds) return each - 1;
  return extreme_number(ranks, loops::ReduceKind::max);
}

NAX_ENGINE Selection with_rank(const Selection& s, const ArrayBase& ranks, std::int64_t rank) {
  const ArrayBase index = contiguous(s.gather->index);
  auto step = std::make_shared<GatherStep>(*s.gather);
  step->index = typed<std::int64_t>(allocate(DType::int64, layout_of(index), index.device()));
  backend::accelerator_operations(index.device())
      .keep_ranked(index.device(), layout_of(index).size(),
                   reinterpret_cast<const std::int64_t*>(device_data(ranks)), rank,
                   reinterpret_cast<const std::int64_t*>(device_data(index)),
                   reinterpret_cast<std::int64_t*>(device_data(step->index)));
  Selection out = s;
  out.gather = std::move(step);
  return out;
}

NAX_ENGINE Selection last_ones(const Selection& s) {
  if (!s.gather) return s;
  if (on_accelerator(s.gather->index)) return with_rank(s, ranks_on_device(s, true), 0);
  for (std::size_t axis = 0; axis < s.gather->x_axis.size(); ++axis)
    if (s.gather->x_axis[axis] >= 0 && s.gather->index_axis[axis] >= 0) return s;  // of take_along_axis
  std::vector<std::int64_t> rounds;
  if (rounds_of(s, rounds) <= 1) return s;
  // Seen from the end, the last is the first.
  const ArrayBase index = contiguous(s.gather->index);
  const std::int64_t* at = elements<const std::int64_t>(index, transforms_handled);
  std::int64_t places = 1, batches = 1;
  for (std::int64_t axis : s.gather->axes) places *= s.view_extent(axis);
  for (int h = 0; h < layout_of(index).hidden(); ++h)
    batches *= layout_of(index).shape[static_cast<std::size_t>(h)];
  const std::int64_t size = layout_of(index).size(), each = size / batches;
  std::vector<std::int64_t> last(static_cast<std::size_t>(places), -1);
  std::vector<bool> keep(static_cast<std::size_t>(size), false);
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t i = b * each; i < (b + 1) * each; ++i)
      if (at[i] != loops::dropped_index) last[static_cast<std::size_t>(at[i])] = i;
    for (std::int64_t i = b * each; i < (b + 1) * each; ++i)
      if (at[i] != loops::dropped_index)
        keep[static_cast<std::size_t>(i)] = last[static_cast<std::size_t>(at[i])] == i;
  }
  return with_dropped(s, [&](std::int64_t i) { return keep[static_cast<std::size_t>(i)]; });
}

}  // namespace detail
NAX_END
