#pragma once

// Packet<T>: a SIMD register of float or double as a value type, over Eigen's packet layer, and Mask<T>, what
// its comparisons give. Rules are templates over a value type V; Packet<T> is that type in the loops of the
// CPU.
//
// Everything here lives in an inline namespace named after the instruction set: two files of one program
// compiled for different ones then use different types, and the linker never mixes them up.
//
// AVX-512 compares into bit masks, which Eigen 3.4 widens to vectors at once; there Mask keeps the bits
// instead.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "nax/backend/cpu/eigen_core.hpp"
#include "nax/core/abi.hpp"

#if defined(EIGEN_DONT_VECTORIZE) || !defined(EIGEN_VECTORIZE)
#define NAX_SIMD_ABI scalar
#elif defined(EIGEN_VECTORIZE_AVX512)
#define NAX_SIMD_ABI avx512
#elif defined(EIGEN_VECTORIZE_AVX2) && defined(EIGEN_VECTORIZE_FMA)
#define NAX_SIMD_ABI avx2_fma
#elif defined(EIGEN_VECTORIZE_AVX2)
#define NAX_SIMD_ABI avx2
#elif defined(EIGEN_VECTORIZE_AVX) && defined(EIGEN_VECTORIZE_FMA)
#define NAX_SIMD_ABI avx_fma
#elif defined(EIGEN_VECTORIZE_AVX)
#define NAX_SIMD_ABI avx
#elif defined(EIGEN_VECTORIZE_SSE4_1)
#define NAX_SIMD_ABI sse4
#elif defined(EIGEN_VECTORIZE_SSE2)
#define NAX_SIMD_ABI sse2
#elif defined(EIGEN_VECTORIZE_NEON)
#define NAX_SIMD_ABI neon
#else
#define NAX_SIMD_ABI other
#endif

#ifdef __NVCC__
#pragma nv_diag_suppress 1675  // it hands GCC's pragmas on, though it does not know them
#endif
// Before a loop of few turns over registers: all of them are written out.
#if defined(__clang__)
#define NAX_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define NAX_UNROLL _Pragma("GCC unroll 16")
#else
#define NAX_UNROLL
#endif

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

namespace ei = Eigen::internal;

template <class T>
using raw_packet = typename ei::packet_traits<T>::type;

// Whether T has packets worth the name; loops over other types stay scalar.
template <class T>
inline constexpr bool has_packet = (std::is_same_v<T, float> || std::is_same_v<T, double>)&&(
    static_cast<int>(ei::unpacket_traits<raw_packet<T>>::size) > 1);

template <class T>
struct Packet;

namespace detail {

#ifdef EIGEN_VECTORIZE_AVX512
template <class T>
struct MaskType;
template <>
struct MaskType<float> {
  using type = __mmask16;
};
template <>
struct MaskType<double> {
  using type = __mmask8;
};
template <class T>
using mask_type = typename MaskType<T>::type;
#else
template <class T>
using mask_type = raw_packet<T>;

template <class P>
P all_ones() {
  return ei::ptrue(ei::pzero(P()));
}
#endif

}  // namespace detail

// One truth value a lane.
template <class T>
struct Mask {
  static constexpr int size = ei::unpacket_traits<raw_packet<T>>::size;
  detail::mask_type<T> raw;

  Mask() = default;
  explicit Mask(detail::mask_type<T> r) : raw(r) {}
  explicit Mask(bool value);

  static Mask load(const bool* from);
  void store(bool* to) const;
};

template <class T>
struct Packet {
  using value_type = T;
  using raw_type = raw_packet<T>;
  static constexpr int size = ei::unpacket_traits<raw_type>::size;

  raw_type raw;

  Packet() = default;
  explicit Packet(raw_type r) : raw(r) {}
  template <class S>
  requires std::is_arithmetic_v<S>
  explicit Packet(S value) : raw(ei::pset1<raw_type>(static_cast<T>(value))) {}

