#pragma once

#include <initializer_list>
#include <limits>
#include <string_view>

#include "nax/core/axis.hpp"
#include "nax/expr/expressions/expr.hpp"

// NumPy's questions about element types. Types are values of the enumeration DType (x.dtype(),
// dtype_of<float>) or C++ types; everything here can be computed by the compiler.
NAX_BEGIN

// NumPy's names of the types. (In a namespace of their own, so that no header's variable hides one.)
inline namespace type_names {
using bool_ = bool;
using int8 = std::int8_t;
using int16 = std::int16_t;
using int32 = std::int32_t;
using int64 = std::int64_t;
using uint8 = std::uint8_t;
using uint16 = std::uint16_t;
using uint32 = std::uint32_t;
using uint64 = std::uint64_t;
using float16 = half;
using float32 = float;
using float64 = double;
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;
using int_ = std::int32_t;  // the defaults, as JAX's with 64 bits off
using uint = std::uint32_t;
using float_ = float;
using complex_ = std::complex<float>;
using single = float;
using csingle = std::complex<float>;
using cdouble = std::complex<double>;
}  // namespace type_names

// A set of types: what issubdtype asks about.
class DTypeClass {
 public:
  constexpr explicit DTypeClass(unsigned members) : members_(members) {}
  constexpr bool has(DType d) const { return (members_ >> static_cast<unsigned>(d) & 1) != 0; }

 private:
  unsigned members_;
};
inline namespace type_names {
inline constexpr DTypeClass generic{0x7fff}, number{0x7ffe}, integer{0x1fe}, signedinteger{0x1e},
    unsignedinteger{0x1e0}, inexact{0x7e00}, floating{0x1e00}, complexfloating{0x6000};
}  // namespace type_names

// Is the type a member of the class, or the type itself? issubdtype(x.dtype(), floating)
constexpr bool issubdtype(DType d, DTypeClass of) { return of.has(d); }
constexpr bool issubdtype(DType d, DType of) { return d == of; }

// The type that holds both, as JAX has it.
constexpr DType promote_types(DType a, DType b) { return promote(a, b); }

// One of the array API's kinds of types: "bool", "signed integer", "unsigned integer", "integral", "real
// floating", "complex floating", "numeric"; or a type.
class DTypeKind {
 public:
  constexpr DTypeKind(DType d) : members_(1u << static_cast<unsigned>(d)) {}
  constexpr DTypeKind(const char* kind) : members_(of(kind)) {}
  constexpr bool has(DType d) const { return (members_ >> static_cast<unsigned>(d) & 1) != 0; }

 private:
  static constexpr unsigned of(std::string_view kind) {
    if (kind == "bool") return 0x1;
    if (kind == "signed integer") return 0x1e;
    if (kind == "unsigned integer") return 0x1e0;
    if (kind == "integral") return 0x1fe;
    if (kind == "real floating") return 0x1e00;
    if (kind == "complex floating") return 0x6000;
    if (kind == "numeric") return 0x7ffe;
    raise<ValueError>({"isdtype: no kind of types '", kind, "'"});
  }
  unsigned members_;
};
constexpr bool isdtype(DType d, DTypeKind kind) { return kind.has(d); }
// Of one of several kinds: isdtype(d, {"bool", "integral"}). Throws ValueError for an unknown kind.
constexpr bool isdtype(DType d, std::initializer_list<DTypeKind> kinds) {
  for (const DTypeKind& kind : kinds)
    if (kind.has(d)) return true;
  return false;
}

namespace detail {

constexpr bool is_signed_integer(DType d) { return signedinteger.has(d); }
// How many bits hold every integer of the type, without the sign.
constexpr int integer_bits(DType d) {
  return d == DType::boolean ? 1 : static_cast<int>(8 * dtype_size(d)) - (is_signed_integer(d) ? 1 : 0);
}

// Does every value survive? (NumPy counts 64-bit integers as safe in a double.)
constexpr bool is_safe_cast(DType from, DType to) {
  if (from == to || from == DType::boolean) return true;
  const Kind a = dtype_kind(from), b = dtype_kind(to);
  if (a > b) return false;
  if (a == Kind::integer && b == Kind::integer) {
    if (is_signed_integer(from) && !is_signed_integer(to)) return false;
    return integer_bits(from) <= integer_bits(to);
  }
  if (a == Kind::integer) {
    const std::size_t part = b == Kind::complex ? dtype_size(to) / 2 : dtype_size(to);
    return part == 8 || dtype_size(from) < part;
  }
  if (a == Kind::floating && b == Kind::floating) return dtype_size(from) < dtype_size(to);
  if (a == Kind::floating) return dtype_size(from) <= dtype_size(to) / 2;
  return dtype_size(from) <= dtype_size(to);
}

// NumPy's order of kinds: bool, unsigned, signed, floating, complex.
constexpr int kind_order(DType d) {
  switch (dtype_kind(d)) {
    case Kind::boolean:
      return 0;
    case Kind::integer:
      return is_signed_integer(d) ? 2 : 1;
    case Kind::floating:
      return 3;
    case Kind::complex:
      break;
  }
  return 4;
}

}  // namespace detail

struct CastingOptions {
  std::string_view casting = "safe";  // or "no", "equiv", "same_kind", "unsafe"
};
// May the one type become the other by this rule of NumPy's?. Throws ValueError for an unknown casting.
constexpr bool can_cast(DType from, DType to, const CastingOptions& options = {}) {
  if (options.casting == "no" || options.casting == "equiv") return from == to;
  if (options.casting == "safe") return detail::is_safe_cast(from, to);
  if (options.casting == "same_kind")
    return detail::is_safe_cast(from, to) || detail::kind_order(from) <= detail::kind_order(to);
  if (options.casting == "unsafe") return true;
  raise<ValueError>(
      {"can_cast: casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe', not '",
       options.casting, "'"});
}

