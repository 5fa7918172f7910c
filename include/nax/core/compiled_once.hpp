#pragma once

// For functions of the engine that many places call: not inlined, and no copy for callers whose arguments the
// compiler knows. That is what programs would pay for in compile time, and get nothing.
#if defined(__GNUC__) && !defined(__clang__)
#define NAX_COMPILED_ONCE __attribute__((noinline, noclone))
#else
#define NAX_COMPILED_ONCE [[gnu::noinline]]
#endif