  static Packet load(const T* from) { return Packet(ei::ploadu<raw_type>(from)); }
  void store(T* to) const { ei::pstoreu(to, raw); }

  // The first `count` lanes only; the others are zero. For the tail of a loop, so that every element meets
  // the same arithmetic.
  static Packet load(const T* from, std::int64_t count) {
#ifdef EIGEN_VECTORIZE_AVX512
    const auto first = static_cast<detail::mask_type<T>>((1u << count) - 1);
    if constexpr (std::is_same_v<T, float>)
      return Packet(_mm512_maskz_loadu_ps(first, from));
    else
      return Packet(_mm512_maskz_loadu_pd(first, from));
#else
    alignas(raw_type) T lanes[size] = {};
    std::memcpy(lanes, from, static_cast<std::size_t>(count) * sizeof(T));
    return load(lanes);
#endif
  }
  void store(T* to, std::int64_t count) const {
#ifdef EIGEN_VECTORIZE_AVX512
    const auto first = static_cast<detail::mask_type<T>>((1u << count) - 1);
    if constexpr (std::is_same_v<T, float>)
      _mm512_mask_storeu_ps(to, first, raw);
    else
      _mm512_mask_storeu_pd(to, first, raw);
#else
    alignas(raw_type) T lanes[size];
    store(lanes);
    std::memcpy(to, lanes, static_cast<std::size_t>(count) * sizeof(T));
#endif
  }

  // Every stride-th element from `from` on; 0 repeats one, negative ones go backward.
  static Packet load_strided(const T* from, std::int64_t stride) {
    if (stride == 1) return load(from);
    if (stride == 0) return Packet(*from);
    if (stride == -1) return Packet(ei::preverse(ei::ploadu<raw_type>(from - (size - 1))));
    alignas(raw_type) T lanes[size];
    for (int i = 0; i < size; ++i) lanes[i] = from[i * stride];
    return load(lanes);
  }
  void store_strided(T* to, std::int64_t stride) const {
    if (stride == 1) return store(to);
    alignas(raw_type) T lanes[size];
    store(lanes);
    for (int i = 0; i < size; ++i) to[i * stride] = lanes[i];
  }

  Packet& operator+=(Packet b) { return *this = *this + b; }
  Packet& operator-=(Packet b) { return *this = *this - b; }
  Packet& operator*=(Packet b) { return *this = *this * b; }
  Packet& operator/=(Packet b) { return *this = *this / b; }

  friend Packet operator+(Packet a, Packet b) { return Packet(ei::padd(a.raw, b.raw)); }
  friend Packet operator-(Packet a, Packet b) { return Packet(ei::psub(a.raw, b.raw)); }
  friend Packet operator*(Packet a, Packet b) { return Packet(ei::pmul(a.raw, b.raw)); }
  friend Packet operator/(Packet a, Packet b) { return Packet(ei::pdiv(a.raw, b.raw)); }
  // The compiler's own, which it folds into multiply-adds. (Eigen's pnegate subtracts from zero, which loses
  // the sign of -0.)
  friend Packet operator-(Packet a) { return Packet(-a.raw); }
  friend Packet operator+(Packet a) { return a; }
};

// ---- masks
// ----------------------------------------------------------------------------------------------------------

#ifdef EIGEN_VECTORIZE_AVX512

template <class T>
Mask<T>::Mask(bool value) : raw(static_cast<detail::mask_type<T>>(value ? -1 : 0)) {}

template <class T>
unsigned bits(Mask<T> a) {
  return a.raw;
}
template <class T>
Mask<T> operator&(Mask<T> a, Mask<T> b) {
  return Mask<T>(static_cast<detail::mask_type<T>>(a.raw & b.raw));
}
template <class T>
Mask<T> operator|(Mask<T> a, Mask<T> b) {
  return Mask<T>(static_cast<detail::mask_type<T>>(a.raw | b.raw));
}
template <class T>
Mask<T> operator^(Mask<T> a, Mask<T> b) {
  return Mask<T>(static_cast<detail::mask_type<T>>(a.raw ^ b.raw));
}
template <class T>
Mask<T> operator!(Mask<T> a) {
  return Mask<T>(static_cast<detail::mask_type<T>>(~a.raw));
}

