#pragma once

#include "nax/core/abi.hpp"

// Arithmetic of integers and conversions, for the texts of kernels that have them: integers wrap around, and
// floats beyond an integer's range saturate, as in rules/arithmetic.hpp and core/to_integer.hpp.
NAX_BEGIN
namespace formula::detail {

inline constexpr const char* text_numbers = R"text(
template <class T>
struct nax_wrapping {
  typedef unsigned type;
};
template <>
struct nax_wrapping<long long> {
  typedef unsigned long long type;
};
template <>
struct nax_wrapping<unsigned long long> {
  typedef unsigned long long type;
};
template <>
struct nax_wrapping<float> {
  typedef float type;
};
template <>
struct nax_wrapping<double> {
  typedef double type;
};
template <class T>
NAX_DEVICE T nax_add(T x, T y) {
  typedef typename nax_wrapping<T>::type U;
  return static_cast<T>(static_cast<U>(x) + static_cast<U>(y));
}
template <class T>
NAX_DEVICE T nax_subtract(T x, T y) {
  typedef typename nax_wrapping<T>::type U;
  return static_cast<T>(static_cast<U>(x) - static_cast<U>(y));
}
template <class T>
NAX_DEVICE T nax_multiply(T x, T y) {
  typedef typename nax_wrapping<T>::type U;
  return static_cast<T>(static_cast<U>(x) * static_cast<U>(y));
}
template <class T>
NAX_DEVICE T nax_negative(T x) {
  typedef typename nax_wrapping<T>::type U;
  return static_cast<T>(U(0) - static_cast<U>(x));
}
template <class T>
NAX_DEVICE T nax_floor_divide(T x, T y) {
  if (y == 0) return 0;
  if (T(-1) < T(0) && y == T(-1)) return nax_subtract(T(0), x);
  return static_cast<T>(x / y - (x % y != 0 && (x < 0) != (y < 0)));
}
template <class T>
NAX_DEVICE T nax_mod(T x, T y) {
  if (y == 0 || (T(-1) < T(0) && y == T(-1))) return 0;
  const T r = static_cast<T>(x % y);
  return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
}
template <class T>
NAX_DEVICE T nax_absolute(T x) { return x < 0 ? nax_subtract(T(0), x) : x; }

template <class To, class From>
struct nax_conversion {
  NAX_DEVICE To of(From x) { return static_cast<To>(x); }
};
template <class From>
struct nax_conversion<bool, From> {
  NAX_DEVICE bool of(From x) { return x != From(0); }
};
template <class To, class From>
NAX_DEVICE To nax_to_integer(From x) {
  const bool is_signed = To(-1) < To(0);
  const int digits = 8 * static_cast<int>(sizeof(To)) - (is_signed ? 1 : 0);
  const To most = is_signed ? static_cast<To>((1ull << (digits % 64)) - 1) : static_cast<To>(-1);
  const To least = static_cast<To>(is_signed ? -most - 1 : 0);
  const From above = static_cast<From>(most / 2 + 1) * From(2);
  if (x != x) return 0;
  return x <= static_cast<From>(least) ? least : x >= above ? most : static_cast<To>(x);
}
#define NAX_TO_INTEGER(To)                                             \
  template <>                                                          \
  struct nax_conversion<To, float> {                                   \
    NAX_DEVICE To of(float x) { return nax_to_integer<To>(x); }        \
  };                                                                   \
  template <>                                                          \
  struct nax_conversion<To, double> {                                  \
    NAX_DEVICE To of(double x) { return nax_to_integer<To>(x); }       \
  };
NAX_TO_INTEGER(signed char)
NAX_TO_INTEGER(short)
NAX_TO_INTEGER(int)
NAX_TO_INTEGER(long long)
NAX_TO_INTEGER(unsigned char)
NAX_TO_INTEGER(unsigned short)
NAX_TO_INTEGER(unsigned)
NAX_TO_INTEGER(unsigned long long)
#undef NAX_TO_INTEGER
template <class To, class From>
NAX_DEVICE To nax_convert(From x) { return nax_conversion<To, From>::of(x); }

// A number from the first bytes of a word.
template <class T>
struct nax_word {
  NAX_DEVICE T of(unsigned long long word) { return static_cast<T>(word); }
};
template <>
struct nax_word<float> {
  NAX_DEVICE float of(unsigned long long word) { return nax_of_bits(static_cast<unsigned>(word)); }
};
template <>
struct nax_word<double> {
  NAX_DEVICE double of(unsigned long long word) { return nax_of_bits(word); }
};
template <>
struct nax_word<nax_bool> {
  NAX_DEVICE nax_bool of(unsigned long long word) { return nax_bool{static_cast<unsigned char>(word)}; }
};
template <>
struct nax_word<nax_half> {
  NAX_DEVICE nax_half of(unsigned long long word) { return nax_half{static_cast<unsigned short>(word)}; }
};
template <>
struct nax_word<nax_bfloat16> {
  NAX_DEVICE nax_bfloat16 of(unsigned long long word) { return nax_bfloat16{static_cast<unsigned short>(word)}; }
};
template <class T>
NAX_DEVICE T nax_of_word(unsigned long long word) { return nax_word<T>::of(word); }
)text";

}  // namespace formula::detail
NAX_END
