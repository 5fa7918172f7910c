#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "nax/loops/fft_lines.hpp"
#include "nax/modules/exporting/stablehlo.hpp"
#include "nax/modules/exporting/stablehlo_lines.hpp"

NAX_BEGIN
namespace io::detail {

class StablehloWriter : StablehloLines {
 public:
  explicit StablehloWriter(const Graph& graph)
      : graph_(graph), values_(graph.nodes.size()), live_(graph.live()), homes_(graph.homes()) {}

  std::string module() {
    std::string arguments, results, types;
    for (std::size_t i = 0; i < graph_.arguments.size(); ++i) {
      Value& own = values_[static_cast<std::size_t>(graph_.arguments[i])];
      const Node& node = graph_[graph_.arguments[i]];
      own = {"%arg" + std::to_string(i), node.dtype, node.shape};
      arguments += (i > 0 ? ", " : "") + own.name + ": " + type_of(own);
    }
    write_home(-1);
    for (std::size_t i = 0; i < graph_.results.size(); ++i) {
      const Value& own = values_[static_cast<std::size_t>(graph_.results[i])];
      results += (i > 0 ? ", " : "") + own.name;
      types += (i > 0 ? ", " : "") + type_of(own);
    }
    return "module @nax {\n  func.func public @main(" + arguments + ") -> (" + types + ") {\n" + text_ +
           "    return " + results + " : " + types + "\n  }\n}\n";
  }

 private:
  // ---- nodes

