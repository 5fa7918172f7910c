// The engine: every function that is no template, of the core and of the modules that cmake's NAX_MODULES
// names.
#define NAX_COMPILED_ENGINE
#include "nax/core.hpp"
#include "nax/devices/cuda/expressions/device_formulas.hpp"
#include "nax/distributed.hpp"
#include "nax/formula/gradient.hpp"
#include "nax/formula/kernel.hpp"
#include "nax/formula/symbol.hpp"
#include "nax/io.hpp"
#include "nax/lax.hpp"
#include "nax/nn.hpp"
#include "nax/optim.hpp"

#ifndef NAX_WITHOUT_ARROW
#include "nax/modules/arrow/engine.hpp"
#endif
#ifndef NAX_WITHOUT_DATA
#include "nax/modules/data/engine.hpp"
#endif
#ifndef NAX_WITHOUT_EXPORTING
#include "nax/modules/exporting/engine.hpp"
#endif
#ifndef NAX_WITHOUT_IMAGE
#include "nax/modules/image/engine.hpp"
#endif
#ifndef NAX_WITHOUT_INTEGRATE
#include "nax/modules/integrate/engine.hpp"
#endif
#ifndef NAX_WITHOUT_INTERPOLATE
#include "nax/modules/interpolate/engine.hpp"
#endif
#ifndef NAX_WITHOUT_MCMC
#include "nax/modules/mcmc/engine.hpp"
#endif
#ifndef NAX_WITHOUT_METRICS
#include "nax/modules/metrics/engine.hpp"
#endif
#ifndef NAX_WITHOUT_NEIGHBOURS
#include "nax/modules/neighbours/engine.hpp"
#endif
#ifndef NAX_WITHOUT_OPTIMIZE
#include "nax/modules/optimize/engine.hpp"
#endif
#ifndef NAX_WITHOUT_PROFILER
#include "nax/modules/profiler/engine.hpp"
#endif
#ifndef NAX_WITHOUT_SIGNAL
#include "nax/modules/signal/engine.hpp"
#endif
#ifndef NAX_WITHOUT_STATS
#include "nax/modules/stats/engine.hpp"
#endif
#ifndef NAX_WITHOUT_STORAGE
#include "nax/modules/storage/engine.hpp"
#endif
#ifndef NAX_WITHOUT_TRAINING
#include "nax/modules/training/engine.hpp"
#endif

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
