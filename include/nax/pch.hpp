#pragma once

// nax.hpp for precompiling (CMake's nax::pch): files that call the engine take common operations of float and
// double from a library beside it (compiled/operations), in place of compiling each their own.
#include "nax/nax.hpp"

// NAX_LISTED_FOR_<instructions>: the library is compiled for these; NAX_LISTED: for this file's.
#define NAX_LISTED_FOR_(instructions) NAX_LISTED_FOR_##instructions
#define NAX_LISTED_FOR(instructions) NAX_LISTED_FOR_(instructions)
#if defined(NAX_CALLS_LIBRARY) && !defined(NAX_CUDA_FORMULAS) && \
    (defined(NAX_LISTED) || NAX_LISTED_FOR(NAX_ABI))
#define NAX_EXTERN extern
#define NAX_T float
#include "nax/compiled/operations/list.inc"
#undef NAX_T
#define NAX_T double
#include "nax/compiled/operations/list.inc"
#undef NAX_T
#undef NAX_EXTERN
#endif
#undef NAX_LISTED_FOR
#undef NAX_LISTED_FOR_