  // The nodes of a loop's body or condition, or those outside loops.
  void write_home(std::int64_t loop) {
    for (const int at : live_) {
      const Node& node = graph_[at];
      if (homes_[static_cast<std::size_t>(at)] != loop || node.kind == NodeKind::argument ||
          node.kind == NodeKind::parameter)
        continue;
      if (node.kind == NodeKind::loop)
        write_loop(at);
      else if (node.kind == NodeKind::branches)
        write_branches(at);
      else
        values_[static_cast<std::size_t>(at)] = write(node);
    }
  }
  static Dims rows(std::int64_t n, std::int64_t width) {
    Dims shape(1, n);
    shape.push_back(width);
    return shape;
  }
  Value scalar(std::int64_t x) { return constant(DType::int64, {}, &x); }
  // A while operation over the carries, arrays of rows that turns write, and the number of the turn. Its
  // regions read values from around it.
  void write_loop(int at) {
    const Node& own = graph_[at];
    const LoopNumbers by{own.numbers.data()};
    const std::size_t carries = by.carries(), next = carries + by.rows();
    const auto value = [&](std::size_t i) -> const Value& {
      return values_[static_cast<std::size_t>(own.inputs[i])];
    };
    std::vector<Value> first;
    for (std::size_t k = 0; k < carries; ++k) first.push_back(value(k));
    for (std::size_t k = 0; k < by.results(); ++k) {
      const Node& row = graph_[own.inputs[next + carries + k]];
      first.push_back(broadcast(first_of(NodeKind::sum, row.dtype), rows(by.turns(), row.shape[0])));
    }
    const Value zero = scalar(0), one = scalar(1);
    if (!by.asks()) first.push_back(zero);
    const auto listed = [](const std::vector<Value>& all, const auto& text) {
      std::string list;
      for (const Value& x : all) list += (list.empty() ? "" : ", ") + text(x);
      return list;
    };
    const auto names = [&](const std::vector<Value>& all) {
      return listed(all, [](const Value& x) { return x.name; });
    };
    const auto types = [&](const std::vector<Value>& all) {
      return listed(all, [](const Value& x) { return type_of(x); });
    };
    const auto write_region = [&](const auto& results) {
      const std::string outer = std::exchange(text_, {});
      std::vector<Value> in;
      for (const Value& x : first) in.push_back({'%' + std::to_string(count_++), x.dtype, x.shape});
      const std::vector<Value> out = results(in);
      const std::string heads = listed(in, [](const Value& x) { return x.name + ": " + type_of(x); });
      const std::string inner = std::exchange(text_, outer);
      return "{ ^bb0(" + heads + "):\n" + inner + "    \"stablehlo.return\"(" + names(out) + ") : (" +
             types(out) + ") -> () }";
    };
    const auto set_carries = [&](std::int64_t number, const std::vector<Value>& in) {
      for (const int x : live_)
        if (const Node& p = graph_[x]; p.kind == NodeKind::parameter && p.numbers[0] == number &&
                                       static_cast<std::size_t>(p.numbers[1]) < carries)
          values_[static_cast<std::size_t>(x)] = in[static_cast<std::size_t>(p.numbers[1])];
    };
    const std::string condition = write_region([&](const std::vector<Value>& in) -> std::vector<Value> {
      if (!by.asks())
        return {
            add("stablehlo.compare", {in.back(), scalar(by.turns())}, DType::boolean, {}, compared("LT"))};
      set_carries(by.condition(), in);
      write_home(by.condition());
      return {value(own.inputs.size() - 1)};
    });
    const std::string body = write_region([&](const std::vector<Value>& in) {
      set_carries(by.number(), in);
      const Value row = by.reversed()
                            ? add("stablehlo.subtract", {scalar(by.turns() - 1), in.back()}, DType::int64, {})
                            : in.back();
      for (const int x : live_) {
        const Node& p = graph_[x];
        if (p.kind != NodeKind::parameter || p.numbers[0] != by.number()) continue;
        for (std::size_t k = 0; k < by.rows(); ++k)
          if (by.row(k) == p.numbers[1])
            values_[static_cast<std::size_t>(x)] =
                reshape(add("stablehlo.dynamic_slice", {value(carries + k), row, zero}, p.dtype,
                            rows(1, p.shape[0]), array("slice_sizes", Integers{1, p.shape[0]})),
                        p.shape);
      }
      write_home(by.number());
      std::vector<Value> out;
      for (std::size_t k = 0; k < carries; ++k) out.push_back(value(next + k));
      for (std::size_t k = 0; k < by.results(); ++k) {
        const Value& all = in[carries + k];
        const Value made = reshape(value(next + carries + k), rows(1, all.shape[1]));
        out.push_back(add("stablehlo.dynamic_update_slice", {all, made, row, zero}, all.dtype, all.shape));
      }
      if (!by.asks()) out.push_back(add("stablehlo.add", {in.back(), one}, DType::int64, {}));
      return out;
    });
    const std::string made = '%' + std::to_string(count_++);
    text_ += "    " + made + ':' + std::to_string(first.size()) + " = \"stablehlo.while\"(" + names(first) +
             ") (" + condition + ", " + body + ") : (" + types(first) + ") -> (" + types(first) + ")\n";
    std::vector<Value>& results = loops_[at];
    for (std::size_t k = 0; k < carries + by.results(); ++k)
      results.push_back({made + '#' + std::to_string(k), first[k].dtype, first[k].shape});
  }
  // A case operation. Its regions read values from around it.
  void write_branches(int at) {
    const Node& own = graph_[at];
    const BranchNumbers by{own.numbers.data()};
    const auto value = [&](std::size_t i) -> Value& {
      return values_[static_cast<std::size_t>(own.inputs[i])];
    };
    const Value which = add("stablehlo.convert", {value(0)}, DType::int32, {});
    std::string regions, types;
    for (std::size_t b = 0; b < by.branches(); ++b) {
      const std::string outer = std::exchange(text_, {});
      for (const int x : live_)
        if (const Node& p = graph_[x]; p.kind == NodeKind::parameter && p.numbers[0] == by.number(b))
          values_[static_cast<std::size_t>(x)] = value(1 + static_cast<std::size_t>(p.numbers[1]));
      write_home(by.number(b));
      std::string names;
      types.clear();
      for (std::size_t k = 0; k < by.results(); ++k) {
        names += (k > 0 ? ", " : "") + value(by.result(b, k)).name;
        types += (k > 0 ? ", " : "") + type_of(value(by.result(b, k)));
      }
      const std::string inner = std::exchange(text_, outer);
      regions += (b > 0 ? ", {\n" : "{\n") + inner + "    \"stablehlo.return\"(" + names + ") : (" + types +
                 ") -> () }";
    }
    const std::string made = '%' + std::to_string(count_++);
    text_ += "    " + made + ':' + std::to_string(by.results()) + " = \"stablehlo.case\"(" + which.name +
             ") (" + regions + ") : (" + type_of(which) + ") -> (" + types + ")\n";
    for (std::size_t k = 0; k < by.results(); ++k) {
      const Node& result = graph_[own.inputs[by.result(0, k)]];
      loops_[at].push_back({made + '#' + std::to_string(k), result.dtype, result.shape});
    }
  }
  Value write(const Node& node) {
    if (node.kind == NodeKind::part)
      return loops_.at(node.inputs[0])[static_cast<std::size_t>(node.numbers[0])];
    std::vector<Value> x;
    for (const int input : node.inputs) x.push_back(values_[static_cast<std::size_t>(input)]);
    return is_elementwise(node.kind) ? elementwise(node, x) : made(node, x);
  }
  Value elementwise(const Node& node, std::vector<Value> x) {
    constexpr const char* operations[] = {
#define NAX_NODE(name, onnx, stablehlo) stablehlo,
        NAX_ELEMENTWISE_NODES(NAX_NODE)
#undef NAX_NODE
    };
    for (Value& one : x) one = broadcast(one, node.shape);
    const std::string attributes = node.kind == NodeKind::equal        ? compared("EQ")
                                   : node.kind == NodeKind::less       ? compared("LT")
                                   : node.kind == NodeKind::less_equal ? compared("LE")
                                                                       : std::string();
    const bool has_sign = dtype_name(node.dtype)[0] != 'u';
    return add(operations[static_cast<int>(node.kind)] + std::string(node.kind != NodeKind::shift_right ? ""
                                                                     : has_sign ? "_arithmetic"
                                                                                : "_logical"),
               x, node.dtype, node.shape, attributes);
  }
  Value made(const Node& node, const std::vector<Value>& x) {
    const Integers& numbers = node.numbers;
    const auto as = [&](const char* operation, const std::string& attributes = {},
                        const std::string& region = {}) {
      return add(operation, x, node.dtype, node.shape, attributes, region);
    };
    switch (node.kind) {
      case NodeKind::constant:
        return constant(node.dtype, node.shape, node.data);
      case NodeKind::cast:
        return as("stablehlo.convert");
      case NodeKind::reshape:
        return as("stablehlo.reshape");
      case NodeKind::transpose:
        return as("stablehlo.transpose", array("permutation", numbers));
      case NodeKind::slice: {
        Integers first, end, step;
        for (std::size_t i = 0; i < numbers.size(); i += 3)
          first.push_back(numbers[i]), end.push_back(numbers[i + 1]), step.push_back(numbers[i + 2]);
        return as("stablehlo.slice", array("start_indices", first) + ", " + array("limit_indices", end) +
                                         ", " + array("strides", step));
      }
      case NodeKind::reverse:
        return as("stablehlo.reverse", array("dimensions", numbers));
      case NodeKind::expand:
        return broadcast(x[0], node.shape);
      case NodeKind::concatenate:
        return as("stablehlo.concatenate", "dimension = " + std::to_string(numbers[0]) + " : i64");
      case NodeKind::matmul: {
        Integers batch;
        const std::int64_t k = static_cast<std::int64_t>(node.shape.size()) - 2;
        for (std::int64_t axis = 0; axis < k; ++axis) batch.push_back(axis);
        const std::string axes = '[' + joined(batch) + ']';
        return as("stablehlo.dot_general",
                  "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = " + axes +
                      ", rhs_batching_dimensions = " + axes + ", lhs_contracting_dimensions = [" +
                      std::to_string(k + 1) + "], rhs_contracting_dimensions = [" + std::to_string(k) + "]>");
      }
      case NodeKind::sum:
      case NodeKind::product:
      case NodeKind::max:
      case NodeKind::min:
        return reduce(node.kind, x[0], numbers);
      case NodeKind::cumsum: {
        const std::size_t axis = static_cast<std::size_t>(numbers[0]);
        Integers window(node.shape.size(), 1), pads(2 * node.shape.size(), 0);
        window[axis] = node.shape[axis];
        pads[2 * axis + (numbers[1] ? 1 : 0)] = node.shape[axis] - 1;
        return windows(NodeKind::sum, node, x[0], array("window_dimensions", window), pads);
      }
      case NodeKind::argmax: {
        const Value most = broadcast(reduce(NodeKind::max, x[0], numbers), x[0].shape);
        Value found = add("stablehlo.compare", {x[0], most}, DType::boolean, most.shape, compared("EQ"));
        if (dtype_kind(x[0].dtype) == Kind::floating) {
          const Value nan =
              add("stablehlo.compare", {x[0], x[0]}, DType::boolean, most.shape, compared("NE"));
          found = add("stablehlo.or", {found, nan}, DType::boolean, most.shape);
        }
        const Value numbered = numbers_along(most.shape, numbers[0], node.dtype);
        const Value none = broadcast(first_of(NodeKind::min, node.dtype), most.shape);
        const Value where = add("stablehlo.select", {found, numbered, none}, node.dtype, most.shape);
        return reshape(reduce(NodeKind::min, where, numbers), node.shape);
      }
      case NodeKind::take: {
        Integers offsets, sizes = {1};
        const std::size_t rank = x[1].shape.size();
        for (std::size_t i = 1; i < x[0].shape.size(); ++i) {
          offsets.push_back(static_cast<std::int64_t>(rank + i - 1));
          sizes.push_back(x[0].shape[i]);
        }
        return as("stablehlo.gather",
                  "dimension_numbers = #stablehlo.gather<offset_dims = [" + joined(offsets) +
                      "], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = " +
                      std::to_string(rank) + ">, indices_are_sorted = false, " + array("slice_sizes", sizes));
      }
      case NodeKind::scatter:
      case NodeKind::scatter_add:
        return as("stablehlo.scatter",
                  "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
                  "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, "
                  "unique_indices = false",
                  node.kind == NodeKind::scatter ? second(node.dtype)
                                                 : region("stablehlo.add", node.dtype, node.dtype));
      case NodeKind::top:
      case NodeKind::top_indices:
        return top(node, x[0]);
      case NodeKind::convolve:
        return convolve(node, x);
      case NodeKind::max_pool: {
        const ConvNumbers by{numbers.data()};
        const std::size_t rank = node.shape.size();
        Integers window(rank, 1), strides = window, dilations = window, pads(2 * rank, 0);
        for (std::size_t i = 0; i + 2 < rank; ++i) {
          window[i + 1] = numbers[numbers.size() - (rank - 2) + i];
          strides[i + 1] = by.stride(i), dilations[i + 1] = by.rhs(i);
          pads[2 * i + 2] = by.low(i), pads[2 * i + 3] = by.high(i);
        }
        return windows(NodeKind::max, node, x[0],
                       array("window_dimensions", window) + ", " + array("window_strides", strides) + ", " +
                           array("window_dilations", dilations),
                       pads);
      }
      case NodeKind::fft: {
        const bool inverse = numbers[1] != 0;
        const char* const type = numbers[0] == static_cast<std::int64_t>(loops::FftKind::to_complex) ? "RFFT"
                                 : numbers[0] == static_cast<std::int64_t>(loops::FftKind::to_real)  ? "IRFFT"
                                 : inverse                                                           ? "IFFT"
                                                                                                     : "FFT";
        return as("stablehlo.fft", std::string("fft_type = #stablehlo<fft_type ") + type + ">, " +
                                       array("fft_length", Integers{numbers[2]}));
      }
      case NodeKind::cholesky:
        return as("stablehlo.cholesky", "lower = true");
      case NodeKind::solve:
        return as("stablehlo.triangular_solve", std::string("left_side = true, lower = ") +
                                                    (numbers[0] ? "true" : "false") +
                                                    ", unit_diagonal = " + (numbers[1] ? "true" : "false") +
                                                    ", transpose_a = #stablehlo<transpose NO_TRANSPOSE>");
      case NodeKind::softmax:  // these are spelled
      case NodeKind::log_softmax:
      case NodeKind::layer_norm:
#define NAX_NODE(name, ...) case NodeKind::name:
        NAX_ELEMENTWISE_NODES(NAX_NODE)
#undef NAX_NODE
      case NodeKind::argument:
      case NodeKind::parameter:
      case NodeKind::loop:
      case NodeKind::branches:
      case NodeKind::part:
        break;
    }
    return {};
  }
  // A function that returns its second number.
  std::string second(DType dtype) {
    const std::string a = "%a" + std::to_string(count_), b = "%b" + std::to_string(count_++),
                      type = type_of(dtype, {});
    return " ({ ^bb0(" + a + ": " + type + ", " + b + ": " + type + "): \"stablehlo.return\"(" + b + ") : (" +
           type + ") -> () })";
  }
  static std::string padding(const Integers& pads) {
    std::string text;
    for (std::size_t i = 0; i < pads.size(); i += 2)
      text += (i > 0 ? ", [" : "[") + std::to_string(pads[i]) + ", " + std::to_string(pads[i + 1]) + ']';
    return "padding = dense<[" + text + "]> : tensor<" + std::to_string(pads.size() / 2) + "x2xi64>";
  }
  Value windows(NodeKind kind, const Node& node, const Value& x, const std::string& attributes,
                const Integers& pads) {
    const Value from = first_of(kind, x.dtype);
    return add("stablehlo.reduce_window", {x, from}, node.dtype, node.shape,
               attributes + ", " + padding(pads), region(combining(kind), x.dtype, x.dtype));
  }
  Value convolve(const Node& node, const std::vector<Value>& x) {
    const ConvNumbers by{node.numbers.data()};
    std::string axes;
    Integers strides, lhs, rhs, pads;
    for (std::size_t i = 0; i + 2 < node.shape.size(); ++i) {
      axes += std::to_string(i) + ", ";
      strides.push_back(by.stride(i)), lhs.push_back(by.lhs(i)), rhs.push_back(by.rhs(i));
      pads.push_back(by.low(i)), pads.push_back(by.high(i));
    }
    return add("stablehlo.convolution", x, node.dtype, node.shape,
               "batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, " + axes + "f]x[" +
                   axes + "i, o]->[b, " + axes + "f]>, feature_group_count = " + std::to_string(by.groups()) +
                   " : i64, " + array("window_strides", strides) + ", " + padding(pads) + ", " +
                   array("lhs_dilation", lhs) + ", " + array("rhs_dilation", rhs));
  }
  Value top(const Node& node, const Value& x) {
    const std::int64_t axis = node.numbers[0];
    const char* const direction = node.numbers[2] ? "GT" : "LT";
    const Value numbered = numbers_along(x.shape, axis, DType::int64);
    const std::string n = std::to_string(count_++), to = '%' + std::to_string(count_++);
    const std::string type = type_of(x.dtype, {}), truth = type_of(DType::boolean, {}),
                      index = type_of(DType::int64, {});
    std::string order;  // makes %c
    const auto line = [&](char made, const char* operation, char a, char b, const std::string& of,
                          const std::string& by = {}) {
      order += '%' + (made + n) + " = \"stablehlo." + operation + "\"(%" + a + n + ", %" + b + n + ')' + by +
               " : (" + of + ", " + of + ") -> " + truth + ' ';
    };
    const bool real = dtype_kind(x.dtype) == Kind::floating;
    line(real ? 'f' : 'c', "compare", 'a', 'b', type, " {" + compared(direction) + '}');
    if (real) {  // NaN is greater than any number
      const char more = node.numbers[2] ? 'a' : 'b', less = node.numbers[2] ? 'b' : 'a';
      line('g', "compare", more, more, type, " {" + compared("NE") + '}');
      line('h', "compare", less, less, type, " {" + compared("EQ") + '}');
      line('k', "and", 'g', 'h', truth), line('c', "or", 'f', 'k', truth);
    }
    text_ += "    " + to + ":2 = \"stablehlo.sort\"(" + x.name + ", " + numbered.name + ") ({ ^bb0(%a" + n +
             ": " + type + ", %b" + n + ": " + type + ", %d" + n + ": " + index + ", %e" + n + ": " + index +
             "): " + order + "\"stablehlo.return\"(%c" + n + ") : (" + truth +
             ") -> () }) {dimension = " + std::to_string(axis) + " : i64, is_stable = true} : (" +
             type_of(x) + ", " + type_of(numbered) + ") -> (" + type_of(x) + ", " + type_of(numbered) + ")\n";
    const bool values = node.kind == NodeKind::top;
    const Value all{to + (values ? "#0" : "#1"), values ? x.dtype : DType::int64, x.shape};
    Integers first(x.shape.size(), 0), step(x.shape.size(), 1);
    return add("stablehlo.slice", {all}, node.dtype, node.shape,
               array("start_indices", first) + ", " + array("limit_indices", node.shape) + ", " +
                   array("strides", step));
  }

  const Graph& graph_;
  std::vector<Value> values_;  // of the nodes
  std::vector<int> live_;
  std::vector<std::int64_t> homes_;          // by node: the loop, or -1
  std::map<int, std::vector<Value>> loops_;  // results
};

NAX_ENGINE std::string stablehlo_text(const Graph& graph) { return StablehloWriter(graph).module(); }

}  // namespace io::detail
NAX_END
