#pragma once

#include "nax/modules/exporting/exporter.hpp"

// Functions as text that XLA compiles, for the CPU, GPUs and TPUs.
NAX_BEGIN
namespace io {

namespace detail {
NAX_ENGINE std::string stablehlo_text(const Graph& graph);
}  // namespace detail

// Returns what f computes of arguments like these as a module of StableHLO, in MLIR's text: its function
// `main` takes the arrays of the arguments and returns those of the result. Arrays that f captured are
// constants in it. `arguments` is f's argument, or a tuple of them, as for save_onnx; their shapes are fixed.
// JAX compiles the text: jax's `client.compile`, or mlir.ir.Module.parse. (erf, lgamma, tan and inverse
// functions are of the dialect CHLO, which XLA brings along.) Long loops are while operations, others are
// written turn by turn.
//
// Throws ValueError that names a step which cannot be written (random draws, general systems and
// factorisations but Cholesky's, convolutions' derivatives, results without elements), and DeviceError where
// f cannot be recorded.
template <class F, class A>
std::string stablehlo(const F& f, const A& arguments) {
  return detail::stablehlo_text(detail::graph_of("stablehlo", detail::System::stablehlo, f, arguments));
}

}  // namespace io

template <class F, class Arguments>
auto ProgramOf<F, Arguments>::stablehlo() const {
  return io::stablehlo(function(), arguments());
}
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/exporting/stablehlo-inl.hpp"
#endif
