#pragma once

#include "nax/expr/as_dtype.hpp"
#include "nax/expr/primitive.hpp"

// Definitions of the recorded views and sums that derivatives are made of; see unbroadcast.hpp.
NAX_BEGIN
namespace detail {

template <class T>
Array<T> broadcast_frame(const Array<T>& x, const Frame& to) {
  const Layout& from = layout_of(x);
  if (static_cast<const Frame&>(from) == to) return x;
  Layout layout;
  layout.strides = strides_over(from, to);
  static_cast<Frame&>(layout) = to;
  Array<T> result = typed<T>(view(x, std::move(layout)));
  if constexpr (is_inexact_v<T>) {
    if (may_be_recorded(x))
      return record(
          std::move(result),
          wrt(
              x, [value = Frame(from), to = Frame(to)](const Array<T>& g) { return sum_to(g, value, to); },
              [to = Frame(to)](const Array<T>& t) {
                return broadcast_frame(t, broadcast("broadcast", to, layout_of(t)));
              }));
  }
  return result;
}

template <class T>
Array<T> restride(const Array<T>& x, const Frame& to) {
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
  Array<T> result = typed<T>(view(x, std::move(layout)));
  if (!may_be_recorded(x)) return result;
  return record(std::move(result), wrt(
                                       x,
                                       [before = Frame(from), after = Frame(to)](const Array<T>& g) {
                                         return restride(g, gradient_frame(before, after, layout_of(g)));
                                       },
                                       [before = Frame(from), after = Frame(to)](const Array<T>& t) {
                                         return restride(t, gradient_frame(after, before, layout_of(t)));
                                       }));
}

// The axes left by a reduction over the marked ones.
NAX_ENGINE Frame reduced_frame(const Frame& frame, const AxisMarks& reduced, bool keep);

// Strides of a row-major result over the axes of what was reduced: 0 on the axes that went.
NAX_ENGINE Dims reduced_strides(const Frame& frame, const AxisMarks& reduced);

// Reduces an array on a GPU to accumulators over the axes that are not marked.
[[gnu::cold]] NAX_ENGINE void reduce_on_device(loops::ReduceKind kind, const ArrayBase& x, const Frame& frame,
                                               const AxisMarks& reduced, const ArrayBase& result);

// Spreads a cotangent of a reduction back over the axes that went: a view of stride 0. `reduced` marks axes
// of `frame`.
template <class T>
Array<T> unreduce(const Array<T>& g, const Frame& frame, const AxisMarks& reduced, bool keep) {
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

template <class T>
Array<T> sum_axes(const Array<T>& x, const AxisMarks& summed, bool keep) {
  const Layout& layout = layout_of(x);
  const Frame frame = layout;
  using Lane = lane_t<T>;
  ArrayBase sums = allocate(dtype_of<Lane>, reduced_frame(frame, summed, keep), device_for("sum", x));
  const cpu::Reducer& reducer = cpu::reducer<cpu::reduce_op::Sum<Lane>, Lane>;
  if (on_accelerator(sums)) {
    reduce_on_device(reducer.kind, x, frame, summed, sums);
  } else {
    loops::Operand operands[2] = {
        operand_over(x, frame, dtype_of<Lane>),
        {raw_data(sums), reduced_strides(frame, summed), dtype_of<Lane>, dtype_of<Lane>}};
    cpu::reduce(nullptr, nullptr, frame.shape, operands, 1, layout_of(sums).size(), reducer);
  }
  Array<T> result;
  if constexpr (std::is_same_v<Lane, T>)
    result = typed<T>(std::move(sums));
  else
    result = typed<T>(as_dtype(sums, dtype_of<T>));
  if constexpr (is_inexact_v<T>) {
    if (!may_be_recorded(x)) return result;
    return record(std::move(result),
                  wrt(
                      x, [=](const Array<T>& g) { return unreduce(g, frame, summed, keep); },
                      [=](const Array<T>& t) {
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
  } else {
    return result;
  }
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/sum_axes-inl.hpp"
#endif
