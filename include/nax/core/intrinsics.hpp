#pragma once

// x86's intrinsics, without GCC 12's warnings that its own AVX-512 headers read an undefined register,
// wherever they are inlined. The pragma holds for the place where the header is first included.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
