#pragma once

#include <algorithm>
#include <set>

#include "nax/io/new_file.hpp"
#include "nax/modules/exporting/onnx.hpp"
#include "nax/modules/exporting/protobuf.hpp"

NAX_BEGIN
namespace io::detail {

// The fields' numbers are those of onnx.proto.
class OnnxWriter {
 public:
  OnnxWriter(const Graph& graph, const SaveOnnxOptions& options)
      : graph_(graph),
        options_(options),
        names_(graph.nodes.size()),
        live_(graph.live()),
        homes_(graph.homes()) {}

  // Weights that lie outside, in the file that is called `data_file` there.
  const std::string& data() const { return data_; }
  std::string model(const std::string& data_file) {
    data_file_ = data_file;
    std::size_t bytes = 0;
    for (const int at : live_)
      if (graph_[at].kind == NodeKind::constant)
        bytes += static_cast<std::size_t>(elements_of(graph_[at].shape)) * dtype_size(graph_[at].dtype);
    outside_ = bytes > options_.inside_bytes;
    name_all("inputs", options_.inputs, graph_.arguments.size());
    name_all("outputs", options_.outputs, graph_.results.size());
    for (std::size_t i = 0; i < graph_.arguments.size(); ++i) {
      name(graph_.arguments[i]) = given(options_.inputs, i, 'x');
      body_.message(11, value_info(name(graph_.arguments[i]), graph_[graph_.arguments[i]]));
    }
    write_home(-1);
    for (std::size_t i = 0; i < graph_.results.size(); ++i) {
      const std::string to = given(options_.outputs, i, 'y');
      add("Identity", {name(graph_.results[i])}, to);
      body_.message(12, value_info(to, graph_[graph_.results[i]]));
    }
    body_.text(2, options_.name).append(initializers_);
    Message opset;
    opset.text(1, "").number(2, 17);
    Message all;
    all.number(1, 8).text(2, "nax").message(8, opset).message(7, body_);
    return all.bytes();
  }

