// The engine of nax::compiled: every function that is no template.
#define NAX_COMPILED_ENGINE
#include "nax/devices/cuda/expressions/device_formulas.hpp"
#include "nax/formula/gradient.hpp"
#include "nax/formula/kernel.hpp"
#include "nax/formula/symbol.hpp"
#include "nax/interpolate.hpp"
#include "nax/mcmc.hpp"
#include "nax/modules/data/tokenizer.hpp"
#include "nax/modules/exporting/onnx.hpp"
#include "nax/modules/exporting/save_c.hpp"
#include "nax/modules/exporting/stablehlo.hpp"
#include "nax/nax.hpp"

#ifdef NAX_HAVE_MACHINE_CODE
NAX_BEGIN
namespace formula::jit {
extern const CodeMaker maker;  // in formula/machine/nax_jit.cpp
[[maybe_unused]] const bool linked = (code_maker = &maker, true);
}  // namespace formula::jit
NAX_END
#endif

#if defined(NAX_HAVE_KERNELS_V3) || defined(NAX_HAVE_KERNELS_V4)
NAX_BEGIN
namespace cpu {
bool take_further_kernels();  // in take_kernels.cpp
[[maybe_unused]] const bool taken = take_further_kernels();
}  // namespace cpu
NAX_END
#endif

NAX_BEGIN
namespace profiler::detail {
[[maybe_unused]] const bool traces_from_start = trace_from_environment();
}  // namespace profiler::detail
NAX_END
