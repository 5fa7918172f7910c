#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>

#include "nax/modules/exporting/operands.hpp"

NAX_BEGIN
namespace io::detail {

// An axis along which elements lie apart.
struct SpreadAxis {
  std::int64_t extent, stride;
  std::size_t axis;  // of the operand
  bool reversed;
};
// Lists the spread axes of an operand, strides in falling order and positive; `offset` becomes that of the
// first element.
inline std::vector<SpreadAxis> spread_axes(const Dims& shape, const Dims& strides, std::int64_t& offset) {
  std::vector<SpreadAxis> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1 || strides[i] == 0) continue;
    axes.push_back({shape[i], std::abs(strides[i]), i, strides[i] < 0});
    if (strides[i] < 0) offset += strides[i] * (shape[i] - 1);
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const SpreadAxis& a, const SpreadAxis& b) { return a.stride > b.stride; });
  return axes;
}
inline bool is_run(const std::vector<SpreadAxis>& axes) {
  std::int64_t n = 1;
  for (std::size_t i = axes.size(); i-- > 0; n *= axes[i].extent)
    if (axes[i].stride != n) return false;
  return true;
}
// Where each of the operand's axes is among these.
inline std::vector<std::int64_t> operand_order(const std::vector<SpreadAxis>& axes) {
  std::vector<std::int64_t> order(axes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return axes[static_cast<std::size_t>(a)].axis < axes[static_cast<std::size_t>(b)].axis;
  });
  return order;
}
inline Dims extents_of(const std::vector<SpreadAxis>& axes) {
  Dims shape;
  for (const SpreadAxis& one : axes) shape.push_back(one.extent);
  return shape;
}
// 1 along axes without strides, and no first axes of 1.
inline Dims own_extents(const Dims& shape, const Dims& strides) {
  Dims own;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t extent = strides[i] == 0 ? 1 : shape[i];
    if (extent != 1 || !own.empty()) own.push_back(extent);
  }
  return own;
}

NAX_ENGINE SlotNodes::SlotNodes(const char* function, const program::Recorded& recorded, Graph& graph)
    : function_(function), recorded_(recorded), graph_(graph), contents_(recorded.slots.size()) {
  for (std::size_t i = 0; i < contents_.size(); ++i)
    if (recorded.slots[i].kind == program::Slot::Kind::constant)
      contents_[i].data = static_cast<const char*>(recorded.slots[i].data);
  for (const program::Argument& a : recorded.arguments) {
    const int node = graph_.add({NodeKind::argument, {}, a.dtype, a.shape});
    contents_[static_cast<std::size_t>(a.slot)].node = node;
    graph_.arguments.push_back(node);
  }
}

NAX_ENGINE void SlotNodes::refuse(const std::string& what) const {
  raise<ValueError>({function_, ": cannot be written: ", what});
}

// Elements at an address. A run of memory is one constant, whatever the order of axes in which it is read.
NAX_ENGINE int SlotNodes::constant(const char* data, DType dtype, const Dims& shape, const Dims& strides) {
  std::int64_t offset = 0;
  const std::vector<SpreadAxis> axes = spread_axes(shape, strides, offset);
  const std::int64_t size = static_cast<std::int64_t>(dtype_size(dtype));
  data += offset * size;
  const Dims extents = extents_of(axes);
  Dims at(axes.size(), 0), kept(shape.size(), 0);
  for (std::size_t i = axes.size(), n = 1; i-- > 0; n *= static_cast<std::size_t>(axes[i].extent))
    kept[axes[i].axis] = static_cast<std::int64_t>(n) * (axes[i].reversed ? -1 : 1);
  std::int64_t first = 0;
  for (const SpreadAxis& one : axes)
    if (one.reversed) first -= kept[one.axis] * (one.extent - 1);
  int node;
  if (is_run(axes)) {
    node = -1;
    for (std::size_t i = 0; i < graph_.nodes.size() && node < 0; ++i) {
      const Node& known = graph_.nodes[i];
      if (known.kind == NodeKind::constant && known.data == data && known.dtype == dtype &&
          elements_of(known.shape) == elements_of(extents))
        node = static_cast<int>(i);
    }
    if (node < 0)
      node = elements_of(extents) == 1 ? graph_.own_constant(data, dtype, extents)
                                       : graph_.constant(data, dtype, extents);
  } else {
    const std::int64_t n = elements_of(extents);
    std::string bytes;
    bytes.reserve(static_cast<std::size_t>(n * size));
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t left = i, from = 0;
      for (std::size_t k = axes.size(); k-- > 0; left /= axes[k].extent)
        from += left % axes[k].extent * axes[k].stride;
      bytes.append(data + from * size, static_cast<std::size_t>(size));
    }
    node = graph_.own_constant(bytes.data(), dtype, extents);
  }
  return view(node, first, shape, kept);
}

