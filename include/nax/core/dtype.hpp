#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "nax/core/half.hpp"

// Element types: their names, their kinds, and what type comes out when two of them meet.
//
// Two arrays promote as jnp.promote_types does with 64 bits enabled, but for uint64 with a signed integer:
// that is float, the default, not double. A C++ scalar next to an array is weak: only its kind (bool < int <
// float < complex) counts, and a higher kind than the array's brings that kind's default type (int32, float,
// complex<float>).
namespace nax::inline NAX_ABI {

enum class DType : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128
};

enum class Kind : std::uint8_t { boolean, integer, floating, complex };

namespace detail {

template <class T>
struct DTypeOf {
  static constexpr bool supported = false;
};
template <DType d, Kind k>
struct DTypeIs {
  static constexpr bool supported = true;
  static constexpr DType dtype = d;
  static constexpr Kind kind = k;
};
// clang-format off
template <> struct DTypeOf<bool> : DTypeIs<DType::boolean, Kind::boolean> {};
template <> struct DTypeOf<std::int8_t> : DTypeIs<DType::int8, Kind::integer> {};
template <> struct DTypeOf<std::int16_t> : DTypeIs<DType::int16, Kind::integer> {};
template <> struct DTypeOf<std::int32_t> : DTypeIs<DType::int32, Kind::integer> {};
template <> struct DTypeOf<std::int64_t> : DTypeIs<DType::int64, Kind::integer> {};
template <> struct DTypeOf<std::uint8_t> : DTypeIs<DType::uint8, Kind::integer> {};
template <> struct DTypeOf<std::uint16_t> : DTypeIs<DType::uint16, Kind::integer> {};
template <> struct DTypeOf<std::uint32_t> : DTypeIs<DType::uint32, Kind::integer> {};
template <> struct DTypeOf<std::uint64_t> : DTypeIs<DType::uint64, Kind::integer> {};
template <> struct DTypeOf<half> : DTypeIs<DType::float16, Kind::floating> {};
template <> struct DTypeOf<bfloat16> : DTypeIs<DType::bfloat16, Kind::floating> {};
template <> struct DTypeOf<float> : DTypeIs<DType::float32, Kind::floating> {};
template <> struct DTypeOf<double> : DTypeIs<DType::float64, Kind::floating> {};
template <> struct DTypeOf<std::complex<float>> : DTypeIs<DType::complex64, Kind::complex> {};
template <> struct DTypeOf<std::complex<double>> : DTypeIs<DType::complex128, Kind::complex> {};

template <DType d> struct TypeOf;
template <> struct TypeOf<DType::boolean> { using type = bool; };
template <> struct TypeOf<DType::int8> { using type = std::int8_t; };
template <> struct TypeOf<DType::int16> { using type = std::int16_t; };
template <> struct TypeOf<DType::int32> { using type = std::int32_t; };
template <> struct TypeOf<DType::int64> { using type = std::int64_t; };
template <> struct TypeOf<DType::uint8> { using type = std::uint8_t; };
template <> struct TypeOf<DType::uint16> { using type = std::uint16_t; };
template <> struct TypeOf<DType::uint32> { using type = std::uint32_t; };
template <> struct TypeOf<DType::uint64> { using type = std::uint64_t; };
template <> struct TypeOf<DType::float16> { using type = half; };
template <> struct TypeOf<DType::bfloat16> { using type = bfloat16; };
template <> struct TypeOf<DType::float32> { using type = float; };
template <> struct TypeOf<DType::float64> { using type = double; };
template <> struct TypeOf<DType::complex64> { using type = std::complex<float>; };
template <> struct TypeOf<DType::complex128> { using type = std::complex<double>; };
// clang-format on

template <class T>
struct IsStdComplex : std::false_type {};
template <class R>
struct IsStdComplex<std::complex<R>> : std::true_type {};

}  // namespace detail

// An element type of an array.
template <class T>
concept Dtype = detail::DTypeOf<T>::supported;

// Any C++ number that may stand next to an array: every element type, and long long, char, long double and
// the like.
template <class T>
concept Scalar = std::is_arithmetic_v<T> || Dtype<T> || detail::IsStdComplex<T>::value;

template <Dtype T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::dtype;

template <DType d>
using type_of_t = typename detail::TypeOf<d>::type;

