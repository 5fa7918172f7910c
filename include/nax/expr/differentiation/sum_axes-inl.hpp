#pragma once

#include "nax/expr/differentiation/sum_axes.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE Frame reduced_frame(const Frame& frame, const AxisMarks& reduced, bool keep) {
  Frame out;
  for (std::size_t axis = 0; axis < frame.shape.size(); ++axis) {
    const bool hidden = axis < frame.levels.size();
    if (!reduced[axis]) {
      if (hidden) out.levels.push_back(frame.levels[axis]);
      out.shape.push_back(frame.shape[axis]);
    } else if (keep && !hidden) {
      out.shape.push_back(1);
    }
  }
  return out;
}

NAX_ENGINE Dims reduced_strides(const Frame& frame, const AxisMarks& reduced) {
  Dims strides(frame.shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t axis = frame.shape.size(); axis-- > 0;) {
    if (reduced[axis]) continue;
    strides[axis] = stride;
    stride *= frame.shape[axis];
  }
  return strides;
}

NAX_ENGINE void reduce_values(loops::ReduceKind kind, const ArrayBase& x, const Frame& frame,
                              const AxisMarks& reduced, const ArrayBase& result, double divisor) {
  Dims marks(frame.shape.size(), 0);
  for (std::size_t axis = 0; axis < marks.size(); ++axis) marks[axis] = reduced[axis];
  const Device device = result.device();
  backend::run(device, ops::Reduce{kind, frame.shape, std::move(marks),
                                   plain_operand(x, strides_over(layout_of(x), frame)),
                                   plain_operand(result, reduced_strides(frame, reduced)), divisor});
}

NAX_ENGINE ArrayBase broadcast_frame(const ArrayBase& x, const Frame& to) {
  const Layout& from = layout_of(x);
  if (static_cast<const Frame&>(from) == to) return x;
  Layout layout;
  layout.strides = strides_over(from, to);
  static_cast<Frame&>(layout) = to;
  ArrayBase result = view(x, std::move(layout));
  if (!may_be_recorded(x)) return result;
  return record(
      std::move(result),
      wrt(
          x, [value = Frame(from), to = Frame(to)](const ArrayBase& g) { return sum_to(g, value, to); },
          [to = Frame(to)](const ArrayBase& t) {
            return broadcast_frame(t, broadcast("broadcast", to, layout_of(t)));
          }));
}

NAX_ENGINE ArrayBase moved_constant(const ArrayBase& x, Device to) {
  return broadcast_frame(moved(array_of_number(x.dtype(), raw_data(x)), to), layout_of(x));
}

NAX_ENGINE ArrayBase restride(const ArrayBase& x, const Frame& to) {
  const Layout& from = layout_of(x);
  if (static_cast<const Frame&>(from) == to) return x;
  Layout layout;
  static_cast<Frame&>(layout) = to;
  std::size_t i = 0;
  for (std::size_t axis = 0; axis < to.shape.size(); ++axis) {
    if (to.shape[axis] == 1) {
      layout.strides.push_back(0);
      continue;
    }
    while (from.shape[i] == 1) ++i;
    layout.strides.push_back(from.strides[i++]);
  }
  ArrayBase result = view(x, std::move(layout));
  if (!may_be_recorded(x)) return result;
  return record(std::move(result), wrt(
                                       x,
                                       [before = Frame(from), after = Frame(to)](const ArrayBase& g) {
                                         return restride(g, gradient_frame(before, after, layout_of(g)));
                                       },
                                       [before = Frame(from), after = Frame(to)](const ArrayBase& t) {
                                         return restride(t, gradient_frame(after, before, layout_of(t)));
                                       }));
}

NAX_ENGINE ArrayBase unreduce(const ArrayBase& g, const Frame& frame, const AxisMarks& reduced, bool keep) {
  // First the marked visible axes come back with extent 1, then everything broadcasts.
  Frame ones;
  ones.levels = layout_of(g).levels;
  for (int h = 0; h < layout_of(g).hidden(); ++h) ones.shape.push_back(layout_of(g).shape[h]);
  int next = 0;
  for (int axis = 0; axis < frame.ndim(); ++axis) {
    const bool gone = reduced[frame.hidden() + axis];
    ones.shape.push_back(gone ? 1 : layout_of(g).visible(next));
    if (!gone || keep) ++next;
  }
  return broadcast_frame(restride(g, ones), broadcast("sum", ones, frame));
}

NAX_ENGINE ArrayBase sum_axes(const ArrayBase& x, const AxisMarks& summed, bool keep) {
  const Frame frame = layout_of(x);
  const DType lane = lane_of(x.dtype());
  ArrayBase sums = allocate(lane, reduced_frame(frame, summed, keep), device_for("sum", x));
  reduce_values(loops::ReduceKind::sum, x, frame, summed, sums);
  ArrayBase result = as_dtype(std::move(sums), x.dtype());
  if (!may_be_recorded(x)) return result;
  return record(std::move(result),
                wrt(
                    x, [=](const ArrayBase& g) { return unreduce(g, frame, summed, keep); },
                    [=](const ArrayBase& t) {
                      // Axes that only the tangent has come first among the hidden ones or between them.
                      AxisMarks marks(layout_of(t).shape.size(), false);
                      for (int h = 0; h < layout_of(t).hidden(); ++h) {
                        const int own = frame.find(layout_of(t).levels[h]);
                        marks[h] = own >= 0 && summed[own];
                      }
                      for (int axis = 0; axis < frame.ndim(); ++axis)
                        marks[layout_of(t).hidden() + axis] = summed[frame.hidden() + axis];
                      return sum_axes(t, marks, keep);
                    }));
}

}  // namespace detail
NAX_END
