#pragma once

#include "nax/core/abi.hpp"

// Functions that the texts of kernels call: for NVRTC, which reads no headers, and for a host's compiler.
NAX_BEGIN
namespace formula::detail {

inline constexpr const char* text_prologue = R"text(
#if defined(__CUDACC__)
#define NAX_DEVICE static __device__ __forceinline__
#define NAX_FIRST (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x)
#define NAX_STEP (static_cast<long long>(gridDim.x) * blockDim.x)
NAX_DEVICE unsigned nax_bits(float x) { return __float_as_uint(x); }
NAX_DEVICE unsigned long long nax_bits(double x) { return __double_as_longlong(x); }
NAX_DEVICE float nax_of_bits(unsigned x) { return __uint_as_float(x); }
NAX_DEVICE double nax_of_bits(unsigned long long x) { return __longlong_as_double(x); }
#else
#include <math.h>
#define NAX_DEVICE static inline
#define NAX_FIRST 0
#define NAX_STEP 1
#define __global__
#define __launch_bounds__(threads)
template <class To, class From>
To nax_cast(From x) {
  static_assert(sizeof(To) == sizeof(From), "");
  To y;
  __builtin_memcpy(&y, &x, sizeof y);
  return y;
}
NAX_DEVICE unsigned nax_bits(float x) { return nax_cast<unsigned>(x); }
NAX_DEVICE unsigned long long nax_bits(double x) { return nax_cast<unsigned long long>(x); }
NAX_DEVICE float nax_of_bits(unsigned x) { return nax_cast<float>(x); }
NAX_DEVICE double nax_of_bits(unsigned long long x) { return nax_cast<double>(x); }
#endif

// ---- elements as they are stored

struct nax_half {
  unsigned short bits;
};
struct nax_bfloat16 {
  unsigned short bits;
};
struct nax_bool {
  unsigned char bits;
};
template <class T>
NAX_DEVICE T nax_number(T x) { return x; }
NAX_DEVICE bool nax_number(nax_bool x) { return x.bits != 0; }
NAX_DEVICE float nax_number(nax_bfloat16 x) { return nax_of_bits(static_cast<unsigned>(x.bits) << 16); }
NAX_DEVICE float nax_number(nax_half x) {
  const unsigned sign = (x.bits & 0x8000u) << 16;
  unsigned f = (x.bits & 0x7fffu) << 13;
  const unsigned exponent = f & 0x0f800000u;
  f += 112u << 23;
  if (exponent == 0x0f800000u)
    f += 112u << 23;
  else if (exponent == 0)
    f = nax_bits(nax_of_bits(f + (1u << 23)) - nax_of_bits(113u << 23));
  return nax_of_bits(f | sign);
}
template <class T>
NAX_DEVICE void nax_set(T& to, T x) { to = x; }
template <class T>
NAX_DEVICE void nax_set(nax_bool& to, T x) { to.bits = x != 0; }
NAX_DEVICE void nax_set(nax_bfloat16& to, float x) {
  const unsigned f = nax_bits(x);
  to.bits = static_cast<unsigned short>((f & 0x7fffffffu) > 0x7f800000u ? (f >> 16) | 0x40u
                                                                      : (f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
}
NAX_DEVICE void nax_set(nax_half& to, float x) {
  unsigned f = nax_bits(x);
  const unsigned sign = f & 0x80000000u;
  f ^= sign;
  unsigned out;
  if (f >= 0x47800000u)
    out = f > 0x7f800000u ? 0x7e00u | ((f >> 13) & 0x1ffu) : 0x7c00u;
  else if (f < 0x38800000u)
    out = nax_bits(nax_of_bits(f) + nax_of_bits(126u << 23)) - (126u << 23);
  else
    out = (f + 0xc8000fffu + ((f >> 13) & 1u)) >> 13;
  to.bits = static_cast<unsigned short>(out | (sign >> 16));
}

// `count` elements of a piece of n, in one access where all are there.
template <class S, int n>
struct alignas(n * sizeof(S)) nax_piece {
  S at[n];
};
template <class S, class T, int n>
NAX_DEVICE void nax_load(T (&to)[n], const char* from, int count) {
  if (count == n) {
    const nax_piece<S, n> all = *reinterpret_cast<const nax_piece<S, n>*>(from);
    for (int j = 0; j < n; ++j) to[j] = nax_number(all.at[j]);
  } else {
    for (int j = 0; j < n; ++j) to[j] = j < count ? T(nax_number(reinterpret_cast<const S*>(from)[j])) : T(0);
  }
}
template <class S, class T, int n>
NAX_DEVICE void nax_repeat(T (&to)[n], const char* from) {
  const T one = nax_number(*reinterpret_cast<const S*>(from));
  for (int j = 0; j < n; ++j) to[j] = one;
}
template <class S, class T, int n>
NAX_DEVICE void nax_store(const T (&from)[n], char* to, int count) {
  if (count == n) {
    nax_piece<S, n> all;
    for (int j = 0; j < n; ++j) nax_set(all.at[j], from[j]);
    *reinterpret_cast<nax_piece<S, n>*>(to) = all;
  } else {
    for (int j = 0; j < n; ++j)
      if (j < count) nax_set(reinterpret_cast<S*>(to)[j], from[j]);
  }
}
// i / divisor for i below 2^31 (Granlund and Montgomery 1994).
NAX_DEVICE unsigned nax_quotient(unsigned i, unsigned long long magic, unsigned long long shift) {
  return (static_cast<unsigned>((i * magic) >> 32) + i) >> shift;
}

// ---- steps

NAX_DEVICE float nax_infinity(float) { return nax_of_bits(0x7f800000u); }
NAX_DEVICE double nax_infinity(double) { return nax_of_bits(0x7ff0000000000000ull); }
NAX_DEVICE float nax_nan(float) { return nax_of_bits(0x7fc00000u); }
NAX_DEVICE double nax_nan(double) { return nax_of_bits(0x7ff8000000000000ull); }
NAX_DEVICE float nax_frexp(float x, int* e) { return frexpf(x, e); }
NAX_DEVICE double nax_frexp(double x, int* e) { return frexp(x, e); }
NAX_DEVICE float nax_scalbn(float x, int e) { return scalbnf(x, e); }
NAX_DEVICE double nax_scalbn(double x, int e) { return scalbn(x, e); }
NAX_DEVICE float nax_with_sign(float x, float y) { return nax_of_bits(nax_bits(x) | (nax_bits(y) & 0x80000000u)); }
NAX_DEVICE double nax_with_sign(double x, double y) {
  return nax_of_bits(nax_bits(x) | (nax_bits(y) & 0x8000000000000000ull));
}
template <class T>
NAX_DEVICE T nax_maximum(T x, T y) { return x != x || x > y ? x : y; }
template <class T>
NAX_DEVICE T nax_minimum(T x, T y) { return x != x || x < y ? x : y; }
template <class T>
NAX_DEVICE T nax_scale(T x, T k) {
  if (k != k) return k;
  return nax_scalbn(x, static_cast<int>(k < T(-8192) ? T(-8192) : k > T(8192) ? T(8192) : k));
}
template <class T>
NAX_DEVICE T nax_mantissa(T x) {
  if (!(x > 0 && x < nax_infinity(x))) return x >= 0 ? T(1) : nax_nan(x);
  int e;
  const T m = nax_frexp(x, &e);
  return m < T(0.75) ? m + m : m;
}
template <class T>
NAX_DEVICE T nax_exponent(T x) {
  if (!(x > 0 && x < nax_infinity(x))) return x == 0 ? -nax_infinity(x) : x;
  int e;
  const T m = nax_frexp(x, &e);
  return T(m < T(0.75) ? e - 1 : e);
}
template <class T>
NAX_DEVICE T nax_limited(T x) {
  const T size = x < 0 ? -x : x;
  return nax_with_sign(size < T(0.5) ? nax_of_bits(nax_bits(x) << 1 >> 1) : T(0.5), x);
}
template <int k, class T>
NAX_DEVICE bool nax_bit(T x) { return nax_bits(x) >> k & 1; }
template <class T>
NAX_DEVICE bool nax_sign_bit(T x) { return nax_bits(x) >> (8 * sizeof(T) - 1) != 0; }
)text";

}  // namespace formula::detail
NAX_END
