#pragma once

// Macros for what compilers spell in their own ways. GCC and clang share extensions, clang-cl too.
// Microsoft's compiler has others (NAX_MSVC), written here after its documents: it is not tried, but for
// stand-ins of its intrinsics that tests bring (tests/platforms/msvc).
#if defined(_MSC_VER) && !defined(__clang__)
#define NAX_MSVC
#define NAX_FUNCTION_SIGNATURE __FUNCSIG__
#define NAX_FUNCTION_SIGNATURE_OF_MSVC
#else
#define NAX_FUNCTION_SIGNATURE __PRETTY_FUNCTION__
#endif

#if defined(NAX_MSVC)
#if defined(_MSVC_TRADITIONAL) && _MSVC_TRADITIONAL
#error "nax: the traditional preprocessor of MSVC cannot read nax: compile with /Zc:preprocessor."
#endif
#include <intrin.h>
#define NAX_NOINLINE __declspec(noinline)
#define NAX_INLINE_LAMBDA  // behind a lambda's parameters: always inlined
#if defined(_M_ARM64)
#define NAX_PREFETCH(address, ...) __prefetch(address)
#else
#define NAX_PREFETCH(address, ...) _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0)
#endif
#else
#if defined(__clang__)
#define NAX_NOINLINE __attribute__((noinline))
#else
#define NAX_NOINLINE __attribute__((noinline, noclone))
#endif
#define NAX_INLINE_LAMBDA __attribute__((always_inline))
#define NAX_PREFETCH(...) __builtin_prefetch(__VA_ARGS__)
#endif

// On a member function: its result points into the object, which must live on. Warns where it does not.
#if defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::lifetimebound)
#define NAX_LIFETIMEBOUND [[clang::lifetimebound]]
#endif
#endif
#if !defined(NAX_LIFETIMEBOUND)
#define NAX_LIFETIMEBOUND
#endif

// On a class whose objects are results of pure functions: a statement that drops one does nothing, and warns.
#if defined(__CUDACC__)
#define NAX_RESULT(advice)
#else
#define NAX_RESULT(advice) [[nodiscard(advice)]]
#endif
