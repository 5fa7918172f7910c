#pragma once

// Between a source's headers of other parts of the engine, which it calls, and those of its own part, whose
// functions it holds (core/compiled_once.hpp).
#if !defined(NAX_COMPILED)
#error "nax: a part of the engine defines NAX_COMPILED, and reads the headers that it calls before this one"
#endif
#undef NAX_CALLS_LIBRARY
#undef NAX_ENGINE
#undef NAX_ENGINE_HERE
#undef NAX_ENGINE_KEY
#undef NAX_COMPILED_ONCE
#define NAX_COMPILED_ENGINE
#define NAX_IS_LIBRARY
#define NAX_ENGINE __attribute__((used)) inline
#define NAX_ENGINE_HERE NAX_ENGINE
#define NAX_ENGINE_KEY
#define NAX_COMPILED_ONCE NAX_NOINLINE NAX_ENGINE
