#pragma once

#include "nax/core/abi_name.hpp"
#include "nax/core/compiler.hpp"

// Decides what is compiled where. By default nax is headers, and each file compiles what it uses. With
// nax::nax (NAX_LINKED) the engine is a library of all that is no template and of the host's kernels, which a
// user's file calls; its expressions are formulas. NAX_LINKED_FOR_<instructions> says for which processor
// the engine was compiled: a file for another one, and a file of kernels for GPUs, is headers only.
// NAX_COMPILED is for files that call an engine of their own build, compiled by the same flags.
//   NAX_ENGINE         in place of inline: a function of more than a few lines that is no template. A header
//                      declares it; the body stands in x-inl.hpp beside x.hpp, which a user's file of
//                      compiled mode does not read.
//   NAX_ENGINE_HERE    the same where the body stays in its place, as those of members do. A user's file of
//                      compiled mode reads it, and neither inlines nor emits it.
//   NAX_COMPILED_ONCE  in place of NAX_ENGINE_HERE: and never inlined in the library or in header-only
//                      programs either.
//   NAX_ENGINE_VIRTUAL before the declaration of a virtual function whose body stands in x-inl.hpp. It
//                      says inline at once where there is no library: else compilers put the class's virtual
//                      table, and all that it reaches, into every file that reads the header.
//   NAX_ENGINE_KEY     in place of NAX_ENGINE before the body of the first such function of a class that the
//                      engine itself makes no object of: clang emits the table only beside a body that is
//                      not inline.
#define NAX_LINKED_FOR_(instructions) NAX_LINKED_FOR_##instructions
#define NAX_LINKED_FOR(instructions) NAX_LINKED_FOR_(instructions)
#if defined(NAX_COMPILED_LIBRARY) || defined(NAX_COMPILED_ENGINE)
#define NAX_IS_LIBRARY
#elif defined(NAX_COMPILED)
#define NAX_CALLS_LIBRARY  // a user's file
#elif defined(NAX_LINKED) && !defined(NAX_CUDA_EMULATED) && !defined(__CUDACC__) && !defined(_GLIBCXX_DEBUG)
#if NAX_LINKED_FOR(NAX_ABI)
#define NAX_CALLS_LIBRARY
#endif
#endif
#undef NAX_LINKED_FOR
#undef NAX_LINKED_FOR_
// NAX_CALLS_KERNELS: kernels that are found by dtype are compiled in other files, those of nax/compiled.
#if defined(NAX_CALLS_LIBRARY) || defined(NAX_COMPILED_ENGINE)
#define NAX_CALLS_KERNELS
#endif

#if defined(NAX_COMPILED_ENGINE)
#define NAX_ENGINE_KEY
#else
#define NAX_ENGINE_KEY inline
#endif
#if defined(NAX_CALLS_LIBRARY) || defined(NAX_IS_LIBRARY)
#define NAX_ENGINE_VIRTUAL
#else
#define NAX_ENGINE_VIRTUAL inline
#endif
// Expressions are handed over as formulas (nax/formula), too, which the library turns into machine code. What
// makes formulas takes seconds to compile; a program of headers alone may define this by itself.
#if (defined(NAX_CALLS_LIBRARY) || defined(NAX_IS_LIBRARY)) && !defined(NAX_USES_FORMULAS)
#define NAX_USES_FORMULAS
#endif
// NAX_RUNS_FORMULAS: they are computed so as well, and no kernels of expressions compiled: with a library,
// but for one that makes no machine code (NAX_COMPILES_KERNELS), where formulas would run block by block.
#if (defined(NAX_CALLS_LIBRARY) || defined(NAX_IS_LIBRARY)) && !defined(NAX_COMPILES_KERNELS)
#define NAX_RUNS_FORMULAS
#endif
#if defined(NAX_MSVC) && (defined(NAX_CALLS_LIBRARY) || defined(NAX_IS_LIBRARY))
#error "nax: MSVC compiles headers only: link nax::headers, which has no engine and no library."
#endif
#if defined(NAX_CALLS_LIBRARY)
#define NAX_ENGINE
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wgnu-inline-cpp-without-extern"
#pragma clang diagnostic ignored "-Wstatic-local-in-inline"  // there is one copy, in the library
#define NAX_ENGINE_HERE __attribute__((gnu_inline, noinline)) inline
#else
// GCC takes noinline for a contradiction; a function of another optimisation level is not inlined either.
#define NAX_ENGINE_HERE __attribute__((gnu_inline, optimize("O0"))) inline
#endif
#define NAX_COMPILED_ONCE NAX_ENGINE_HERE
#else
#if defined(NAX_COMPILED_ENGINE)
#define NAX_ENGINE __attribute__((used)) inline
#else
#define NAX_ENGINE inline
#endif
// No copies for callers whose arguments the compiler knows: programs would pay for them in compile time only.
#define NAX_COMPILED_ONCE NAX_NOINLINE NAX_ENGINE
#define NAX_ENGINE_HERE NAX_ENGINE
#endif
