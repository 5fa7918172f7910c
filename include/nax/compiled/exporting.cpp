// The engine's part for the module exporting, the largest.
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
#include "nax/modules/exporting/engine.hpp"
