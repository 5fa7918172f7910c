#pragma once

// Decides what is compiled where. By default nax is headers, and each file compiles what it uses. With
// nax::compiled (NAX_COMPILED) the engine is a library: a user's file calls it, and compiles its own
// expressions only.
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
// Templates that many programs call at the same types are listed in nax/compiled/*.inc.
#if defined(NAX_COMPILED) || defined(NAX_COMPILED_LIBRARY) || defined(NAX_COMPILED_ENGINE)
#define NAX_ENGINE_VIRTUAL
#else
#define NAX_ENGINE_VIRTUAL inline
#endif
// Expressions are handed over as formulas (nax/formula), too, which the library turns into machine code. What
// makes formulas takes seconds to compile; a program of headers alone may define this by itself.
// NAX_RUNS_FORMULAS, of such a file's own: its expressions are computed so as well, and no kernels compiled.
#if (defined(NAX_COMPILED) || defined(NAX_COMPILED_LIBRARY) || defined(NAX_COMPILED_ENGINE)) && \
    !defined(NAX_USES_FORMULAS)
#define NAX_USES_FORMULAS
#endif
#if defined(NAX_COMPILED) && !defined(NAX_COMPILED_LIBRARY) && !defined(NAX_COMPILED_ENGINE)
#define NAX_CALLS_LIBRARY  // a user's file
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
#if defined(__clang__)
#define NAX_COMPILED_ONCE __attribute__((noinline)) NAX_ENGINE
#else
#define NAX_COMPILED_ONCE __attribute__((noinline, noclone)) NAX_ENGINE
#endif
#define NAX_ENGINE_HERE NAX_ENGINE
#endif
