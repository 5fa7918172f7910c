#pragma once

#include <algorithm>
#include <numeric>

#include "nax/modules/exporting/step_writer.hpp"

NAX_BEGIN
namespace io::detail {

template <class T>
std::int64_t index_at(const void* data, std::int64_t i) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::int64_t>(static_cast<const T*>(data)[i]);
  else
    return 0;
}

inline int StepWriter::known_indices(const ops::WrapIndices& f, int index) {
  const Node& node = graph_[index];
  if (node.kind != NodeKind::constant) return -1;
  const auto at = [&](std::int64_t i) -> std::int64_t {
    switch (node.dtype) {
#define NAX_READ(name, type, kind, text) \
  case DType::name:                      \
    return index_at<type>(node.data, i);
      NAX_FOR_EACH_DTYPE(NAX_READ)
#undef NAX_READ
    }
    return 0;
  };
  std::vector<std::int64_t> wrapped;
  const std::int64_t n = f.extent;
  for (std::int64_t i = 0; i < elements_of(node.shape); ++i) {
    const std::int64_t x = at(i);
    switch (f.mode) {
      case loops::IndexMode::drop:
        wrapped.push_back(x < -n || x >= n ? -1 : x < 0 ? x + n : x);
        break;
      case loops::IndexMode::wrap:
        wrapped.push_back((x % n + n) % n);
        break;
      case loops::IndexMode::clip:
        wrapped.push_back(std::clamp<std::int64_t>(x, 0, n - 1));
        break;
      case loops::IndexMode::slide:
        wrapped.push_back(std::clamp<std::int64_t>(x < 0 ? x + n : x, 0, n - f.window));
        break;
    }
  }
  return graph_.own_constant(wrapped.data(), DType::int64, Dims(node.shape));
}

inline int StepWriter::is_dropped(int index) { return truth(NodeKind::less, {index, number(0, index)}); }
inline void StepWriter::write(const ops::WrapIndices& f) {
  const program::Operand& from = *operand(0);
  if (from.place.slot >= 0 && slots_.best(from.place.slot)) {  // these are in range
    slots_.best(operand(1)->place.slot) = slots_.best(from.place.slot);
    return;
  }
  if (const int known = known_indices(f, slots_.read(from)); known >= 0) return put(1, known);
  const int x = graph_.cast(slots_.read(from), DType::int64),
            n = graph_.number(static_cast<double>(f.extent), DType::int64), zero = number(0, n),
            last = make(NodeKind::subtract, {n, number(1, n)});
  const int from_front =
      make(NodeKind::select, {truth(NodeKind::less, {x, zero}), make(NodeKind::add, {x, n}), x});
  switch (f.mode) {
    case loops::IndexMode::drop: {
      const int outside = truth(NodeKind::logical_or, {truth(NodeKind::less, {from_front, zero}),
                                                       truth(NodeKind::less, {last, from_front})});
      return put(1, make(NodeKind::select, {outside, graph_.number(-1, DType::int64), from_front}));
    }
    case loops::IndexMode::wrap:
      refuse();
    case loops::IndexMode::clip:
      return put(1, make(NodeKind::maximum, {zero, make(NodeKind::minimum, {x, last})}));
    case loops::IndexMode::slide:
      return put(1, make(NodeKind::maximum,
                         {zero, make(NodeKind::minimum,
                                     {from_front, number(static_cast<double>(f.extent - f.window), n)})}));
  }
}

inline void StepWriter::write(const ops::JoinIndices& f) {
  const int a = read(0), b = read(1), dropped = truth(NodeKind::logical_or, {is_dropped(a), is_dropped(b)});
  const int joined =
      make(NodeKind::add, {make(NodeKind::multiply, {a, number(static_cast<double>(f.extent), a)}), b});
  put(2, make(NodeKind::select, {dropped, number(-1, a), joined}));
}

// By a table of all positions.
inline void StepWriter::write(const ops::IndexOffsets& f) {
  std::vector<std::int64_t> table(static_cast<std::size_t>(elements_of(f.extents)));
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = nax::detail::offset_at(static_cast<std::int64_t>(i), f.extents, f.strides);
  const int x = read_as(0, Dims(1, f.n)), zero = number(0, x);
  const int offsets =
      graph_.own_constant(table.data(), DType::int64, Dims(1, static_cast<std::int64_t>(table.size())));
  const int y = graph_.add(
      {NodeKind::take, {offsets, make(NodeKind::maximum, {x, zero})}, DType::int64, graph_[x].shape});
  put(1, graph_.reshape(make(NodeKind::select, {is_dropped(x), x, y}), operand(1)->shape));
}

