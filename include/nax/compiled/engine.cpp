// The engine's core: every function of it that is no template. Other parts are functions.cpp, modules.cpp
// and exporting.cpp.
#define NAX_COMPILED_ENGINE
#include "nax/devices/cuda/expressions/device_formulas.hpp"
#include "nax/distributed.hpp"
#include "nax/formula/array_loop.hpp"
#include "nax/formula/gradient.hpp"
#include "nax/formula/kernel.hpp"
#include "nax/formula/symbol.hpp"
#include "nax/numpy.hpp"
#include "nax/program/passes/verify.hpp"
#include "nax/program/record/loop.hpp"
#include "nax/program/record/recording.hpp"
#include "nax/transform.hpp"
#include "nax/tree.hpp"

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
