#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nax/modules/exporting/graph.hpp"

NAX_BEGIN
namespace io::detail {

// Lines of MLIR's generic form: %n = "name"(operands) {attributes} : (types) -> type.
class StablehloLines {
 protected:
  struct Value {
    std::string name;
    DType dtype{};
    Dims shape;
  };
  using Integers = std::vector<std::int64_t>;

  static std::string element(DType dtype) {
    const std::string bits = std::to_string(8 * dtype_size(dtype));
    if (dtype == DType::boolean) return "i1";
    if (dtype == DType::bfloat16) return "bf16";
    if (dtype == DType::complex64) return "complex<f32>";
    if (dtype == DType::complex128) return "complex<f64>";
    if (dtype_kind(dtype) == Kind::floating) return "f" + bits;
    return (dtype_name(dtype)[0] == 'u' ? "ui" : "i") + bits;
  }
  static std::string type_of(DType dtype, const Dims& shape) {
    std::string text = "tensor<";
    for (const std::int64_t extent : shape) text += std::to_string(extent) + 'x';
    return text + element(dtype) + '>';
  }
  static std::string type_of(const Value& x) { return type_of(x.dtype, x.shape); }
  template <class List>
  static std::string joined(const List& list) {
    std::string text;
    for (const std::int64_t x : list) text += (text.empty() ? "" : ", ") + std::to_string(x);
    return text;
  }
  template <class List>
  static std::string array(const char* attribute, const List& list) {
    return std::string(attribute) + " = array<i64" + (list.empty() ? "" : ": ") + joined(list) + '>';
  }

  // ---- lines

  Value add(const std::string& operation, const std::vector<Value>& x, DType dtype, const Dims& shape,
            const std::string& attributes = {}, const std::string& region = {}) {
    const Value made{'%' + std::to_string(count_++), dtype, shape};
    std::string names, types;
    for (const Value& one : x) {
      names += (names.empty() ? "" : ", ") + one.name;
      types += (types.empty() ? "" : ", ") + type_of(one);
    }
    text_ += "    " + made.name + " = \"" + operation + "\"(" + names + ')' + region;
    if (!attributes.empty()) text_ += " {" + attributes + '}';
    text_ += " : (" + types + ") -> " + type_of(made) + '\n';
    return made;
  }
  // A function of two numbers, as operations that combine elements have it.
  std::string region(const char* operation, DType dtype, DType result, const std::string& attributes = {}) {
    const std::string a = "%a" + std::to_string(count_), b = "%b" + std::to_string(count_),
                      c = "%c" + std::to_string(count_++), type = type_of(dtype, {}),
                      to = type_of(result, {});
    return " ({ ^bb0(" + a + ": " + type + ", " + b + ": " + type + "): " + c + " = \"" + operation + "\"(" +
           a + ", " + b + ")" + attributes + " : (" + type + ", " + type + ") -> " + to +
           " \"stablehlo.return\"(" + c + ") : (" + to + ") -> () })";
  }
  Value constant(DType dtype, const Dims& shape, const void* data) {
    const std::size_t bytes = static_cast<std::size_t>(elements_of(shape)) * dtype_size(dtype);
    const DType stored = dtype == DType::boolean ? DType::uint8 : dtype;  // a truth is a bit in MLIR's text
    const Value made{'%' + std::to_string(count_++), stored, shape};
    constexpr const char* digits = "0123456789ABCDEF";
    text_ += "    " + made.name + " = stablehlo.constant dense<\"0x";
    for (std::size_t i = 0; i < bytes; ++i) {
      const unsigned byte = static_cast<const unsigned char*>(data)[i];
      text_ += digits[byte >> 4], text_ += digits[byte & 15];
    }
    text_ += "\"> : " + type_of(made) + '\n';
    return stored == dtype ? made : add("stablehlo.convert", {made}, dtype, shape);
  }
  Value broadcast(const Value& x, const Dims& shape) {
    if (x.shape == shape) return x;
    Integers axes;
    for (std::size_t i = 0; i < x.shape.size(); ++i)
      axes.push_back(static_cast<std::int64_t>(shape.size() - x.shape.size() + i));
    return add("stablehlo.broadcast_in_dim", {x}, x.dtype, shape, array("broadcast_dimensions", axes));
  }
  Value reshape(const Value& x, const Dims& shape) {
    return x.shape == shape ? x : add("stablehlo.reshape", {x}, x.dtype, shape);
  }
  // The number that changes nothing.
  Value first_of(NodeKind kind, DType dtype) {
    const bool least = kind == NodeKind::max, extreme = least || kind == NodeKind::min;
    if (extreme && dtype_kind(dtype) < Kind::floating) {
      std::uint64_t bits = least ? 0 : ~std::uint64_t{0};
      if (dtype_name(dtype)[0] == 'i') bits ^= std::uint64_t{1} << (8 * dtype_size(dtype) - 1);
      return constant(dtype, {}, &bits);
    }
    Graph graph;  // holds the bytes
    double number = kind == NodeKind::product;
    if (extreme) number = least ? -HUGE_VAL : HUGE_VAL;
    const Node& made = graph[graph.number(number, dtype)];
    if (made.kind == NodeKind::constant) return constant(dtype, {}, made.data);
    const Node& from = graph[made.inputs[0]];  // of a number that C++ has no literal for
    return add("stablehlo.convert", {constant(from.dtype, {}, from.data)}, dtype, {});
  }
  static const char* combining(NodeKind kind) {
    return kind == NodeKind::sum       ? "stablehlo.add"
           : kind == NodeKind::product ? "stablehlo.multiply"
           : kind == NodeKind::max     ? "stablehlo.maximum"
                                       : "stablehlo.minimum";
  }
  // Axes stay, with extent 1.
  Value reduce(NodeKind kind, const Value& x, const Integers& axes) {
    Dims kept, whole = x.shape;
    for (std::size_t i = 0; i < x.shape.size(); ++i) {
      const bool goes = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
      if (goes)
        whole[i] = 1;
      else
        kept.push_back(x.shape[i]);
    }
    const Value from = first_of(kind, x.dtype);
    return reshape(add("stablehlo.reduce", {x, from}, x.dtype, kept, array("dimensions", axes),
                       region(combining(kind), x.dtype, x.dtype)),
                   whole);
  }
  Value numbers_along(const Dims& shape, std::int64_t axis, DType dtype) {
    return add("stablehlo.iota", {}, dtype, shape, "iota_dimension = " + std::to_string(axis) + " : i64");
  }
  static std::string compared(const char* direction) {
    return std::string("comparison_direction = #stablehlo<comparison_direction ") + direction + '>';
  }

  std::string text_;
  int count_ = 0;
};

}  // namespace io::detail
NAX_END