// The array of all elements of a slot.
NAX_ENGINE int SlotNodes::node_of(int slot, DType dtype) {
  Content& own = contents_[static_cast<std::size_t>(slot)];
  const std::int64_t n = elements(slot, dtype);
  if (own.best) refuse("positions of the best elements of windows");
  if (!own.parts.empty()) {
    const std::vector<Part> parts = std::exchange(own.parts, {});
    int all = joined(parts, n);
    if (all < 0) {
      if (own.node < 0 && !own.zeros && !own.data) refuse("an array with elements that nothing writes");
      all = graph_.reshape(node_of(slot, dtype), Dims(1, n));
      for (const Part& part : parts) {
        std::vector<std::int64_t> places;
        const std::int64_t count = elements_of(part.shape);
        for (std::int64_t i = 0; i < count; ++i) {
          std::int64_t left = i, at = part.offset;
          for (std::size_t k = part.shape.size(); k-- > 0; left /= part.shape[k])
            at += left % part.shape[k] * part.strides[k];
          places.push_back(at);
        }
        const int indices = graph_.own_constant(places.data(), DType::int64, Dims(1, count));
        all = graph_.add({NodeKind::scatter,
                          {all, indices, graph_.reshape(part.node, Dims(1, count))},
                          dtype,
                          Dims(1, n)});
      }
    }
    own.node = all;
  } else if (own.node < 0) {
    if (own.parameter.first >= 0)
      own.node = graph_.add(
          {NodeKind::parameter, {}, dtype, Dims(1, n), {own.parameter.first, own.parameter.second}});
    else if (own.data)
      own.node = constant(own.data, dtype, Dims(1, n), Dims(1, 1));
    else if (own.zeros)
      own.node = graph_.expand(graph_.number(0, dtype), Dims(1, n));
    else
      refuse("an array that nothing writes");
  }
  if (graph_[own.node].dtype != dtype) refuse("bytes that are read as another dtype");
  return own.node;
}

// Parts that cover an array side by side; -1 where they do not. Each is (before, run) at the same distance.
NAX_ENGINE int SlotNodes::joined(const std::vector<Part>& parts, std::int64_t n) {
  struct Run {
    std::int64_t offset, before, run;
    int node;
  };
  std::vector<Run> runs;
  std::int64_t distance = n;
  for (const Part& part : parts) {
    Run one{part.offset, 1, 1, part.node};
    std::size_t axis = part.shape.size();
    while (axis > 0 && part.strides[axis - 1] == one.run) one.run *= part.shape[--axis];
    if (axis > 0) {
      distance = part.strides[axis - 1];
      for (std::int64_t expected = distance; axis > 0; --axis) {
        if (part.strides[axis - 1] != expected) return -1;
        expected *= part.shape[axis - 1];
        one.before *= part.shape[axis - 1];
      }
    }
    runs.push_back(one);
  }
  if (distance == 0 || n % distance != 0) return -1;
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.offset < b.offset; });
  std::int64_t next = 0;
  std::vector<int> nodes;
  for (const Run& one : runs) {
    if (one.offset != next || one.before != n / distance) return -1;
    next += one.run;
    Dims shape(1, one.before);
    shape.push_back(one.run);
    nodes.push_back(graph_.reshape(one.node, shape));
  }
  if (next != distance) return -1;
  Dims shape(1, n / distance);
  shape.push_back(distance);
  const DType dtype = graph_[nodes[0]].dtype;
  return graph_.add({NodeKind::concatenate, std::move(nodes), dtype, shape, {1}});
}

