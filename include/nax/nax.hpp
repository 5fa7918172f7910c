#pragma once

// Everything that a program of nax needs. (io/gzip.hpp and what reads gzip files are apart: they need zlib;
// signal.hpp is, since `signal` is a function of C's.)

// clang-format off
// Before the standard library's headers, which a system may lack for a target that nax refuses.
#include "nax/core/abi.hpp"
// Then what speaks of mistakes at compile time: compilers say how they came to a header, line by line.
#include "nax/core/array.hpp"
#include "nax/expr/expressions/expr.hpp"
#include "nax/expr/expressions/operators.hpp"
#include "nax/tree/traits.hpp"
#include "nax/numpy/mistakes.hpp"
#include "nax/transform/axes.hpp"
#include "nax/transform/callee.hpp"
#include "nax/transform/mistakes.hpp"
#include "nax/transform/jvp.hpp"
// clang-format on

#include "nax/core/allocator.hpp"
#include "nax/core/array_base.hpp"
#include "nax/core/at_fork.hpp"
#include "nax/core/axis.hpp"
#include "nax/core/bools.hpp"
#include "nax/core/buffer.hpp"
#include "nax/core/device.hpp"
#include "nax/core/device_memory.hpp"
#include "nax/core/devices.hpp"
#include "nax/core/digits.hpp"
#include "nax/core/dtype.hpp"
#include "nax/core/error.hpp"
#include "nax/core/format.hpp"
#include "nax/core/format_float.hpp"
#include "nax/core/fwd.hpp"
#include "nax/core/half.hpp"
#include "nax/core/json_text.hpp"
#include "nax/core/layout.hpp"
#include "nax/core/matmul_precision.hpp"
#include "nax/core/none.hpp"
#include "nax/core/per_thread.hpp"
#include "nax/core/print_options.hpp"
#include "nax/core/profile.hpp"
#include "nax/core/shape.hpp"
#include "nax/core/shape_text.hpp"
#include "nax/core/small_vector.hpp"
#include "nax/core/text_number.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/core/version.hpp"
#include "nax/data.hpp"
#include "nax/distributed.hpp"
#include "nax/fft.hpp"
#include "nax/image.hpp"
#include "nax/integrate.hpp"
#include "nax/io.hpp"
#include "nax/lax.hpp"
#include "nax/linalg.hpp"
#include "nax/metrics.hpp"
#include "nax/nn.hpp"
#include "nax/numpy.hpp"
#include "nax/optim.hpp"
#include "nax/optimize.hpp"
#include "nax/profiler.hpp"
#include "nax/random.hpp"
#include "nax/special.hpp"
#include "nax/stats.hpp"
#include "nax/storage.hpp"
#include "nax/training.hpp"
#include "nax/transform.hpp"
#include "nax/tree.hpp"

// Where an engine has their bodies these cost nothing; programs of headers alone, which would compile them,
// name them.
#if defined(NAX_CALLS_LIBRARY)
#include "nax/interpolate.hpp"
#include "nax/mcmc.hpp"
#include "nax/modules/data/tokenizer.hpp"
#include "nax/modules/exporting/onnx.hpp"
#include "nax/modules/exporting/save_c.hpp"
#include "nax/modules/exporting/stablehlo.hpp"
#include "nax/neighbours.hpp"
#endif

// (The library's expressions have no kernels for GPUs.)
#if defined(NAX_CALLS_KERNELS) && !defined(NAX_CUDA_FORMULAS)
#include "nax/compiled/templates.hpp"
#endif
