#pragma once

#include <algorithm>

#include "nax/io/new_file.hpp"
#include "nax/modules/exporting/onnx.hpp"
#include "nax/modules/exporting/onnx_layout.hpp"
#include "nax/modules/exporting/onnx_nodes.hpp"

NAX_BEGIN
namespace io::detail {

class OnnxWriter : OnnxNodes {
 public:
  OnnxWriter(const Graph& graph, const SaveOnnxOptions& options)
      : OnnxNodes(graph),
        options_(options),
        live_(graph.live()),
        homes_(graph.homes()),
        layout_(graph, live_, homes_) {}

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
    if (node.kind == NodeKind::parameter || node.kind == NodeKind::constant) return;
    if (node.kind == NodeKind::loop) return loop(at);
    if (node.kind == NodeKind::branches) {
      set_captures(at);
      loops_[at] = chosen(at, 0);
      return;
    }
    if (layout_.holds(at)) return write_second(at);
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
        return convolve_alone(node, x);
      case NodeKind::max_pool: {
        const std::size_t rank = node.shape.size();
        return transposed(max_pool(node, transposed(x[0], channels_second(rank))), channels_last(rank));
      }
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
      case NodeKind::constant:
      case NodeKind::cholesky:
      case NodeKind::solve:
      case NodeKind::argument:
      case NodeKind::parameter:
      case NodeKind::loop:
      case NodeKind::branches:
      case NodeKind::part:
        break;
    }
    return {};
  }
  // Names of what branches read: they see the names around them.
  void set_captures(int at) {
    const BranchNumbers by{graph_[at].numbers.data()};
    for (const int x : live_)
      for (std::size_t b = 0; b < by.branches(); ++b)
        if (const Node& p = graph_[x]; p.kind == NodeKind::parameter && p.numbers[0] == by.number(b))
          name(x) = name(graph_[at].inputs[1 + static_cast<std::size_t>(p.numbers[1])]);
  }
  // The results of branch `first`, or of an If that takes it or one of those behind it.
  std::vector<std::string> chosen(int at, std::size_t first) {
    const Node& own = graph_[at];
    const BranchNumbers by{own.numbers.data()};
    std::vector<std::string> results;
    if (first + 1 == by.branches()) {
      write_home(by.number(first));
      for (std::size_t k = 0; k < by.results(); ++k) results.push_back(name(own.inputs[by.result(first, k)]));
      return results;
    }
    Message node;
    node.text(1, add("Less", {name(own.inputs[0]), scalar(static_cast<std::int64_t>(first) + 1)}));
    const auto branch = [&](const auto& written) {
      Message outer = std::exchange(body_, Message());
      const std::vector<std::string> names = written();
      for (std::size_t k = 0; k < names.size(); ++k)
        body_.message(12, value_info(add("Identity", {names[k]}), graph_[own.inputs[by.result(first, k)]]));
      body_.text(2, fresh("branch"));
      return std::exchange(body_, std::move(outer));
    };
    const Message taken = branch([&] {
      write_home(by.number(first));
      std::vector<std::string> names;
      for (std::size_t k = 0; k < by.results(); ++k) names.push_back(name(own.inputs[by.result(first, k)]));
      return names;
    });
    const Message others = branch([&] { return chosen(at, first + 1); });
    for (std::size_t k = 0; k < by.results(); ++k) {
      results.push_back(fresh("If"));
      node.text(2, results.back());
    }
    node.text(3, fresh("If")).text(4, "If");
    node.message(5, std::move(Message().text(1, "then_branch").message(6, taken).number(20, 5)));
    node.message(5, std::move(Message().text(1, "else_branch").message(6, others).number(20, 5)));
    body_.message(1, node);
    return results;
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
  // With channels second, which may be its only form.
  const std::string& second(int at) {
    std::string& known = second_[at];
    if (known.empty()) known = transposed(name(at), channels_second(graph_[at].shape.size()));
    return known;
  }
  void write_second(int at) {
    const Node& node = graph_[at];
    const std::size_t rank = node.shape.size();
    if (layout_.waits(at)) return;
    std::string& made = second_[at];
    if (const int from = layout_.biased(at); from >= 0)
      made = convolve(from, row(node.inputs[node.inputs[0] == from ? 1 : 0], Dims(1, node.shape.back())));
    else if (node.kind == NodeKind::convolve)
      made = convolve(at, {});
    else if (node.kind == NodeKind::max_pool)
      made = max_pool(node, second(node.inputs[0]));
    else
      made = elementwise_second(node);
    if (layout_.is_read_plain(at)) name(at) = transposed(made, channels_last(rank));
  }
  std::string elementwise_second(const Node& node) {
    std::vector<std::string> x;
    for (const int input : node.inputs) {
      Dims column(node.shape.size() - 1, 1);
      column[0] = node.shape.back();
      x.push_back(layout_.holds(input)                ? second_.at(input)
                  : layout_.is_row(input, node.shape) ? row(input, column)
                                                      : name(input));
    }
    if (node.kind == NodeKind::fmod) set("fmod", std::int64_t{1});
    if (node.kind != NodeKind::cast) return add(elementwise_type(node.kind), x);
    set("to", static_cast<std::int64_t>(type_number(node.dtype)));
    return add("Cast", x);
  }
  // A constant's numbers, one a channel.
  std::string row(int at, const Dims& shape) {
    return initializer("weight", graph_[at].dtype, shape, graph_[at].data);
  }
  // The weight's outputs come first.
  const std::string& weight(int at) {
    std::string& known = weights_[at];
    if (known.empty()) known = made_weight(at);
    return known;
  }
  std::string made_weight(int at) {
    const Node& node = graph_[at];
    const std::vector<std::int64_t> axes = weight_axes(node.shape.size(), 1, 2);
    if (node.kind != NodeKind::constant) return transposed(name(at), axes);
    Dims shape;
    for (const std::int64_t axis : axes) shape.push_back(node.shape[static_cast<std::size_t>(axis)]);
    return initializer("weight", node.dtype, shape, transposed_bytes(node, axes).data(), node.data);
  }
  std::string convolve(int at, const std::string& bias) {
    const Node& node = graph_[at];
    std::vector<std::string> x = {second(node.inputs[0]), weight(node.inputs[1])};
    if (!bias.empty()) x.push_back(bias);
    set_windows(node);
    set("group", ConvNumbers{node.numbers.data()}.groups());
    return add("Conv", x);
  }
  // Within a loop, or of an input whose elements stand apart.
  std::string convolve_alone(const Node& node, const std::vector<std::string>& x) {
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
  // With channels second.
  std::string max_pool(const Node& node, const std::string& x) {
    set_windows(node);
    set("kernel_shape",
        std::vector<std::int64_t>(node.numbers.end() - static_cast<std::ptrdiff_t>(node.shape.size() - 2),
                                  node.numbers.end()));
    return add("MaxPool", {x});
  }

  const SaveOnnxOptions& options_;
  std::vector<int> live_;
  std::vector<std::int64_t> homes_;  // by node: the loop, or -1
  const ChannelsSecond layout_;
  std::map<int, std::string> second_, weights_;    // names: with channels second; with outputs first
  std::map<int, std::vector<std::string>> loops_;  // results
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