inline int StepWriter::places(const Dims& shape, const Dims& strides) {
  int sum = graph_.number(0, DType::int64);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (strides[axis] == 0 || shape[axis] == 1) continue;
    std::vector<std::int64_t> along;
    for (std::int64_t i = 0; i < shape[axis]; ++i) along.push_back(i * strides[axis]);
    Dims own(shape.size() - axis, 1);
    own[0] = shape[axis];
    sum = make(NodeKind::add, {sum, graph_.own_constant(along.data(), DType::int64, own)});
  }
  return sum;
}

inline StepWriter::Chosen StepWriter::chosen(const program::Operand& data, const loops::SelectLoop& loop) {
  std::int64_t low = 0, high = 0;  // of what may be named
  const auto spread = [&](const Dims& shape, const Dims& strides) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      (strides[i] < 0 ? low : high) += (shape[i] - 1) * strides[i];
  };
  spread(loop.extents, loop.strides);
  spread(loop.shape, loop.operands[1].strides);
  Chosen made{-1, -low, data};
  made.whole.indexed = 0;
  made.whole.place.offset += low * static_cast<std::int64_t>(dtype_size(data.dtype));
  made.whole.shape = Dims(1, high - low + 1);
  made.whole.strides = Dims(1, 1);
  made.flat = slots_.read_whole(made.whole);
  return made;
}

inline bool StepWriter::write_best(const program::Operand& data, const program::Operand& indices) {
  if (indices.place.slot < 0 || !slots_.best(indices.place.slot)) return false;
  const SlotNodes::Best best = *slots_.best(indices.place.slot);
  program::Operand all = data;
  all.shape = Dims(1, elements_of(graph_[best.node].shape)), all.strides = Dims(1, 1);
  const int flat = slots_.read(all);
  if (graph_.reshape(flat, graph_[best.node].shape) != best.node) return false;
  put(0, graph_.reshape(pool(best), operand(0)->shape));
  return true;
}

inline int StepWriter::pool(const SlotNodes::Best& best) {
  const loops::Windows& w = best.windows;
  const std::size_t rank = w.in.size();
  if (rank < 3 || w.window[0] != 1 || w.window[rank - 1] != 1 || w.strides[0] != 1 ||
      w.strides[rank - 1] != 1 || w.out[0] != w.in[0] || w.out[rank - 1] != w.in[rank - 1])
    slots_.refuse("windows over a batch or channels");
  std::vector<std::int64_t> numbers(1, 1);
  for (std::size_t i = 1; i + 1 < rank; ++i) {
    if (w.base[i] != 1) slots_.refuse("windows over a dilated array");
    numbers.insert(numbers.end(), {w.strides[i], w.low[i], w.high[i], 1, w.dilation[i]});
  }
  for (std::size_t i = 1; i + 1 < rank; ++i) numbers.push_back(w.window[i]);
  const int x = best.greatest ? best.node : make(NodeKind::negative, {best.node});
  const auto pooled = [&](int of) {
    return graph_.add({NodeKind::max_pool, {of}, dtype(of), w.out, numbers});
  };
  int y = pooled(x);
  if (drops_nan(x)) y = with_nan(y, pooled(nan_marks(x, dtype(x))));
  return best.greatest ? y : make(NodeKind::negative, {y});
}

inline void StepWriter::write(const ops::BestInWindows& f) {
  const loops::Windows& w = f.windows;
  Dims in = w.in;
  if (f.examples != 1) refuse();
  const int x = read_as(0, in);
  slots_.best(operand(1)->place.slot) = SlotNodes::Best{w, f.greatest, x};
}

inline void StepWriter::write(const ops::Gather& f) {
  const loops::SelectLoop& loop = f.loop;
  const program::Operand& data = *operand(1);
  const program::Operand* const indices = operand(2);
  if (!indices) {  // a slice
    program::Operand part = data;
    part.shape = loop.shape, part.strides = loop.operands[1].strides, part.indexed = 0;
    return put(0, slots_.read(part));
  }
  if (write_best(data, *indices)) return;
  const int index = slots_.read(*indices), dropped = is_dropped(index),
            safe = make(NodeKind::maximum, {index, number(0, index)});
  int found = rows(f, data, safe);
  if (found < 0) {
    const Chosen from = chosen(data, loop);
    int at = make(NodeKind::add,
                  {places(loop.shape, loop.operands[1].strides),
                   make(NodeKind::multiply, {safe, number(static_cast<double>(loop.scale), safe)})});
    if (from.first != 0) at = make(NodeKind::add, {at, number(static_cast<double>(from.first), at)});
    found = graph_.add({NodeKind::take, {from.flat, at}, data.dtype, graph_[at].shape});
  }
  if (!in_range(index)) found = make(NodeKind::select, {dropped, number(0, found), found});
  put(0, found);
}

