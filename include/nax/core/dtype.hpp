#pragma once

#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "nax/core/error.hpp"
#include "nax/core/half.hpp"

// Element types: their names, their kinds, and what type comes out when two of them meet.
//
// Two arrays promote as jnp.promote_types does with 64 bits enabled, but for uint64 with a signed integer:
// that is float, the default, not double. A C++ scalar next to an array is weak: only its kind (bool < int <
// float < complex) counts, and a higher kind than the array's brings that kind's default type (int32, float,
// complex<float>).
NAX_BEGIN

// The element types, in the order in which promotion compares them: name of the enumerator, C++ type, kind,
// NumPy's name. Every table over dtypes is made from this list; switches over dtypes name each and have no
// default, so that the compiler finds those that a new type concerns.
#define NAX_FOR_EACH_DTYPE(X)                             \
  X(boolean, bool, boolean, "bool")                       \
  X(int8, std::int8_t, integer, "int8")                   \
  X(int16, std::int16_t, integer, "int16")                \
  X(int32, std::int32_t, integer, "int32")                \
  X(int64, std::int64_t, integer, "int64")                \
  X(uint8, std::uint8_t, integer, "uint8")                \
  X(uint16, std::uint16_t, integer, "uint16")             \
  X(uint32, std::uint32_t, integer, "uint32")             \
  X(uint64, std::uint64_t, integer, "uint64")             \
  X(float16, half, floating, "float16")                   \
  X(bfloat16, nax::bfloat16, floating, "bfloat16")        \
  X(float32, float, floating, "float32")                  \
  X(float64, double, floating, "float64")                 \
  X(complex64, std::complex<float>, complex, "complex64") \
  X(complex128, std::complex<double>, complex, "complex128")

#define NAX_DTYPE(name, type, kind, text) name,
enum class DType : std::uint8_t { NAX_FOR_EACH_DTYPE(NAX_DTYPE) };
#undef NAX_DTYPE

#define NAX_DTYPE(name, type, kind, text) +1
inline constexpr std::size_t dtype_count = NAX_FOR_EACH_DTYPE(NAX_DTYPE);
#undef NAX_DTYPE

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
template <DType d>
struct TypeOf;
#define NAX_DTYPE(name, type_, kind, text)                     \
  template <>                                                  \
  struct DTypeOf<type_> : DTypeIs<DType::name, Kind::kind> {}; \
  template <>                                                  \
  struct TypeOf<DType::name> {                                 \
    using type = type_;                                        \
  };
NAX_FOR_EACH_DTYPE(NAX_DTYPE)
#undef NAX_DTYPE

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
#define NAX_DTYPE(name, type, kind, text) text,
  constexpr std::string_view names[] = {NAX_FOR_EACH_DTYPE(NAX_DTYPE)};
#undef NAX_DTYPE
  return names[static_cast<std::size_t>(d)];
}
inline std::ostream& operator<<(std::ostream& out, DType d) { return out << dtype_name(d); }

constexpr std::size_t dtype_size(DType d) {
  // Four bits a type, from the lowest: the logarithm of its size. (A table would be read from memory.)
  constexpr std::uint64_t logarithms = [] {
    std::uint64_t bits = 0;
    unsigned at = 0;
#define NAX_DTYPE(name, type, kind, text) bits |= std::uint64_t{std::bit_width(sizeof(type)) - 1} << 4 * at++;
    NAX_FOR_EACH_DTYPE(NAX_DTYPE)
#undef NAX_DTYPE
    return bits;
  }();
  static_assert(dtype_count <= 16, "dtype_size packs four bits a type into 64");
  return std::size_t{1} << (logarithms >> (4 * static_cast<unsigned>(d)) & 15);
}

constexpr Kind dtype_kind(DType d) {
  if (d == DType::boolean) return Kind::boolean;
  if (d < DType::float16) return Kind::integer;
  return d < DType::complex64 ? Kind::floating : Kind::complex;
}