template <class T, int predicate>
Mask<T> compare(Packet<T> a, Packet<T> b) {
  if constexpr (std::is_same_v<T, float>)
    return Mask<T>(_mm512_cmp_ps_mask(a.raw, b.raw, predicate));
  else
    return Mask<T>(_mm512_cmp_pd_mask(a.raw, b.raw, predicate));
}
template <class T>
Mask<T> operator==(Packet<T> a, Packet<T> b) {
  return compare<T, _CMP_EQ_OQ>(a, b);
}
template <class T>
Mask<T> operator!=(Packet<T> a, Packet<T> b) {
  return compare<T, _CMP_NEQ_UQ>(a, b);
}
template <class T>
Mask<T> operator<(Packet<T> a, Packet<T> b) {
  return compare<T, _CMP_LT_OQ>(a, b);
}
template <class T>
Mask<T> operator<=(Packet<T> a, Packet<T> b) {
  return compare<T, _CMP_LE_OQ>(a, b);
}

// a where the mask holds, b elsewhere.
template <class T>
Packet<T> select(Mask<T> mask, Packet<T> a, Packet<T> b) {
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm512_mask_blend_ps(mask.raw, b.raw, a.raw));
  else
    return Packet<T>(_mm512_mask_blend_pd(mask.raw, b.raw, a.raw));
}
// a where the mask holds, 0 elsewhere.
template <class T>
Packet<T> kept(Mask<T> mask, Packet<T> a) {
  if constexpr (std::is_same_v<T, float>)
    return Packet<T>(_mm512_maskz_mov_ps(mask.raw, a.raw));
  else
    return Packet<T>(_mm512_maskz_mov_pd(mask.raw, a.raw));
}
template <class T>
Packet<T> unless_zero(Packet<T> g, Packet<T> a) {
  return kept(g != Packet<T>(T(0)), a);
}

#else

template <class T>
Mask<T>::Mask(bool value) : raw(value ? detail::all_ones<raw_packet<T>>() : ei::pzero(raw_packet<T>())) {}

template <class T>
Mask<T> operator&(Mask<T> a, Mask<T> b) {
  return Mask<T>(ei::pand(a.raw, b.raw));
}
template <class T>
Mask<T> operator|(Mask<T> a, Mask<T> b) {
  return Mask<T>(ei::por(a.raw, b.raw));
}
template <class T>
Mask<T> operator^(Mask<T> a, Mask<T> b) {
  return Mask<T>(ei::pxor(a.raw, b.raw));
}
template <class T>
Mask<T> operator!(Mask<T> a) {
  return a ^ Mask<T>(true);
}
template <class T>
Mask<T> operator==(Packet<T> a, Packet<T> b) {
  return Mask<T>(ei::pcmp_eq(a.raw, b.raw));
}
template <class T>
Mask<T> operator!=(Packet<T> a, Packet<T> b) {
  return !(a == b);
}
template <class T>
Mask<T> operator<(Packet<T> a, Packet<T> b) {
  return Mask<T>(ei::pcmp_lt(a.raw, b.raw));
}
template <class T>
Mask<T> operator<=(Packet<T> a, Packet<T> b) {
  return Mask<T>(ei::pcmp_le(a.raw, b.raw));
}
template <class T>
Packet<T> select(Mask<T> mask, Packet<T> a, Packet<T> b) {
  return Packet<T>(ei::pselect(mask.raw, a.raw, b.raw));
}
// a where the mask holds, 0 elsewhere.
template <class T>
Packet<T> kept(Mask<T> mask, Packet<T> a) {
  return Packet<T>(ei::pand(mask.raw, a.raw));
}
// a, but 0 where g is 0.
template <class T>
Packet<T> unless_zero(Packet<T> g, Packet<T> a) {
  return Packet<T>(ei::pandnot(a.raw, ei::pcmp_eq(g.raw, ei::pzero(g.raw))));
}

