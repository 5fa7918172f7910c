#pragma once

// Packet<T>: a SIMD register of float or double as a value type, and Mask<T>, what its
// comparisons give. Rules are templates over a value type V; Packet<T> is that type in the loops of the
// CPU.
//
// Everything here lives in an inline namespace named after the instruction set: two files of one program
// compiled for different ones then use different types, and the linker never mixes them up.
//
// With AVX-512 a mask is bits; with other instruction sets it is a register of ones and zeros.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "nax/backend/cpu/packets/registers.hpp"
#include "nax/core/abi.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

template <class T>
using raw_packet = typename Registers<T>::type;

// Whether T has packets worth the name; loops over other types stay scalar.
template <class T>
inline constexpr bool has_packet = (std::is_same_v<T, float> ||
                                    std::is_same_v<T, double>)&&(Registers<T>::size > 1);

template <class T>
struct Packet;

namespace detail {
template <class T>
using mask_type = typename Registers<T>::mask;
}  // namespace detail

// One truth value a lane.
template <class T>
struct Mask {
  static constexpr int size = Registers<T>::size;
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
  using R = Registers<T>;
  static constexpr int size = R::size;

  raw_type raw;

  Packet() = default;
  explicit Packet(raw_type r) : raw(r) {}
  template <class S>
  requires std::is_arithmetic_v<S>
  explicit Packet(S value) : raw(R::all(static_cast<T>(value))) {}

  static Packet load(const T* from) { return Packet(R::load(from)); }
  void store(T* to) const { R::store(to, raw); }

  // The first `count` lanes only; the others are zero. For the tail of a loop, so that every element meets
  // the same arithmetic.
  static Packet load(const T* from, std::int64_t count) {
#ifdef NAX_AVX512
    return Packet(R::load(from, static_cast<detail::mask_type<T>>((1u << count) - 1)));
#else
    alignas(raw_type) T lanes[size] = {};
    std::memcpy(lanes, from, static_cast<std::size_t>(count) * sizeof(T));
    return load(lanes);
#endif
  }
  void store(T* to, std::int64_t count) const {
#ifdef NAX_AVX512
    R::store(to, static_cast<detail::mask_type<T>>((1u << count) - 1), raw);
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
    if (stride == -1) return Packet(R::reverse(R::load(from - (size - 1))));
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

  friend Packet operator+(Packet a, Packet b) { return Packet(a.raw + b.raw); }
  friend Packet operator-(Packet a, Packet b) { return Packet(a.raw - b.raw); }
  friend Packet operator*(Packet a, Packet b) { return Packet(a.raw * b.raw); }
  friend Packet operator/(Packet a, Packet b) { return Packet(a.raw / b.raw); }
  friend Packet operator-(Packet a) { return Packet(-a.raw); }
  friend Packet operator+(Packet a) { return a; }
};

// ---- masks
// ----------------------------------------------------------------------------------------------------------

#ifdef NAX_AVX512

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
  return Mask<T>(Registers<T>::template compare<predicate>(a.raw, b.raw));
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
  return Packet<T>(Registers<T>::select(mask.raw, a.raw, b.raw));
}
// a where the mask holds, 0 elsewhere.
template <class T>
Packet<T> kept(Mask<T> mask, Packet<T> a) {
  return Packet<T>(Registers<T>::kept(mask.raw, a.raw));
}
template <class T>
Packet<T> unless_zero(Packet<T> g, Packet<T> a) {
  return kept(g != Packet<T>(T(0)), a);
}

#else

template <class T>
Mask<T>::Mask(bool value) : raw(raw_packet<T>{}) {
  if (value) raw = Registers<T>::equal(raw, raw);
}

template <class T>
Mask<T> operator&(Mask<T> a, Mask<T> b) {
  return Mask<T>(Registers<T>::bit_and(a.raw, b.raw));
}
template <class T>
Mask<T> operator|(Mask<T> a, Mask<T> b) {
  return Mask<T>(Registers<T>::bit_or(a.raw, b.raw));
}
template <class T>
Mask<T> operator^(Mask<T> a, Mask<T> b) {
  return Mask<T>(Registers<T>::bit_xor(a.raw, b.raw));
}
template <class T>
Mask<T> operator!(Mask<T> a) {
  return a ^ Mask<T>(true);
}
template <class T>
Mask<T> operator==(Packet<T> a, Packet<T> b) {
  return Mask<T>(Registers<T>::equal(a.raw, b.raw));
}
template <class T>
Mask<T> operator!=(Packet<T> a, Packet<T> b) {
  return !(a == b);
}
template <class T>
Mask<T> operator<(Packet<T> a, Packet<T> b) {
  return Mask<T>(Registers<T>::less(a.raw, b.raw));
}
template <class T>
Mask<T> operator<=(Packet<T> a, Packet<T> b) {
  return Mask<T>(Registers<T>::less_equal(a.raw, b.raw));
}
template <class T>
Packet<T> select(Mask<T> mask, Packet<T> a, Packet<T> b) {
  return Packet<T>(Registers<T>::select(mask.raw, a.raw, b.raw));
}
// a where the mask holds, 0 elsewhere.
template <class T>
Packet<T> kept(Mask<T> mask, Packet<T> a) {
  return Packet<T>(Registers<T>::bit_and(mask.raw, a.raw));
}
// a, but 0 where g is 0.
template <class T>
Packet<T> unless_zero(Packet<T> g, Packet<T> a) {
  return Packet<T>(Registers<T>::and_not(a.raw, Registers<T>::equal(g.raw, raw_packet<T>{})));
}

// Lane i gives bit i.
template <class T>
unsigned bits(Mask<T> a) {
  return Registers<T>::bits(a.raw);
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
#ifdef NAX_AVX512
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
#ifdef NAX_AVX512
  if constexpr (size == 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(_mm512_maskz_set1_epi32(raw, 1)));
  else
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm512_cvtepi64_epi8(_mm512_maskz_set1_epi64(raw, 1)));
#else
  const unsigned lanes = bits(*this);
  for (int i = 0; i < size; ++i) to[i] = ((lanes >> i) & 1) != 0;
#endif
}

// Lane j of packet i becomes lane i of packet j.
template <class T>
[[gnu::always_inline]] inline void transpose(Packet<T>* rows) {
  constexpr int size = Packet<T>::size;
  raw_packet<T> raw[size];
  NAX_UNROLL
  for (int i = 0; i < size; ++i) raw[i] = rows[i].raw;
  Registers<T>::transpose(raw);
  NAX_UNROLL
  for (int i = 0; i < size; ++i) rows[i].raw = raw[i];
}

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