// Shapes of n elements in which these strides may be those of axes: the node's own, and one that the strides
// make.
inline std::vector<Dims> likely_shapes(const Dims& own, const std::vector<SpreadAxis>& axes, std::int64_t n) {
  std::vector<Dims> shapes = {own};
  Dims made;
  std::int64_t block = n;
  for (const SpreadAxis& one : axes) {
    if (block % one.stride != 0) return shapes;
    made.push_back(block / one.stride);
    block = one.stride;
  }
  if (block != 1 || made.empty()) made.push_back(block);
  shapes.push_back(made);
  return shapes;
}

NAX_ENGINE int SlotNodes::view(int node, std::int64_t offset, const Dims& shape, const Dims& strides) {
  const Dims wanted = own_extents(shape, strides);
  const std::int64_t n = elements_of(graph_[node].shape), count = elements_of(wanted);
  const DType dtype = graph_[node].dtype;
  const std::vector<SpreadAxis> axes = spread_axes(shape, strides, offset);
  if (offset == 0 && count == n && is_run(axes)) {
    const bool in_order = std::is_sorted(axes.begin(), axes.end(),
                                         [](const auto& a, const auto& b) { return a.axis < b.axis; });
    const bool reversed = std::any_of(axes.begin(), axes.end(), [](const auto& a) { return a.reversed; });
    if (in_order && !reversed) return graph_.reshape(node, wanted);
  }
  for (const Dims& whole : likely_shapes(graph_[node].shape, axes, n)) {
    std::vector<std::int64_t> step(whole.size()), places;
    std::int64_t row = 1;
    for (std::size_t j = whole.size(); j-- > 0; row *= whole[j]) step[j] = row;
    Dims first, end, by, left(0, 0);
    std::int64_t rest = offset;
    for (std::size_t j = 0; j < whole.size(); ++j) {
      first.push_back(rest / step[j]), rest %= step[j];
      end.push_back(first[j] + 1), by.push_back(1);
    }
    bool fits = rest == 0 && (first.empty() || first[0] < whole[0]);
    std::size_t from = 0;
    for (std::size_t k = 0; k < axes.size() && fits; ++k) {
      const SpreadAxis& one = axes[k];
      fits = false;
      for (std::size_t j = from; j < whole.size() && !fits; ++j) {
        if (step[j] > one.stride || one.stride % step[j] != 0 || whole[j] == 1) continue;
        const std::int64_t times = one.stride / step[j], last = first[j] + (one.extent - 1) * times;
        if (last >= whole[j]) continue;
        end[j] = last + 1, by[j] = times;
        if (one.reversed) places.push_back(static_cast<std::int64_t>(j));
        from = j + 1;
        fits = true;
      }
    }
    if (!fits) continue;
    int part = graph_.slice(graph_.reshape(node, whole), first, end, by);
    if (!places.empty()) part = graph_.add({NodeKind::reverse, {part}, dtype, graph_[part].shape, places});
    part = graph_.reshape(part, extents_of(axes));
    return graph_.reshape(graph_.transpose(part, operand_order(axes)), wanted);
  }
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t left = i, at = offset;
    for (std::size_t k = shape.size(); k-- > 0;) {
      if (strides[k] == 0) continue;
      const std::int64_t place = left % shape[k];
      at += (strides[k] < 0 ? shape[k] - 1 - place : place) * std::abs(strides[k]);
      left /= shape[k];
    }
    numbers.push_back(at);
  }
  const int indices = graph_.own_constant(numbers.data(), DType::int64, wanted);
  return graph_.add({NodeKind::take, {graph_.reshape(node, Dims(1, n)), indices}, dtype, wanted});
}

