// The engine's part for linear algebra, transforms, draws, special functions, loops, layers, optimisers and
// files.
#define NAX_COMPILED
#include "nax/distributed.hpp"
#include "nax/formula/array_loop.hpp"
#include "nax/numpy.hpp"
#include "nax/numpy/products/contraction_plan.hpp"
#include "nax/program/passes/verify.hpp"
#include "nax/program/record/loop.hpp"
#include "nax/program/record/recording.hpp"
#include "nax/transform.hpp"
#include "nax/tree.hpp"
//
#include "nax/compiled/begin_part.hpp"
//
#include "nax/core.hpp"
#include "nax/io.hpp"
#include "nax/lax.hpp"
#include "nax/nn.hpp"
#include "nax/optim.hpp"
