#pragma once

#include "nax/core/abi_name.hpp"
#include "nax/core/compiled_once.hpp"

// The namespace that all of nax lies in: inline, and named after the instructions that this file may be
// compiled to.
//
// A template that two files of a program instantiate is one function to the linker, which keeps either. Were
// one of the files compiled with -march=native, a machine without those instructions would die in the other's
// calls. So the names differ: each file calls what was compiled as it was, and where files hand arrays to
// each other the linker refuses, by a name that says which file was compiled how:
// f(nax::x86_v3::Array<float>).
//
// abi_name.hpp has the names. Each of these namespaces has devices, kept memory and a limit of its own; the
// threads are shared (shared_threads.hpp).
//
// Every header opens it by NAX_BEGIN and closes it by NAX_END.

#if defined(_WIN32) && (defined(min) || defined(max))
#error "nax: windows.h has made min and max macros: define NOMINMAX before it is included"
#endif

// Targets and flags that nax cannot work with.
#if (defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ != 8) || (defined(_WIN32) && !defined(_WIN64))
#error \
    "nax: this is a 32-bit target (-m32, say), and nax counts memory with 64 bits: compile for a 64-bit one."
#endif
#if !defined(__CUDA_ARCH__) && !defined(__cpp_rtti) && !defined(__GXX_RTTI) && !defined(_CPPRTTI)
#error \
    "nax: -fno-rtti leaves out typeid and dynamic_cast, by which jit knows its arguments: compile with -frtti."
#endif
#if !defined(__CUDA_ARCH__) && !defined(__cpp_exceptions) && !defined(__EXCEPTIONS) && !defined(_CPPUNWIND)
#error "nax: -fno-exceptions leaves out throw, by which nax reports errors: compile with -fexceptions."
#endif

// The floating-point flags that nax cannot live with. They hold for all that is inlined into a user's
// function, which is most of nax, so no part of it could be kept from them.
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error \
    "nax: -ffinite-math-only (of -ffast-math, -Ofast) promises the compiler that NaN and infinity never come up: \
isnan, max, sort, log(0) and printing would be wrong. Say -O3, or add -fno-fast-math."
#elif defined(__ASSOCIATIVE_MATH__)
#error \
    "nax: -fassociative-math (of -ffast-math, -Ofast) cancels the terms that keep the digits of exp and sin. \
Say -O3, or add -fno-fast-math."
#endif

#define NAX_BEGIN namespace nax::inline NAX_ABI {
#define NAX_END }

#if defined(__clang__)
// clang has no macro for -fassociative-math. Where that, -freciprocal-math or -fno-signed-zeros holds, it
// refuses this pragma, and quotes the line.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wignored-pragmas"  // of targets that know no FENV_ACCESS
NAX_BEGIN
namespace detail {
inline void refuse_associative_math() {
// clang-format off
#pragma STDC FENV_ACCESS ON  // nax: -fassociative-math (of -funsafe-math-optimizations, -ffast-math, -Ofast) cancels the terms that keep the digits of exp and sin. Say -O3, or add -fno-fast-math.
  // clang-format on
}
}  // namespace detail
NAX_END
#pragma clang diagnostic pop
#endif
