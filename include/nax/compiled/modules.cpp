// The engine's part for the modules that cmake's NAX_MODULES names.
#define NAX_COMPILED
#include "nax/core.hpp"
#include "nax/distributed.hpp"
#include "nax/formula/array_loop.hpp"
#include "nax/io.hpp"
#include "nax/lax.hpp"
#include "nax/nn.hpp"
#include "nax/optim.hpp"
#include "nax/program/passes/verify.hpp"
#include "nax/program/record/loop.hpp"
#include "nax/program/record/recording.hpp"
//
#include "nax/compiled/begin_part.hpp"
//
#ifndef NAX_WITHOUT_ARROW
#include "nax/modules/arrow/engine.hpp"
#endif
#ifndef NAX_WITHOUT_DATA
#include "nax/modules/data/engine.hpp"
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