inline bool StepWriter::in_range(int index) const {
  const Node* at = &graph_[index];
  while (at->kind == NodeKind::reshape || at->kind == NodeKind::expand) at = &graph_[at->inputs[0]];
  if (at->kind == NodeKind::constant && at->dtype == DType::int64) {
    const std::int64_t* const known = static_cast<const std::int64_t*>(at->data);
    return std::all_of(known, known + elements_of(at->shape), [](std::int64_t i) { return i >= 0; });
  }
  return at->kind == NodeKind::maximum;
}

inline int StepWriter::rows(const ops::Gather& f, const program::Operand& data, int index) {
  const loops::SelectLoop& loop = f.loop;
  const Dims &of_data = loop.operands[1].strides, &of_index = loop.operands[2].strides;
  std::size_t first = loop.shape.size();
  std::int64_t row = 1;
  while (first > 0 && (of_index[first - 1] == 0 || loop.shape[first - 1] == 1) &&
         (of_data[first - 1] == row || loop.shape[first - 1] == 1) && row < loop.scale)
    row *= loop.shape[--first];
  if (row != loop.scale || loop.extents.size() != 1 || loop.strides[0] != row) return -1;
  for (std::size_t axis = 0; axis < first; ++axis)
    if (of_data[axis] != 0 && loop.shape[axis] != 1) return -1;
  program::Operand table = data;
  table.indexed = 0;
  table.shape = Dims(1, loop.extents[0]), table.strides = Dims(1, row);
  Dims before, shape;
  for (std::size_t axis = 0; axis < loop.shape.size(); ++axis) {
    shape.push_back(axis < first && of_index[axis] == 0 ? 1 : loop.shape[axis]);
    if (axis < first) before.push_back(shape.back());
  }
  if (row > 1) table.shape.push_back(row), table.strides.push_back(1);
  const int from = slots_.read_whole(table);
  Dims made = before;
  if (row > 1) made.push_back(row);
  const int found = graph_.add({NodeKind::take, {from, graph_.reshape(index, before)}, data.dtype, made});
  return graph_.reshape(found, shape);
}

inline void StepWriter::write(const ops::Scatter& f) {
  const loops::SelectLoop& loop = f.loop;
  const program::Operand &data = *operand(1), *const indices = operand(2);
  const Chosen to = chosen(data, loop);
  const std::int64_t n = elements_of(graph_[to.flat].shape);
  int at = places(loop.shape, loop.operands[1].strides);
  const int index = indices ? slots_.read(*indices) : -1;
  if (indices)
    at = make(NodeKind::add,
              {at, make(NodeKind::multiply, {index, number(static_cast<double>(loop.scale), index)})});
  if (to.first != 0) at = make(NodeKind::add, {at, number(static_cast<double>(to.first), at)});
  // Places that are dropped lie behind the end.
  const bool drops = indices && !in_range(index);
  int from = to.flat;
  if (drops) {
    at = make(NodeKind::select, {is_dropped(index), number(static_cast<double>(n), at), at});
    const int none = graph_.reshape(number(0, from), Dims(1, 1));
    from = graph_.add({NodeKind::concatenate, {from, none}, data.dtype, Dims(1, n + 1), {0}});
  }
  const Dims flat(1, elements_of(loop.shape));
  at = graph_.reshape(graph_.expand(at, loop.shape), flat);
  const int values = graph_.reshape(slots_.read_whole(*operand(0)), flat);
  const NodeKind kind = f.add ? NodeKind::scatter_add : NodeKind::scatter;
  int made = graph_.add({kind, {from, at, values}, data.dtype, graph_[from].shape});
  if (drops) made = graph_.slice(made, Dims(1, 0), Dims(1, n), Dims(1, 1));
  slots_.write(to.whole, made);
}

inline void StepWriter::write(const ops::OneHot& f) {
  std::vector<std::int64_t> classes(static_cast<std::size_t>(f.lines.n));
  std::iota(classes.begin(), classes.end(), 0);
  Dims own(1, f.lines.n);
  own.push_back(1);
  const int labels = graph_.cast(read_as(0, line_shape(f.lines, 1)), DType::int64);
  const int hot = truth(NodeKind::equal, {labels, graph_.own_constant(classes.data(), DType::int64, own)});
  put(1, graph_.reshape(graph_.cast(hot, f.dtype), operand(1)->shape));
}

}  // namespace io::detail
NAX_END
