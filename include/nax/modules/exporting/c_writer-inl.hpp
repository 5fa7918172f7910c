#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>

#include "nax/modules/exporting/c_elements-inl.hpp"
#include "nax/modules/exporting/c_loops-inl.hpp"
#include "nax/modules/exporting/c_operations-inl.hpp"

NAX_BEGIN
namespace io::detail {

inline CWriter::CWriter(const Graph& graph, const CNames& names)
    : graph_(graph),
      names_(names),
      elements_(graph.nodes.size()),
      uses_(graph.nodes.size()),
      reader_(graph.nodes.size(), -1) {}

inline void CWriter::write() {
  const std::vector<int> live = graph_.live();
  std::size_t bytes = 0;
  for (const int at : live) {
    for (const int x : node(at).inputs)
      ++uses_[static_cast<std::size_t>(x)], reader_[static_cast<std::size_t>(x)] = at;
    if (node(at).kind == NodeKind::constant)
      bytes += static_cast<std::size_t>(count(node(at).shape)) * dtype_size(node(at).dtype);
  }
  as_text_ = bytes <= names_.text_bytes;
  live_ = live, homes_ = graph_.homes();
  for (const int x : graph_.results)
    ++uses_[static_cast<std::size_t>(x)], reader_[static_cast<std::size_t>(x)] = -1;
  for (std::size_t i = 0; i < graph_.arguments.size(); ++i) {
    const Node& own = node(graph_.arguments[i]);
    elements(graph_.arguments[i]) = row_by_row(names_.inputs[i], own.dtype, own.shape);
  }
  write_home(-1);
  ++now_;
  for (std::size_t i = 0; i < graph_.results.size(); ++i) put_result(i);
  place_buffers();
}

// Writes the nodes of a loop's body, or those outside loops.
inline void CWriter::write_home(std::int64_t loop) {
  for (const int at : live_)
    if (homes_[static_cast<std::size_t>(at)] == loop) ++now_, write(at);
}

inline void CWriter::write(int at) {
  const Node& own = node(at);
  const auto is_one = [&] { return is_elementwise(own.kind) || own.kind == NodeKind::cast; };
  if (is_one()) {
    if (!is_lazy(at)) map(at);
    return;
  }
  switch (own.kind) {
    case NodeKind::argument:
    case NodeKind::parameter:
      return;
    case NodeKind::loop:
      return loop(at);
    case NodeKind::branches:
      return branches(at);
    case NodeKind::part:
      elements(at) = loops_.at(own.inputs[0])[static_cast<std::size_t>(own.numbers[0])];
      return;
    case NodeKind::constant: {
      Elements& made = elements(at) = row_by_row({}, own.dtype, own.shape);
      made.data = static_cast<const char*>(own.data), made.count = count(own.shape);
      return;
    }
    case NodeKind::reshape:
      return reshape(at);
    case NodeKind::transpose:
    case NodeKind::slice:
    case NodeKind::reverse:
    case NodeKind::expand:
      return view(at);
    case NodeKind::concatenate:
      return concatenate(at);
    case NodeKind::matmul:
      return matmul(at);
    case NodeKind::sum:
    case NodeKind::product:
    case NodeKind::max:
    case NodeKind::min:
      return reduce(at);
    case NodeKind::cumsum:
      return cumsum(at);
    case NodeKind::argmax:
      return argmax(at);
    case NodeKind::take:
      return take(at);
    case NodeKind::scatter:
    case NodeKind::scatter_add:
      return scatter(at);
    case NodeKind::top:
    case NodeKind::top_indices:
      return top(at);
    case NodeKind::convolve:
      return convolve(at);
    case NodeKind::max_pool:
      return max_pool(at);
    case NodeKind::softmax:
    case NodeKind::log_softmax:
    case NodeKind::layer_norm:
      return rows(at);
    case NodeKind::fft:  // refused before
    case NodeKind::cholesky:
    case NodeKind::solve:
    case NodeKind::cast:
#define NAX_NODE(name, ...) case NodeKind::name:
      NAX_ELEMENTWISE_NODES(NAX_NODE)
#undef NAX_NODE
      return;
  }
}

// ---- memory

inline CWriter::Elements CWriter::row_by_row(std::string name, DType dtype, const Dims& shape) {
  Elements made;
  made.name = std::move(name), made.dtype = dtype, made.shape = shape,
  made.strides = Layout::row_major(shape);
  return made;
}

inline CWriter::Elements CWriter::scratch(DType dtype, const Dims& shape) {
  type(dtype);
  Elements made = row_by_row("b_" + std::to_string(buffers_.size()), dtype, shape);
  made.buffer = static_cast<int>(buffers_.size());
  buffers_.push_back({dtype, count(shape) * static_cast<std::int64_t>(dtype_size(dtype)), now_, now_});
  return made;
}

// Results lie where they are returned.
inline CWriter::Elements& CWriter::allocate(int at) {
  const Node& own = node(at);
  const auto result = std::find(graph_.results.begin(), graph_.results.end(), at);
  type(own.dtype);
  return elements(at) =
             result == graph_.results.end()
                 ? scratch(own.dtype, own.shape)
                 : row_by_row(names_.outputs[static_cast<std::size_t>(result - graph_.results.begin())],
                              own.dtype, own.shape);
}

inline void CWriter::put_result(std::size_t result) {
  const int at = graph_.results[result];
  Elements &from = elements(at), to = row_by_row(names_.outputs[result], node(at).dtype, node(at).shape);
  type(to.dtype);
  if (from.name != to.name) copy(from, to);
}

// Places buffers in scratch memory, the largest first, each where none lies that is needed when it is.
inline void CWriter::place_buffers() {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < buffers_.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(buffers_[a].dtype, -buffers_[a].bytes) <
           std::pair(buffers_[b].dtype, -buffers_[b].bytes);
  });
  std::vector<const Buffer*> placed;  // of one dtype, by place
  std::int64_t begin = 0;
  for (const std::size_t i : order) {
    Buffer& own = buffers_[i];
    if (!placed.empty() && placed[0]->dtype != own.dtype) placed.clear(), begin = scratch_bytes_;
    own.bytes = (own.bytes + 63) / 64 * 64;
    own.place = begin;
    for (const Buffer* const other : placed)
      if (other->first <= own.last && own.first <= other->last && other->place < own.place + own.bytes)
        own.place = std::max(own.place, other->place + other->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &own,
                                   [](const Buffer* a, const Buffer* b) { return a->place < b->place; }),
                  &own);
    scratch_bytes_ = std::max(scratch_bytes_, own.place + own.bytes);
  }
}

