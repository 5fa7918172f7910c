#pragma once

#include "nax/io/safetensors.hpp"
#include "nax/modules/exporting/exporter.hpp"

// Functions as files that ONNX Runtime and others run.
NAX_BEGIN
namespace io {

struct SaveOnnxOptions {
  std::vector<std::string> inputs = {};   // names of the arrays that f is called with; x0, x1, ... without
  std::vector<std::string> outputs = {};  // of the arrays that it returns; y0, y1, ...
  std::string name = "nax";               // of the graph
  std::size_t inside_bytes = 1 << 30;     // more bytes of weights than these go to a file beside the model
};

namespace detail {
NAX_ENGINE void write_onnx(const std::string& path, const Graph& graph, const SaveOnnxOptions& options);
}  // namespace detail

// Writes what f computes of arguments like these as an ONNX model (opset 17): one file or, with more weights
// than `inside_bytes`, two, of which the second has ".data" behind the path and holds them. f is what jit
// takes: it computes with arrays and reads no element. `arguments` is its argument, or a tuple of them; their
// arrays become inputs with the shapes that they have, the batch included. Arrays that f captured, as a
// module's parameters, become initializers; those of a module that is f itself have their paths as names,
// `fc.w`. Long loops are nodes, others are written turn by turn. Half precision is computed in float. Arrays
// of other memory orders and slices cost nodes that move elements, which runtimes fold where weights are
// concerned.
//
// Throws ValueError that names a step which ONNX has no node for (random draws, linear algebra, derivatives,
// FFTs, complex numbers, results without elements), or where names do not fit; DeviceError where f cannot be
// recorded; IoError where a file cannot be written or the model without outside weights is larger than 2 GiB,
// which the format does not allow.
template <class F, class A>
void save_onnx(const std::string& path, const F& f, const A& arguments, const SaveOnnxOptions& options = {}) {
  detail::Graph graph = detail::graph_of("save_onnx", detail::System::onnx, f, arguments);
  if constexpr (nax::detail::is_tree_v<F>) {
    nax::tree::for_each_with_path(
        [&](const std::string& at, const auto& leaf) {
          if constexpr (is_array_v<decltype(leaf)>)
            if (nax::detail::ArrayAccess::buffer(leaf))
              graph.names.emplace(nax::detail::raw_data(leaf), detail::dotted_name(detail::name_of(at)));
        },
        f);
  }
  detail::write_onnx(path, graph, options);
}

// Writes a program: save_onnx("model.onnx", make_program(f)(x)).
template <class F, class A>
void save_onnx(const std::string& path, const ProgramOf<F, A>& program, const SaveOnnxOptions& options = {}) {
  save_onnx(path, program.function(), program.arguments(), options);
}

}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/exporting/onnx-inl.hpp"
#endif
