#pragma once

// Registers<T> of one number: of float and double where no instruction set is known or wanted, and of all
// other types. Loops ask has_packet and then stay scalar; this keeps what is written for packets compiling.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "nax/backend/cpu/packets/instruction_set.hpp"
#include "nax/backend/cpu/packets/registers_operators.hpp"
#include "nax/core/abi.hpp"

NAX_BEGIN
namespace simd {
inline namespace NAX_SIMD_ABI {

template <class T>
struct Registers {
  using type = T;
  using mask = T;  // all bits on or off
  static constexpr int size = 1;

  static type load(const T* from) { return *from; }
  static void store(T* to, type a) { *to = a; }
  static type all(T value) { return value; }

  static type bit_and(type a, type b) { return number(word(a) & word(b)); }
  static type bit_or(type a, type b) { return number(word(a) | word(b)); }
  static type bit_xor(type a, type b) { return number(word(a) ^ word(b)); }
  static type and_not(type a, type b) { return number(word(a) & ~word(b)); }  // a & ~b
  static mask equal(type a, type b) { return a == b ? number(~Word{0}) : 0; }
  static mask less(type a, type b) { return a < b ? number(~Word{0}) : 0; }
  static mask less_equal(type a, type b) { return a <= b ? number(~Word{0}) : 0; }
  static unsigned bits(mask m) { return static_cast<unsigned>(word(m) & 1); }
  static type select(mask m, type a, type b) { return bits(m) != 0 ? a : b; }

  static type min(type a, type b) { return b < a ? b : a; }
  static type max(type a, type b) { return a < b ? b : a; }
  static type sqrt(type a) { return std::sqrt(a); }
  static type fma(type a, type b, type c) { return a * b + c; }
  static type floor(type a) { return std::floor(a); }
  static type ceil(type a) { return std::ceil(a); }
  static type rint(type a) { return std::rint(a); }
  static type reverse(type a) { return a; }
  template <class Join>
  static T join_lanes(type a, Join) {
    return a;
  }
  static type scale(type a, type k) { return std::ldexp(a, static_cast<int>(k)); }
  // A normal x > 0 is m * 2^e with m in [3/4, 3/2).
  static type split(type x, type& e) {
    int exponent;
    const T m = std::frexp(x, &exponent);  // in [1/2, 1)
    const bool low = m < T(0.75);
    e = static_cast<T>(exponent - low);
    return low ? m + m : m;
  }
  static void transpose(type (&)[size]) {}

 private:
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static Word word(T a) {
    Word bits;
    std::memcpy(&bits, &a, sizeof bits);
    return bits;
  }
  static T number(Word bits) {
    T a;
    std::memcpy(&a, &bits, sizeof a);
    return a;
  }
};

}  // namespace NAX_SIMD_ABI
}  // namespace simd
NAX_END
