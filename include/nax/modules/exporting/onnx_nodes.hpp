#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nax/modules/exporting/graph.hpp"
#include "nax/modules/exporting/protobuf.hpp"

NAX_BEGIN
namespace io::detail {

// Nodes and initializers of an ONNX graph, by their names. The fields' numbers are those of onnx.proto.
class OnnxNodes {
 protected:
  explicit OnnxNodes(const Graph& graph) : graph_(graph), names_(graph.nodes.size()) {}

  // Constants are written when they are read first.
  std::string& name(int at) {
    std::string& known = names_[static_cast<std::size_t>(at)];
    const Node& node = graph_[at];
    if (known.empty() && node.kind == NodeKind::constant)
      known =
          initializer(elements_of(node.shape) == 1 ? "number" : "weight", node.dtype, node.shape, node.data);
    return known;
  }
  std::string fresh(const std::string& like) {
    for (;;)
      if (std::string made = like + '_' + std::to_string(count_++); used_.insert(made).second) return made;
  }

  static int type_number(DType dtype) {
    switch (dtype) {
      case DType::boolean:
        return 9;
      case DType::int8:
        return 3;
      case DType::int16:
        return 5;
      case DType::int32:
        return 6;
      case DType::int64:
        return 7;
      case DType::uint8:
        return 2;
      case DType::uint16:
        return 4;
      case DType::uint32:
        return 12;
      case DType::uint64:
        return 13;
      case DType::float16:
        return 10;
      case DType::bfloat16:
        return 16;
      case DType::float32:
        return 1;
      case DType::float64:
        return 11;
      case DType::complex64:
        return 14;
      case DType::complex128:
        return 15;
    }
    return 0;
  }
  static Message value_info(const std::string& name, const Node& node) {
    Message shape, tensor, type, info;
    for (const std::int64_t extent : node.shape) shape.message(1, Message().number(1, extent));
    tensor.number(1, type_number(node.dtype)).message(2, shape);
    type.message(1, tensor);
    return std::move(info.text(1, name).message(2, type));
  }

  std::string initializer(const std::string& like, DType dtype, const Dims& shape, const void* data) {
    return initializer(like, dtype, shape, data, data);
  }
  // Called as the constant of `original`.
  std::string initializer(const std::string& like, DType dtype, const Dims& shape, const void* data,
                          const void* original) {
    if (const auto folded = graph_.originals.find(original); folded != graph_.originals.end())
      original = folded->second;
    const auto named = graph_.names.find(original);
    const std::string made =
        named != graph_.names.end() && used_.insert(named->second).second ? named->second : fresh(like);
    Message tensor;
    for (const std::int64_t extent : shape) tensor.number(1, extent);
    tensor.number(2, type_number(dtype)).text(8, made);
    const std::size_t bytes = static_cast<std::size_t>(elements_of(shape)) * dtype_size(dtype);
    if (outside_ && bytes > 64) {
      data_.resize((data_.size() + 63) / 64 * 64);
      const auto entry = [&](const char* key, const std::string& value) {
        tensor.message(13, std::move(Message().text(1, key).text(2, value)));
      };
      entry("location", data_file_), entry("offset", std::to_string(data_.size()));
      entry("length", std::to_string(bytes));
      tensor.number(14, 1);
      data_.append(static_cast<const char*>(data), bytes);
    } else {
      tensor.text(9, {static_cast<const char*>(data), bytes});
    }
    initializers_.message(5, tensor);
    return made;
  }
  std::string integers(const std::vector<std::int64_t>& list) {
    std::string& known = integers_[list];
    if (known.empty())
      known =
          initializer("numbers", DType::int64, Dims(1, static_cast<std::int64_t>(list.size())), list.data());
    return known;
  }
  static std::vector<std::int64_t> list_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

  // Attributes of the node that is added next.
  void set(const char* attribute, std::int64_t value) {
    attributes_.push_back(std::move(Message().text(1, attribute).number(3, value).number(20, 2)));
  }
  void set(const char* attribute, float value) {
    attributes_.push_back(std::move(Message().text(1, attribute).real(2, value).number(20, 1)));
  }
  void set(const char* attribute, const std::vector<std::int64_t>& values) {
    Message made;
    made.text(1, attribute);
    for (const std::int64_t value : values) made.number(8, value);
    attributes_.push_back(std::move(made.number(20, 7)));
  }
  void set(const char* attribute, const char* value) {
    attributes_.push_back(std::move(Message().text(1, attribute).text(4, value).number(20, 3)));
  }
  std::string add(const char* type, const std::vector<std::string>& inputs, std::string to = {}) {
    if (to.empty()) to = fresh(type);
    Message node;
    for (const std::string& input : inputs) node.text(1, input);
    node.text(2, to).text(3, to).text(4, type);
    for (const Message& attribute : attributes_) node.message(5, attribute);
    attributes_.clear();
    body_.message(1, node);
    return to;
  }
  std::string transposed(const std::string& x, const std::vector<std::int64_t>& axes) {
    set("perm", axes);
    return add("Transpose", {x});
  }

  std::string reversed(const std::string& x, const std::vector<std::int64_t>& axes) {
    const std::size_t n = axes.size();
    return add("Slice", {x, integers(std::vector<std::int64_t>(n, -1)),
                         integers(std::vector<std::int64_t>(n, INT64_MIN)), integers(axes),
                         integers(std::vector<std::int64_t>(n, -1))});
  }

  const Graph& graph_;
  std::set<std::string> used_;
  std::vector<Message> attributes_;  // of the node that is added next
  bool outside_ = false;             // are weights?
  std::string data_file_, data_;
  Message body_;          // of the graph, or of a loop's body
  Message initializers_;  // of the graph

 private:
  std::vector<std::string> names_;  // of the nodes
  std::map<std::vector<std::int64_t>, std::string> integers_;
  int count_ = 0;
};

}  // namespace io::detail
NAX_END