// ---- text

[[noreturn, gnu::cold]] inline void CWriter::refuse(const std::string& what) {
  raise<ValueError>({"save_c: cannot be written: ", what});
}

inline const char* CWriter::type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "bool";
    case DType::int8:
      return "int8_t";
    case DType::int16:
      return "int16_t";
    case DType::int32:
      return "int32_t";
    case DType::int64:
      return "int64_t";
    case DType::uint8:
      return "uint8_t";
    case DType::uint16:
      return "uint16_t";
    case DType::uint32:
      return "uint32_t";
    case DType::uint64:
      return "uint64_t";
    case DType::float32:
      return "float";
    case DType::float64:
      return "double";
    case DType::float16:
    case DType::bfloat16:
    case DType::complex64:
    case DType::complex128:
      break;
  }
  refuse("arrays of " + std::string(dtype_name(dtype)));
}

inline std::string CWriter::literal(const void* data, DType dtype) {
  const auto real = [](auto x, const char* ending) -> std::string {
    if (std::isnan(x)) return "NAN";
    if (std::isinf(x)) return x > 0 ? "INFINITY" : "-INFINITY";
    char text[40];
    std::string made(text, std::to_chars(text, text + sizeof text, x).ptr);
    if (made.find_first_of(".e") == std::string::npos) made += ".0";
    return made + ending;
  };
  const auto read = [&]<class T>(T x) {
    std::memcpy(&x, data, sizeof x);
    return x;
  };
  switch (dtype) {
    case DType::boolean:
      return read(bool()) ? "1" : "0";
    case DType::int8:
      return std::to_string(read(std::int8_t()));
    case DType::int16:
      return std::to_string(read(std::int16_t()));
    case DType::int32:
    case DType::int64: {
      const std::int64_t x = dtype == DType::int64 ? read(std::int64_t()) : read(std::int32_t());
      if (x == INT64_MIN) return "INT64_MIN";
      if (x == INT32_MIN) return "INT32_MIN";
      return x > INT32_MIN && x <= INT32_MAX ? std::to_string(x) : "INT64_C(" + std::to_string(x) + ')';
    }
    case DType::uint8:
      return std::to_string(read(std::uint8_t()));
    case DType::uint16:
      return std::to_string(read(std::uint16_t()));
    case DType::uint32:
      return std::to_string(read(std::uint32_t())) + 'u';
    case DType::uint64:
      return "UINT64_C(" + std::to_string(read(std::uint64_t())) + ')';
    case DType::float32:
      return real(read(float()), "f");
    case DType::float64:
      return real(read(double()), "");
    case DType::float16:
    case DType::bfloat16:
    case DType::complex64:
    case DType::complex128:
      break;
  }
  return type(dtype);
}

// The name of a constant, which is defined where it is new.
inline std::string CWriter::define(const void* data, DType dtype, std::int64_t n) {
  std::string& name = constants_[{data, dtype, n}];
  if (!name.empty()) return name;
  name = "w_" + std::to_string(constants_.size());
  const char* const own = static_cast<const char*>(data);
  const std::size_t size = dtype_size(dtype), bytes = static_cast<std::size_t>(n) * size;
  if (!as_text_ && bytes > 64) {
    data_.resize((data_.size() + 63) / 64 * 64);
    definitions_ += std::string("#define ") + name + " ((const " + type(dtype) + "*)(" + names_.function +
                    "_data + " + std::to_string(data_.size()) + "))\n";
    data_.append(own, bytes);
    return name;
  }
  definitions_ +=
      std::string("ALIGNED static const ") + type(dtype) + ' ' + name + '[' + std::to_string(n) + "] = {";
  for (std::int64_t i = 0; i < n; ++i)
    definitions_ +=
        (i % 8 == 0 ? "\n  " : " ") + literal(own + static_cast<std::size_t>(i) * size, dtype) + ',';
  definitions_ += "\n};\n";
  return name;
}

