#pragma once

// The core: arrays, NumPy's names, transforms, linalg, fft, special and random, which most files need alone.
// nax.hpp adds networks, optimisers, files and the modules.

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
#include "nax/fft.hpp"
#include "nax/linalg.hpp"
#include "nax/numpy.hpp"
#include "nax/random.hpp"
#include "nax/special.hpp"
#include "nax/transform.hpp"
#include "nax/tree.hpp"

#if defined(NAX_CALLS_LIBRARY) && !defined(NAX_EXTERN)
#define NAX_EXTERN extern
#define NAX_T float
#include "nax/compiled/fixed_functions.inc"
#undef NAX_T
#define NAX_T double
#include "nax/compiled/fixed_functions.inc"
#undef NAX_T
#undef NAX_EXTERN
#endif
