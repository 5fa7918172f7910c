#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "nax/modules/exporting/graph.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE std::int64_t elements_of(const Dims& shape) {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

NAX_ENGINE int Graph::add(Node node) {
  std::string key;
  const auto append = [&](const auto& x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); };
  append(node.kind), append(node.dtype), append(node.number), append(node.data);
  if (node.kind == NodeKind::argument) append(nodes.size());
  append(node.numbers.size()), append(node.shape.size());
  for (const std::int64_t x : node.numbers) append(x);
  for (const std::int64_t x : node.shape) append(x);
  for (const int x : node.inputs) append(x);
  const auto [place, is_new] = known_.try_emplace(std::move(key), static_cast<int>(nodes.size()));
  if (is_new) nodes.push_back(std::move(node));
  return place->second;
}

NAX_ENGINE int Graph::elementwise(NodeKind kind, std::vector<int> inputs, DType dtype) {
  Dims shape;
  for (const int x : inputs) {
    const Dims& own = (*this)[x].shape;
    while (shape.size() < own.size()) shape.insert(0, 1);
    for (std::size_t i = 0; i < own.size(); ++i) {
      std::int64_t& extent = shape[shape.size() - own.size() + i];
      if (extent == 1) extent = own[i];
    }
  }
  return add({kind, std::move(inputs), dtype, shape});
}

NAX_ENGINE int Graph::constant(const void* data, DType dtype, const Dims& shape) {
  Node node{NodeKind::constant, {}, dtype, shape};
  node.data = data;
  return add(std::move(node));
}

NAX_ENGINE int Graph::own_constant(const void* data, DType dtype, const Dims& shape) {
  const std::size_t bytes = static_cast<std::size_t>(elements_of(shape)) * dtype_size(dtype);
  for (const auto& one : nodes)  // small ones are likely to come again
    if (bytes <= 64 && one.kind == NodeKind::constant && one.dtype == dtype && one.shape == shape &&
        std::memcmp(one.data, data, bytes) == 0)
      return static_cast<int>(&one - nodes.data());
  const std::shared_ptr<char[]> own(new char[bytes + 1]);
  std::memcpy(own.get(), data, bytes);
  held.push_back(own);
  return constant(own.get(), dtype, shape);
}

NAX_ENGINE int Graph::number(double value, DType dtype) {
  const auto as = [&]<class T>(T x) { return own_constant(&x, dtype, {}); };
  switch (dtype) {
    case DType::boolean:
      return as(value != 0);
    case DType::int8:
      return as(static_cast<std::int8_t>(value));
    case DType::int16:
      return as(static_cast<std::int16_t>(value));
    case DType::int32:
      return as(static_cast<std::int32_t>(value));
    case DType::int64:
      return as(static_cast<std::int64_t>(value));
    case DType::uint8:
      return as(static_cast<std::uint8_t>(value));
    case DType::uint16:
      return as(static_cast<std::uint16_t>(value));
    case DType::uint32:
      return as(static_cast<std::uint32_t>(value));
    case DType::uint64:
      return as(static_cast<std::uint64_t>(value));
    case DType::float32:
      return as(static_cast<float>(value));
    case DType::float64:
      return as(value);
    case DType::float16:
    case DType::bfloat16:
    case DType::complex64:
    case DType::complex128:
      break;
  }
  return cast(number(value, dtype == DType::complex128 ? DType::float64 : DType::float32), dtype);
}

NAX_ENGINE int Graph::cast(int x, DType dtype) {
  const DType from = (*this)[x].dtype;
  if (from == dtype) return x;
  if (system != System::stablehlo && dtype_kind(from) == Kind::floating && dtype_kind(dtype) == Kind::integer)
    return rounded_towards_zero(x, dtype);
  return add({NodeKind::cast, {x}, dtype, Dims((*this)[x].shape)});
}

