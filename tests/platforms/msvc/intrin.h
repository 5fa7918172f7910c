#pragma once

// Stands in for the header of Microsoft's compiler, so that GCC can read nax's forms for that (NAX_MSVC in
// core/compiler.hpp, with _M_X64): its functions, and registers that have no operators.
#include <immintrin.h>

#include <Eigen/Dense>
#include <complex>
#include <cstdint>
#include <unsupported/Eigen/FFT>

#define __declspec(what) __attribute__((what))
#define _ReadWriteBarrier() asm volatile("" ::: "memory")

inline std::int64_t __mulh(std::int64_t a, std::int64_t b) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((static_cast<Wide>(a) * b) >> 64);
}
inline std::uint64_t __umulh(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
}

namespace msvc {
template <class V>
struct Register {
  V value;
  Register() = default;
  Register(V v) : value(v) {}
  operator V() const { return value; }
};
using Floats4 = Register<__m128>;
using Doubles2 = Register<__m128d>;
using Floats8 = Register<__m256>;
using Doubles4 = Register<__m256d>;
using Floats16 = Register<__m512>;
using Doubles8 = Register<__m512d>;
}  // namespace msvc
#define __m128 msvc::Floats4
#define __m128d msvc::Doubles2
#define __m256 msvc::Floats8
#define __m256d msvc::Doubles4
#define __m512 msvc::Floats16
#define __m512d msvc::Doubles8