namespace detail {

// The type of a list of operands: arrays and types count in full, C++ numbers by their kind.
struct ResultType {
  bool any = false, weak = false;
  DType strong = DType::boolean;
  Kind kind = Kind::boolean;

  template <class X>
  constexpr void add(const X& x) {
    if constexpr (std::is_same_v<X, DType>) {
      strong = any ? promote(strong, x) : x, any = true;
    } else if constexpr (ArrayLike<X>) {
      add(dtype_of<typename X::value_type>);
    } else {
      static_assert(Scalar<X>, "result_type: arrays, numbers and DTypes");
      kind = weak && kind > scalar_kind<X>() ? kind : scalar_kind<X>(), weak = true;
    }
  }
  constexpr DType get() const {
    if (!weak) return strong;
    return weak_promote(any ? strong : DType::boolean, kind);
  }
};

}  // namespace detail

// The type in which these operands meet: arrays, expressions, C++ numbers (which are weak), DTypes. Other
// arguments do not compile.
template <class First, class... X>
constexpr DType result_type(const First& first, const X&... x) {
  detail::ResultType type;
  type.add(first);
  (type.add(x), ...);
  return type.get();
}

// The limits of a floating or complex type: finfo<float>::eps, finfo<float>().eps, finfo(x).eps.
template <class T>
struct finfo {
  using real = real_t<T>;
  static_assert(is_inexact_v<T>, "finfo: floating and complex types only");
  using limits = std::numeric_limits<real>;

  constexpr finfo() = default;
  template <detail::ArrayLike X>
  explicit constexpr finfo(const X&) {}

  static constexpr DType dtype = dtype_of<real>;
  static constexpr int bits = static_cast<int>(8 * sizeof(real));
  static constexpr int nmant = limits::digits - 1, nexp = bits - limits::digits;
  static constexpr int machep = -nmant, negep = -limits::digits;
  static constexpr int minexp = limits::min_exponent - 1, maxexp = limits::max_exponent;
  static constexpr int precision = nmant * 30103 / 100000;
  static constexpr real eps = limits::epsilon(), max = limits::max(), min = limits::lowest();
  static constexpr real tiny = limits::min(), smallest_normal = limits::min(),
                        smallest_subnormal = limits::denorm_min();
  static inline const real epsneg = static_cast<real>(std::ldexp(1.0, negep));
  static inline const real resolution = static_cast<real>(std::pow(10.0, -precision));
};
// The facts about a floating-point type: eps, max, tiny and so on. Other types do not compile.
template <detail::ArrayLike X>
finfo(const X&) -> finfo<typename X::value_type>;

// The limits of an integer type: iinfo<int>::max, iinfo<int>().max, iinfo(x).max.
template <class T>
struct iinfo {
  static_assert(is_integer_v<T>, "iinfo: integer types only");

  constexpr iinfo() = default;
  template <detail::ArrayLike X>
  explicit constexpr iinfo(const X&) {}

  static constexpr DType dtype = dtype_of<element_t<T>>;
  static constexpr int bits = static_cast<int>(8 * sizeof(T));
  static constexpr T min = std::numeric_limits<T>::min(), max = std::numeric_limits<T>::max();
};
// The range of an integer type. Other types do not compile.
template <detail::ArrayLike X>
iinfo(const X&) -> iinfo<typename X::value_type>;

// Is the element type complex? (Whatever the elements are: iscomplex asks about those.)
template <detail::Operand X>
constexpr bool iscomplexobj(const X&) {
  if constexpr (Scalar<X>)
    return is_complex_v<X>;
  else
    return is_complex_v<typename X::value_type>;
}
// Whether the type is not complex.
template <detail::Operand X>
constexpr bool isrealobj(const X& x) {
  return !iscomplexobj(x);
}
// A C++ number, or, as in JAX, an array without axes.
template <class X>
constexpr bool isscalar(const X& x) {
  if constexpr (detail::ArrayLike<X>)
    return x.shape().size() == 0;
  else
    return Scalar<X>;
}
// Can one walk over it? Over arrays that have axes.
template <class X>
constexpr bool iterable(const X& x) {
  if constexpr (detail::ArrayLike<X>)
    return x.shape().size() > 0;
  else
    return requires { std::begin(x); };
}

// x.ndim(), x.shape() and x.size() as functions; of a number 0, () and 1.
template <detail::Operand X>
int ndim(const X& x) {
  if constexpr (Scalar<X>)
    return 0;
  else
    return static_cast<int>(x.shape().size());
}
// The shape of an array. Throws IndexError if `axis` is out of bounds.
template <detail::Operand X>
Shape shape(const X& x) {
  if constexpr (Scalar<X>)
    return Shape();
  else
    return x.shape();
}
struct SizeOptions {
  Axis axis = {};  // the extent of this axis, or the product of several; of all when not given
};
// The number of elements, or the extent of an axis. Throws IndexError if an axis is out of bounds, and
// ValueError if one repeats.
template <detail::Operand X>
std::int64_t size(const X& x, const SizeOptions& options = {}) {
  const Shape extents = nax::shape(x);
  std::int64_t n = 1;
  for (const std::int64_t axis :
       detail::normalize_axes("size", options.axis, static_cast<int>(extents.size())))
    n *= extents[static_cast<std::size_t>(axis)];
  return n;
}

NAX_END