inline std::string CWriter::helper(const char* name, DType dtype) {
  const std::string_view own = name;
  if (own == "convolve") helper("gemm", dtype);
  if (own.starts_with("convolve") || own == "max_pool") helper("windows", dtype);
  helpers_.insert(own == "windows" ? std::string(name) : std::string(name) + ' ' + type(dtype));
  return std::string(name) + '_' + type(dtype);
}

inline std::string CWriter::parameters() const {
  std::string text;
  for (std::size_t i = 0; i < graph_.arguments.size(); ++i)
    text += std::string("const ") + type(node(graph_.arguments[i]).dtype) + "* " + names_.inputs[i] + ", ";
  for (std::size_t i = 0; i < graph_.results.size(); ++i)
    text += (i > 0 ? ", " : "") + std::string(type(node(graph_.results[i]).dtype)) + "* " + names_.outputs[i];
  return text;
}

inline std::string CWriter::header() const {
  const std::string& f = names_.function;
  const std::string guard = names_.guard();
  std::string text;
  const auto list = [&](const std::vector<int>& nodes, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      text += " *   " + names[i] + ": " + type(node(nodes[i]).dtype) + " (";
      const Dims& shape = node(nodes[i]).shape;
      for (std::size_t k = 0; k < shape.size(); ++k) text += (k > 0 ? ", " : "") + std::to_string(shape[k]);
      text += ")\n";
    }
  };
  text =
      "/* Written by nax. Arrays are row-major; results must not lie over "
      "arguments.\n";
  list(graph_.arguments, names_.inputs);
  text += " * to\n";
  list(graph_.results, names_.outputs);
  text += " */\n#ifndef " + guard + "_H\n#define " + guard +
          "_H\n\n#include <stdbool.h>\n#include <stdint.h>\n\n";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n#define " + guard + "_SCRATCH_BYTES " +
          std::to_string(std::max<std::int64_t>(scratch_bytes_, 64)) + "\n\n";
  text += "/* Uses static memory: one thread may call it at a time. */\nvoid " + f + '(' + parameters() +
          ");\n\n";
  text += "/* Uses the memory given, " + guard + "_SCRATCH_BYTES at a multiple of 64. */\nvoid " + f +
          "_with(" + parameters() + ", void* scratch);\n\n";
  return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

// A template of a helper with its types.
inline std::string with_types(std::string_view text, const char* type, const std::string& least) {
  const bool single = std::string_view(type) == "float";
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '@' ? text[++i] : 0;
    if (next == 'T' || next == 'S')
      made += type;
    else if (next == 'M')
      made += single ? "f" : "";
    else if (next == 'L')
      made += least;
    else
      made += text[i];
  }
  return made;
}

inline std::string with_name(std::string_view text, const std::string& name) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '@')
      made += name, ++i;
    else
      made += text[i];
  return made;
}

inline std::string CWriter::source() const {
  const std::string& f = names_.function;
  std::string text =
      "/* Written by nax; C11 or C++11. Fast with -O3 "
      "-march=native. */\n#include \"" +
      f + ".h\"\n";
  text += c_prologue;
  text += "\nALIGNED static unsigned char memory[" +
          std::to_string(std::max<std::int64_t>(scratch_bytes_, 64)) + "];\n";
  for (const CHelper& one : c_helpers) {
    if (helpers_.count(std::string(one.name))) text += one.text;
    for (const DType dtype :
         {DType::boolean, DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16,
          DType::uint32, DType::uint64, DType::float32, DType::float64})
      if (helpers_.count(std::string(one.name) + ' ' + type(dtype)))
        text += with_types(one.text, type(dtype), first_of(NodeKind::max, dtype));
  }
  if (!data_.empty()) text += with_name(c_data, f);
  text += '\n' + definitions_ + "\nvoid " + f + "_with(" + parameters() +
          ", void* scratch) {\n  (void)scratch;\n";
  for (const std::string& one : names_.inputs) text += "  (void)" + one + ";\n";
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const std::string own = type(buffers_[i].dtype);
    text += "  " + own + "* const b_" + std::to_string(i) + " = (" + own + "*)((unsigned char*)scratch + " +
            std::to_string(buffers_[i].place) + ");\n";
  }
  text += code_ + "}\n\nvoid " + f + '(' + parameters() + ") {\n  " + f + "_with(";
  for (const std::string& one : names_.inputs) text += one + ", ";
  for (const std::string& one : names_.outputs) text += one + ", ";
  return text + "memory);\n}\n";
}

}  // namespace io::detail
NAX_END