 private:
  std::string& name(int at) { return names_[static_cast<std::size_t>(at)]; }
  static std::string given(const std::vector<std::string>& names, std::size_t i, char letter) {
    return names.empty() ? letter + std::to_string(i) : names[i];
  }
  void name_all(const char* what, const std::vector<std::string>& names, std::size_t count) {
    if (!names.empty() && names.size() != count)
      raise<ValueError>({"save_onnx: ", static_cast<std::int64_t>(names.size()), " names of ", what, " for ",
                         static_cast<std::int64_t>(count), " arrays"});
    for (std::size_t i = 0; i < count; ++i)
      if (const std::string one = given(names, i, *what == 'i' ? 'x' : 'y');
          one.empty() || !used_.insert(one).second)
        raise<ValueError>({"save_onnx: a name is empty or used twice: ", one});
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

  // ---- parts of the graph

  std::string initializer(const std::string& like, DType dtype, const Dims& shape, const void* data) {
    const auto named = graph_.names.find(data);
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

  // ---- nodes

  static const char* elementwise_type(NodeKind kind) {
    constexpr const char* types[] = {
#define NAX_NODE(name, onnx, stablehlo) onnx,
        NAX_ELEMENTWISE_NODES(NAX_NODE)
#undef NAX_NODE
    };
    return types[static_cast<int>(kind)];
  }
  // The nodes of a loop's body, or those outside loops.
  void write_home(std::int64_t loop) {
    for (const int at : live_)
      if (homes_[static_cast<std::size_t>(at)] == loop) write(at);
  }
  void write(int at) {
    const Node& node = graph_[at];
    if (node.kind == NodeKind::parameter) return;
    if (node.kind == NodeKind::loop) return loop(at);
    if (node.kind == NodeKind::part) {
      name(at) = loops_.at(node.inputs[0])[static_cast<std::size_t>(node.numbers[0])];
      return;
    }
    std::vector<std::string> x;
    for (const int input : node.inputs) x.push_back(name(input));
    if (node.kind == NodeKind::fmod) set("fmod", std::int64_t{1});
    if (node.kind != NodeKind::argument)
      name(at) = is_elementwise(node.kind) ? add(elementwise_type(node.kind), x) : made(node, x);
  }
  std::string made(const Node& node, const std::vector<std::string>& x) {
    const std::vector<std::int64_t>& numbers = node.numbers;
    switch (node.kind) {
      case NodeKind::constant:
        return initializer(elements_of(node.shape) == 1 ? "number" : "weight", node.dtype, node.shape,
                           node.data);
      case NodeKind::cast:
        set("to", static_cast<std::int64_t>(type_number(node.dtype)));
        return add("Cast", x);
      case NodeKind::reshape:
        return add("Reshape", {x[0], integers(list_of(node.shape))});
      case NodeKind::transpose:
        return transposed(x[0], numbers);
      case NodeKind::slice: {
        std::vector<std::int64_t> first, end, step, axes;
        for (std::size_t i = 0; i < node.shape.size(); ++i) {
          const std::int64_t extent = graph_[node.inputs[0]].shape[i];
          if (numbers[3 * i] == 0 && numbers[3 * i + 1] == extent && numbers[3 * i + 2] == 1) continue;
          first.push_back(numbers[3 * i]), end.push_back(numbers[3 * i + 1]),
              step.push_back(numbers[3 * i + 2]);
          axes.push_back(static_cast<std::int64_t>(i));
        }
        return add("Slice", {x[0], integers(first), integers(end), integers(axes), integers(step)});
      }
      case NodeKind::reverse:
        return reversed(x[0], numbers);
      case NodeKind::expand:
        return add("Expand", {x[0], integers(list_of(node.shape))});
      case NodeKind::concatenate:
        set("axis", numbers[0]);
        return add("Concat", x);
      case NodeKind::matmul:
        return add("MatMul", x);
      case NodeKind::sum:
        return add("ReduceSum", {x[0], integers(numbers)});
      case NodeKind::product:
        set("axes", numbers);
        return add("ReduceProd", x);
      case NodeKind::max:
        set("axes", numbers);
        return add("ReduceMax", x);
      case NodeKind::min:
        set("axes", numbers);
        return add("ReduceMin", x);
      case NodeKind::cumsum:
        set("reverse", numbers[1]);
        return add("CumSum", {x[0], integers({numbers[0]})});
      case NodeKind::argmax: {
        set("axis", numbers[0]), set("keepdims", std::int64_t{0});
        const std::string found = add("ArgMax", x);
        set("to", static_cast<std::int64_t>(type_number(node.dtype)));
        return add("Cast", {found});
      }
      case NodeKind::take:
        return add("Gather", x);
      case NodeKind::scatter_add:
        set("reduction", "add");
        [[fallthrough]];
      case NodeKind::scatter:
        set("axis", std::int64_t{0});
        return add("ScatterElements", x);
      case NodeKind::top:
      case NodeKind::top_indices:
        return top(node, x[0]);
      case NodeKind::convolve:
        return convolve(node, x);
      case NodeKind::max_pool:
        return max_pool(node, x[0]);
      case NodeKind::softmax:
        return add("Softmax", x);
      case NodeKind::log_softmax:
        return add("LogSoftmax", x);
      case NodeKind::layer_norm:
        set("epsilon", static_cast<float>(node.number));
        return add("LayerNormalization", x);
#define NAX_NODE(name, ...) case NodeKind::name:
        NAX_ELEMENTWISE_NODES(NAX_NODE)
#undef NAX_NODE
      case NodeKind::fft:  // refused before
      case NodeKind::cholesky:
      case NodeKind::solve:
      case NodeKind::argument:
      case NodeKind::parameter:
      case NodeKind::loop:
      case NodeKind::part:
        break;
    }
    return {};
  }
  std::string scalar(std::int64_t x) { return initializer("number", DType::int64, {}, &x); }
  // A Loop, whose body reads arrays from around it.
  void loop(int at) {
    const Node& own = graph_[at];
    const LoopNumbers by{own.numbers.data()};
    const std::size_t carries = by.carries(), next = carries + by.rows(),
                      after = next + carries + by.results();
    // The answer that a condition gives of carries.
    const auto answer = [&](const std::vector<std::string>& of) {
      for (const int x : live_)
        if (graph_[x].kind == NodeKind::parameter && graph_[x].numbers[0] == by.condition())
          name(x) = of[static_cast<std::size_t>(graph_[x].numbers[1])];
      write_home(by.condition());
      return name(own.inputs.back());
    };
    std::vector<std::string> initial;
    for (std::size_t k = 0; k < carries; ++k) initial.push_back(name(own.inputs[k]));
    const std::string begins = by.asks() ? answer(initial) : std::string();
    Message outer = std::exchange(body_, Message());
    const auto take = [&](const std::string& input, DType dtype, const Dims& shape) {
      body_.message(11, value_info(input, {NodeKind::parameter, {}, dtype, shape}));
      return input;
    };
    const auto give = [&](const std::string& from, DType dtype, const Dims& shape) {
      body_.message(12, value_info(add("Identity", {from}), {NodeKind::parameter, {}, dtype, shape}));
    };
    const auto input = [&](std::size_t i) -> const Node& { return graph_[own.inputs[i]]; };
    const std::string turn = take(fresh("turn"), DType::int64, {}),
                      go = take(fresh("go"), DType::boolean, {});
    std::vector<std::string> first = {by.asks() ? std::string() : scalar(by.turns()), begins}, parameters;
    for (std::size_t k = 0; k < carries; ++k) {
      first.push_back(initial[k]);
      parameters.push_back(take(fresh("carry"), input(k).dtype, input(k).shape));
    }
    const std::string row =
        by.reversed() && by.rows() > 0 ? add("Sub", {scalar(by.turns() - 1), turn}) : turn;
    for (const int x : live_) {
      const Node& parameter = graph_[x];
      if (parameter.kind != NodeKind::parameter || parameter.numbers[0] != by.number()) continue;
      const std::size_t number = static_cast<std::size_t>(parameter.numbers[1]);
      std::size_t k = 0;
      while (number >= carries && by.row(k) != parameter.numbers[1]) ++k;
      name(x) = number < carries ? parameters[number] : add("Gather", {name(own.inputs[carries + k]), row});
    }
    write_home(by.number());
    std::vector<std::string> nexts;
    for (std::size_t k = 0; k < carries; ++k) nexts.push_back(name(own.inputs[next + k]));
    give(by.asks() ? answer(nexts) : go, DType::boolean, {});
    for (std::size_t k = next; k < after; ++k) give(name(own.inputs[k]), input(k).dtype, input(k).shape);
    body_.text(2, fresh("body"));
    const Message body = std::exchange(body_, std::move(outer));
    Message node;
    for (const std::string& one : first) node.text(1, one);
    std::vector<std::string>& results = loops_[at];
    results.clear();  // a loop of a condition is written twice
    for (std::size_t k = next; k < after; ++k) {
      results.push_back(fresh("Loop"));
      node.text(2, results.back());
    }
    node.text(3, fresh("Loop")).text(4, "Loop");
    node.message(5, std::move(Message().text(1, "body").message(6, body).number(20, 5)));
    body_.message(1, node);
    if (by.reversed())
      for (std::size_t k = carries; k < results.size(); ++k) results[k] = reversed(results[k], {0});
  }
  std::string top(const Node& node, const std::string& x) {
    set("axis", node.numbers[0]), set("largest", node.numbers[2]);
    const std::string values = fresh("TopK"), indices = fresh("TopK");
    Message one;
    one.text(1, x).text(1, integers({node.numbers[1]})).text(2, values).text(2, indices);
    one.text(3, values).text(4, "TopK");
    for (const Message& attribute : attributes_) one.message(5, attribute);
    attributes_.clear();
    body_.message(1, one);
    return node.kind == NodeKind::top ? values : indices;
  }
  // Channels come second in ONNX, and the weight's outputs first.
  static std::vector<std::int64_t> channels_second(std::size_t rank) {
    std::vector<std::int64_t> axes = {0, static_cast<std::int64_t>(rank) - 1};
    for (std::size_t i = 1; i + 1 < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    return axes;
  }
  static std::vector<std::int64_t> channels_last(std::size_t rank) {
    std::vector<std::int64_t> axes = {0};
    for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    axes.push_back(1);
    return axes;
  }
  [[noreturn, gnu::cold]] static void refuse(const char* what) {
    raise<ValueError>({"save_onnx: cannot be written: ", what});
  }
  void set_windows(const Node& node) {
    const ConvNumbers by{node.numbers.data()};
    std::vector<std::int64_t> strides, low, high, dilations;
    for (std::size_t i = 0; i + 2 < node.shape.size(); ++i) {
      if (by.low(i) < 0 || by.high(i) <= -by.stride(i)) refuse("windows with negative padding");
      strides.push_back(by.stride(i)), dilations.push_back(by.rhs(i));
      low.push_back(by.low(i)), high.push_back(std::max<std::int64_t>(by.high(i), 0));
    }
    low.insert(low.end(), high.begin(), high.end());
    set("strides", strides), set("pads", low), set("dilations", dilations);
  }
  static std::vector<std::int64_t> weight_axes(std::size_t rank, std::int64_t first, std::int64_t second) {
    std::vector<std::int64_t> axes = {static_cast<std::int64_t>(rank) - first,
                                      static_cast<std::int64_t>(rank) - second};
    for (std::size_t i = 0; i + 2 < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    return axes;
  }
  std::string convolve(const Node& node, const std::vector<std::string>& x) {
    const std::size_t rank = node.shape.size();
    const ConvNumbers by{node.numbers.data()};
    for (std::size_t i = 0; i + 2 < rank; ++i)
      if (by.lhs(i) != 1) return transposed_convolve(node, x);
    const std::string from = transposed(x[0], channels_second(rank)),
                      weight = transposed(x[1], weight_axes(rank, 1, 2));
    set_windows(node);
    set("group", by.groups());
    return transposed(add("Conv", {from, weight}), channels_last(rank));
  }
  // Of an input whose elements stand apart: ConvTranspose, whose kernel stands the other way round and whose
  // pads are what the kernel reaches less those of the convolution.
  std::string transposed_convolve(const Node& node, const std::vector<std::string>& x) {
    const std::size_t rank = node.shape.size();
    const ConvNumbers by{node.numbers.data()};
    std::vector<std::int64_t> strides, low, high, more, dilations, axes;
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      const std::int64_t reach = (graph_[node.inputs[1]].shape[i] - 1) * by.rhs(i);
      if (by.stride(i) != 1 || by.groups() != 1 || by.low(i) > reach || by.high(i) - reach >= by.lhs(i))
        refuse("a convolution of an input whose elements stand apart");
      strides.push_back(by.lhs(i)), dilations.push_back(by.rhs(i));
      low.push_back(reach - by.low(i)), high.push_back(std::max<std::int64_t>(reach - by.high(i), 0));
      more.push_back(std::max<std::int64_t>(by.high(i) - reach, 0));
      axes.push_back(static_cast<std::int64_t>(i) + 2);
    }
    const std::string from = transposed(x[0], channels_second(rank)),
                      weight = reversed(transposed(x[1], weight_axes(rank, 2, 1)), axes);
    low.insert(low.end(), high.begin(), high.end());
    set("strides", strides), set("pads", low), set("output_padding", more), set("dilations", dilations);
    return transposed(add("ConvTranspose", {from, weight}), channels_last(rank));
  }
  std::string max_pool(const Node& node, const std::string& x) {
    const std::size_t rank = node.shape.size();
    const std::string from = transposed(x, channels_second(rank));
    set_windows(node);
    set("kernel_shape", std::vector<std::int64_t>(node.numbers.end() - static_cast<std::ptrdiff_t>(rank - 2),
                                                  node.numbers.end()));
    return transposed(add("MaxPool", {from}), channels_last(rank));
  }

  const Graph& graph_;
  const SaveOnnxOptions& options_;
  std::vector<std::string> names_;  // of the nodes
  std::vector<int> live_;
  std::vector<std::int64_t> homes_;                // by node: the loop, or -1
  std::map<int, std::vector<std::string>> loops_;  // results
  std::set<std::string> used_;
  std::map<std::vector<std::int64_t>, std::string> integers_;
  std::vector<Message> attributes_;
  bool outside_ = false;  // are weights?
  std::string data_file_, data_;
  Message body_;          // of the graph, or of a loop's body
  Message initializers_;  // of the graph
  int count_ = 0;
};

NAX_ENGINE void write_onnx(const std::string& path, const Graph& graph, const SaveOnnxOptions& options) {
  OnnxWriter writer(graph, options);
  const std::string data = path + ".data";
  const std::string model = writer.model(data.substr(data.find_last_of(os::separators) + 1));
  if (model.size() >= std::size_t{1} << 31)
    throw IoError("save_onnx: " + path + ": larger than 2 GiB: " + std::to_string(model.size()) + " bytes");
  const auto put = [](const std::string& to, const std::string& bytes) {
    NewFile file("save_onnx", to);
    file.write(bytes.data(), bytes.size());
    file.commit();
  };
  if (!writer.data().empty()) put(data, writer.data());
  put(path, model);
}

}  // namespace io::detail
NAX_END