namespace detail {
// Lane i gives bit i, for a mask of Eigen's; by lanes where the machine has no instruction for it.
template <class T, class P>
unsigned move_mask(const P& mask) {
  alignas(P) T lanes[ei::unpacket_traits<P>::size];
  ei::pstoreu(lanes, ei::pand(mask, ei::pset1<P>(T(1))));
  unsigned result = 0;
  for (int i = 0; i < static_cast<int>(ei::unpacket_traits<P>::size); ++i)
    result |= static_cast<unsigned>(lanes[i] != 0) << i;
  return result;
}
#ifdef EIGEN_VECTORIZE_AVX
template <class T>
unsigned move_mask(const ei::Packet8f& mask) {
  return static_cast<unsigned>(_mm256_movemask_ps(mask));
}
template <class T>
unsigned move_mask(const ei::Packet4d& mask) {
  return static_cast<unsigned>(_mm256_movemask_pd(mask));
}
#elif defined(EIGEN_VECTORIZE_SSE)
template <class T>
unsigned move_mask(const ei::Packet4f& mask) {
  return static_cast<unsigned>(_mm_movemask_ps(mask));
}
template <class T>
unsigned move_mask(const ei::Packet2d& mask) {
  return static_cast<unsigned>(_mm_movemask_pd(mask));
}
#endif
}  // namespace detail

template <class T>
unsigned bits(Mask<T> a) {
  return detail::move_mask<T>(a.raw);
}

#endif

template <class T>
Mask<T> operator>(Packet<T> a, Packet<T> b) {
  return b < a;
}
template <class T>
Mask<T> operator>=(Packet<T> a, Packet<T> b) {
  return b <= a;
}
template <class T>
Mask<T> operator&&(Mask<T> a, Mask<T> b) {
  return a & b;
}
template <class T>
Mask<T> operator||(Mask<T> a, Mask<T> b) {
  return a | b;
}
template <class T>
Mask<T> select(Mask<T> mask, Mask<T> a, Mask<T> b) {
  return (mask & a) | ((!mask) & b);
}
template <class T>
bool any(Mask<T> a) {
  return bits(a) != 0;
}
template <class T>
bool all(Mask<T> a) {
  return bits(a) == (1u << Mask<T>::size) - 1;
}

template <class T>
Mask<T> Mask<T>::load(const bool* from) {
#ifdef EIGEN_VECTORIZE_AVX512
  if constexpr (size == 16) {
    const auto bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return Mask(_mm512_test_epi32_mask(_mm512_cvtepi8_epi32(bytes), _mm512_set1_epi32(-1)));
  } else {
    const auto bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return Mask(_mm512_test_epi64_mask(_mm512_cvtepi8_epi64(bytes), _mm512_set1_epi64(-1)));
  }
#else
  alignas(raw_packet<T>) T lanes[size];
  for (int i = 0; i < size; ++i) lanes[i] = static_cast<T>(from[i]);
  return Packet<T>::load(lanes) != Packet<T>(0);
#endif
}

template <class T>
void Mask<T>::store(bool* to) const {
#ifdef EIGEN_VECTORIZE_AVX512
  if constexpr (size == 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(_mm512_maskz_set1_epi32(raw, 1)));
  else
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm512_cvtepi64_epi8(_mm512_maskz_set1_epi64(raw, 1)));
#else
  const unsigned lanes = bits(*this);
  for (int i = 0; i < size; ++i) to[i] = ((lanes >> i) & 1) != 0;
#endif
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