namespace detail {
constexpr bool is_inexact(DType d) { return dtype_kind(d) >= Kind::floating; }
}  // namespace detail

constexpr DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) return promote(b, a);
  if (a == DType::boolean) return b;
  switch (dtype_kind(b)) {
    case Kind::complex:  // a double, or a wider complex, needs the wide one
      return a == DType::float64 ? DType::complex128 : b;
    case Kind::floating:  // integers leave a float as it is; the two 16-bit floats meet in float32
      return a == DType::float16 && b == DType::bfloat16 ? DType::float32 : b;
    case Kind::boolean:
    case Kind::integer:
      break;
  }
  if (a >= DType::uint8 || b <= DType::int64) return b;  // of one signedness: the wider
  if (b == DType::uint64) return DType::float32;         // no integer holds both: JAX's weak float
  const auto next_signed = static_cast<DType>(static_cast<int>(b) - static_cast<int>(DType::uint8) +
                                              static_cast<int>(DType::int16));
  return a > next_signed ? a : next_signed;
}

// promote and dtype_kind compare enumerators: the kinds stand in order, and each signedness by width.
static_assert(DType::int8 < DType::uint8 && DType::uint64 < DType::float16 &&
              DType::float64 < DType::complex64);
#define NAX_DTYPE(name, type, kind_, text) \
  static_assert(dtype_size(DType::name) == sizeof(type) && dtype_kind(DType::name) == Kind::kind_);
NAX_FOR_EACH_DTYPE(NAX_DTYPE)
#undef NAX_DTYPE

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

namespace detail {

// Whether every value of the number type S is one of the integer type T.
template <class T, class S>
consteval bool always_fits() {
  return std::is_integral_v<S> && std::numeric_limits<S>::digits <= std::numeric_limits<T>::digits &&
         (std::is_signed_v<T> || !std::is_signed_v<S>);
}
template <class T, class S>
constexpr bool fits(S x) {
  if constexpr (std::is_integral_v<S>) {
    if constexpr (std::is_signed_v<S>)
      if (x < S(0))
        return std::is_signed_v<T> && std::int64_t{x} >= std::int64_t(std::numeric_limits<T>::min());
    return static_cast<std::uint64_t>(x) <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  } else {  // truncated
    constexpr double end =
        2.0 * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));
    const auto value = static_cast<double>(x);
    return value < end && (std::is_signed_v<T> ? value > -end - 1 || value == -end : value > -1);
  }
}
template <class S>
[[noreturn, gnu::cold]] void throw_beyond(const char* function, S x, DType to) {
  const std::string_view name = dtype_name(to);
  if constexpr (std::is_signed_v<S> && std::is_integral_v<S>)
    raise<OverflowError>({function, ": ", std::int64_t{x}, " is beyond the range of ", name});
  else if constexpr (std::is_integral_v<S>)
    raise<OverflowError>({function, ": ", std::uint64_t{x}, " is beyond the range of ", name});
  else
    raise<OverflowError>({function, ": ", static_cast<double>(x), " is beyond the range of ", name});
}
// A C++ number as an element of type T. Throws OverflowError where it is beyond the range of an integer type.
template <Dtype T, Scalar S>
constexpr T element_from(const char* function, S x) {
  if constexpr (is_integer_v<T> && !is_complex_v<S>) {
    if constexpr (!always_fits<T, S>())
      if (!fits<T>(x)) [[unlikely]]
        throw_beyond(function, x, dtype_of<T>);
  }
  return static_cast<T>(x);
}

}  // namespace detail

// float for complex<float>; any other type is its own real type.
template <class T>
using real_t = typename detail::Real<T>::type;

// complex<float> for float and every narrower type, complex<double> for double.
template <Dtype T>
using complex_t = promote_t<T, std::complex<float>>;

// The type of sqrt, divide, mean...: integers and bool become float.
template <Dtype T>
using inexact_t = std::conditional_t<is_inexact_v<T>, T, float>;

NAX_END