NAX_ENGINE int Graph::rounded_towards_zero(int x, DType dtype) {
  const bool has_sign = dtype < DType::uint8;
  const int bits = static_cast<int>(8 * dtype_size(dtype)) - has_sign;
  // A type that holds both ends, but for the greatest 64-bit number.
  const DType type = bits > 24 ? DType::float64 : promote((*this)[x].dtype, DType::float32);
  x = cast(x, type);
  const auto make = [&](NodeKind kind, std::vector<int> inputs) { return elementwise(kind, inputs, type); };
  const auto holds = [&](NodeKind kind, std::vector<int> inputs) {
    return elementwise(kind, inputs, DType::boolean);
  };
  const auto converted = [&](int y, DType to) {
    return add({NodeKind::cast, {y}, to, Dims((*this)[y].shape)});
  };
  const double end = std::ldexp(1, bits), least = has_sign ? -end : 0;
  int y = make(NodeKind::select, {holds(NodeKind::equal, {x, x}), x, number(0, type)});
  y = make(NodeKind::maximum, {y, number(least, type)});
  if (bits <= 53) return converted(make(NodeKind::minimum, {y, number(end - 1, type)}), dtype);
  // The upper half of uint64 is int64's negative one: ONNX Runtime chooses among int64 alone.
  const double middle = std::ldexp(1, 63);
  const int beyond = holds(NodeKind::less_equal, {number(end, type), y});
  if (!has_sign)
    y = make(NodeKind::select, {holds(NodeKind::less_equal, {number(middle, type), y}),
                                make(NodeKind::subtract, {y, number(end, type)}), y});
  y = converted(make(NodeKind::minimum, {y, number(std::nextafter(middle, 0), type)}), DType::int64);
  const std::int64_t greatest = has_sign ? INT64_MAX : -1;
  y = elementwise(NodeKind::select, {beyond, own_constant(&greatest, DType::int64, {}), y}, DType::int64);
  return has_sign ? y : converted(y, dtype);
}

NAX_ENGINE int Graph::reshape(int x, const Dims& shape) {
  while ((*this)[x].kind == NodeKind::reshape) x = (*this)[x].inputs[0];
  const Node& from = (*this)[x];
  if (from.shape == shape) return x;
  if (from.kind == NodeKind::constant) return constant(from.data, from.dtype, shape);
  return add({NodeKind::reshape, {x}, from.dtype, shape});
}

NAX_ENGINE int Graph::transpose(int x, const std::vector<std::int64_t>& axes) {
  if (std::is_sorted(axes.begin(), axes.end())) return x;
  const Node& from = (*this)[x];
  Dims shape;
  for (const std::int64_t axis : axes) shape.push_back(from.shape[static_cast<std::size_t>(axis)]);
  return add({NodeKind::transpose, {x}, from.dtype, shape, axes});
}

NAX_ENGINE int Graph::slice(int x, const Dims& first, const Dims& end, const Dims& step) {
  const Node& from = (*this)[x];
  Dims shape;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < first.size(); ++i) {
    shape.push_back((end[i] - first[i] + step[i] - 1) / step[i]);
    numbers.insert(numbers.end(), {first[i], end[i], step[i]});
  }
  return from.shape == shape ? x : add({NodeKind::slice, {x}, from.dtype, shape, std::move(numbers)});
}

NAX_ENGINE int Graph::expand(int x, const Dims& shape) {
  const Node& from = (*this)[x];
  return from.shape == shape ? x : add({NodeKind::expand, {x}, from.dtype, shape});
}

NAX_ENGINE int Graph::reduce(NodeKind kind, int x, const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return x;
  const Node& from = (*this)[x];
  Dims shape = from.shape;
  for (const std::int64_t axis : axes) shape[static_cast<std::size_t>(axis)] = 1;
  return add({kind, {x}, from.dtype, shape, axes});
}

NAX_ENGINE std::vector<int> Graph::live() const {
  std::vector<bool> needed(nodes.size(), false);
  for (const int x : arguments) needed[static_cast<std::size_t>(x)] = true;
  for (const int x : results) needed[static_cast<std::size_t>(x)] = true;
  std::vector<int> all;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    all.push_back(static_cast<int>(i));
    for (const int x : nodes[i].inputs) needed[static_cast<std::size_t>(x)] = true;
  }
  std::reverse(all.begin(), all.end());
  return all;
}

NAX_ENGINE std::vector<std::int64_t> Graph::homes() const {
  std::vector<std::set<std::int64_t>> within(nodes.size());
  std::vector<std::int64_t> all(nodes.size(), -1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& own = nodes[i];
    for (const int x : own.inputs) {
      const std::set<std::int64_t>& other = within[static_cast<std::size_t>(x)];
      within[i].insert(other.begin(), other.end());
    }
    if (own.kind == NodeKind::parameter) within[i].insert(own.numbers[0]);
    if (own.kind == NodeKind::loop) {
      const LoopNumbers by{own.numbers.data()};
      within[i].erase(by.number()), within[i].erase(by.condition());
    }
    if (own.kind == NodeKind::branches) {
      const BranchNumbers by{own.numbers.data()};
      for (std::size_t b = 0; b < by.branches(); ++b) within[i].erase(by.number(b));
    }
    if (!within[i].empty()) all[i] = *within[i].rbegin();  // inner ones have greater numbers
  }
  return all;
}

}  // namespace io::detail
NAX_END