NAX_ENGINE int SlotNodes::read(const program::Operand& x) {
  if (elements_of(x.shape) == 0) refuse("an array without elements");
  if (x.place.slot == program::Place::constant)
    return constant(reinterpret_cast<const char*>(static_cast<std::intptr_t>(x.place.offset)), x.dtype,
                    x.shape, x.strides);
  return view(node_of(x.place.slot, x.dtype), x.place.offset / static_cast<std::int64_t>(dtype_size(x.dtype)),
              x.shape, x.strides);
}

NAX_ENGINE int SlotNodes::read(const program::Output& out) {
  program::Operand x{{}, false, out.dtype, out.layout.shape, out.layout.strides};
  if (out.slot == program::Place::constant)
    x.place.offset =
        static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(nax::detail::raw_data(out.constant)));
  else
    x.place = {out.slot, out.offset * static_cast<std::int64_t>(dtype_size(out.dtype))};
  return graph_.expand(read(x), x.shape);
}

NAX_ENGINE void SlotNodes::write(const program::Operand& x, int node) {
  const DType dtype = graph_[node].dtype;
  if (dtype != x.dtype) refuse("a result of another dtype");
  Dims own = x.shape;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (x.strides[i] == 0) own[i] = 1;
  const Dims& given = graph_[node].shape;
  node = elements_of(given) == elements_of(own) ? graph_.reshape(node, own) : graph_.expand(node, own);
  std::int64_t offset = x.place.offset / static_cast<std::int64_t>(dtype_size(dtype));
  const std::vector<SpreadAxis> axes = spread_axes(x.shape, x.strides, offset);
  for (const SpreadAxis& one : axes)
    if (one.reversed) refuse("an array that is written from its end");
  std::vector<std::int64_t> order;
  for (const SpreadAxis& one : axes) order.push_back(static_cast<std::int64_t>(one.axis));
  if (!std::is_sorted(order.begin(), order.end())) {
    for (std::size_t i = 0; i < own.size(); ++i)
      if (std::find(order.begin(), order.end(), static_cast<std::int64_t>(i)) == order.end())
        order.push_back(static_cast<std::int64_t>(i));
    node = graph_.transpose(node, order);
  }
  Content& to = contents_[static_cast<std::size_t>(x.place.slot)];
  to.best.reset();
  if (offset == 0 && is_run(axes) && elements_of(own) == elements(x.place.slot, dtype)) {
    to.node = node;
    to.parts.clear();
    return;
  }
  Part part{offset, extents_of(axes), {}, node};
  for (const SpreadAxis& one : axes) part.strides.push_back(one.stride);
  to.parts.push_back(std::move(part));
}

NAX_ENGINE void SlotNodes::clear(const program::Operand& to) {
  if (to.place.offset != 0 || elements_of(to.shape) != elements(to.place.slot, DType::uint8))
    refuse("a part of an array that is cleared");
  contents_[static_cast<std::size_t>(to.place.slot)] = {};
  contents_[static_cast<std::size_t>(to.place.slot)].zeros = true;
}

NAX_ENGINE void SlotNodes::copy_bytes(const program::Operand& from, const program::Operand& to) {
  Content content;
  if (from.place.slot == program::Place::constant)
    content.data = reinterpret_cast<const char*>(static_cast<std::intptr_t>(from.place.offset));
  else
    content = contents_[static_cast<std::size_t>(from.place.slot)];
  const bool whole = from.place.slot == program::Place::constant ||
                     (from.place.offset == 0 &&
                      elements(from.place.slot, DType::uint8) == elements(to.place.slot, DType::uint8));
  if (!whole || to.place.offset != 0 || elements_of(to.shape) != elements(to.place.slot, DType::uint8))
    refuse("a copy of a part of an array's bytes");
  contents_[static_cast<std::size_t>(to.place.slot)] = std::move(content);
}

}  // namespace io::detail
NAX_END