template <class T>
inline constexpr bool is_floating_v = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                      std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool is_complex_v = detail::IsStdComplex<T>::value;
template <class T>
inline constexpr bool is_inexact_v = is_floating_v<T> || is_complex_v<T>;
template <class T>
inline constexpr bool is_integer_v = std::is_integral_v<T> && !std::is_same_v<T, bool>;

constexpr std::string_view dtype_name(DType d) {
  constexpr std::string_view names[] = {"bool",     "int8",    "int16",   "int32",     "int64",
                                        "uint8",    "uint16",  "uint32",  "uint64",    "float16",
                                        "bfloat16", "float32", "float64", "complex64", "complex128"};
  return names[static_cast<std::size_t>(d)];
}

constexpr std::size_t dtype_size(DType d) {
  // Four bits a type, from the lowest: the logarithm of its size. (A table would be read from memory.)
  constexpr std::uint64_t logarithms = 0x433211321032100;
  return std::size_t{1} << (logarithms >> (4 * static_cast<unsigned>(d)) & 15);
}

constexpr Kind dtype_kind(DType d) {
  if (d == DType::boolean) return Kind::boolean;
  if (d < DType::float16) return Kind::integer;
  return d < DType::complex64 ? Kind::floating : Kind::complex;
}

constexpr DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) return promote(b, a);
  if (a == DType::boolean) return b;
  switch (dtype_kind(b)) {
    case Kind::complex:  // a double, or a wider complex, needs the wide one
      return a == DType::float64 ? DType::complex128 : b;
    case Kind::floating:  // integers leave a float as it is; the two 16-bit floats meet in float32
      return a == DType::float16 && b == DType::bfloat16 ? DType::float32 : b;
    default:
      break;
  }
  if (a >= DType::uint8 || b <= DType::int64) return b;  // of one signedness: the wider
  if (b == DType::uint64) return DType::float32;         // no integer holds both: JAX's weak float
  const auto next_signed = static_cast<DType>(static_cast<int>(b) - static_cast<int>(DType::uint8) +
                                              static_cast<int>(DType::int16));
  return a > next_signed ? a : next_signed;
}

template <Dtype A, Dtype B>
using promote_t = type_of_t<promote(dtype_of<A>, dtype_of<B>)>;

namespace detail {

template <Scalar S>
consteval Kind scalar_kind() {
  if constexpr (std::is_same_v<S, bool>) {
    return Kind::boolean;
  } else if constexpr (std::is_integral_v<S>) {
    return Kind::integer;
  } else {
    return is_complex_v<S> ? Kind::complex : Kind::floating;
  }
}

constexpr DType weak_promote(DType array, Kind scalar) {
  if (dtype_kind(array) >= scalar) return array;
  if (scalar == Kind::integer) return DType::int32;
  if (scalar == Kind::floating) return DType::float32;
  return array == DType::float64 ? DType::complex128 : DType::complex64;
}

template <class T>
struct Real {
  using type = T;
};
template <class R>
struct Real<std::complex<R>> {
  using type = R;
};

template <Scalar S>
consteval DType element_dtype() {
  if constexpr (Dtype<S>) {
    return dtype_of<S>;
  } else if constexpr (std::is_integral_v<S>) {
    constexpr int log2_size = sizeof(S) == 1 ? 0 : sizeof(S) == 2 ? 1 : sizeof(S) == 4 ? 2 : 3;
    return static_cast<DType>(static_cast<int>(std::is_signed_v<S> ? DType::int8 : DType::uint8) + log2_size);
  } else {
    return is_complex_v<S> ? DType::complex128 : DType::float64;
  }
}

}  // namespace detail

// The type of array op scalar.
template <Dtype ArrayT, Scalar ScalarT>
using weak_promote_t = type_of_t<detail::weak_promote(dtype_of<ArrayT>, detail::scalar_kind<ScalarT>())>;

// The element type that holds a C++ number: long long is an int64, char an int8, long double a float64.
template <Scalar T>
using element_t = type_of_t<detail::element_dtype<T>()>;

// float for complex<float>; any other type is its own real type.
template <class T>
using real_t = typename detail::Real<T>::type;

// complex<float> for float and every narrower type, complex<double> for double.
template <Dtype T>
using complex_t = promote_t<T, std::complex<float>>;

// The type of sqrt, divide, mean...: integers and bool become float.
template <Dtype T>
using inexact_t = std::conditional_t<is_inexact_v<T>, T, float>;

}  // namespace nax::inline NAX_ABI
