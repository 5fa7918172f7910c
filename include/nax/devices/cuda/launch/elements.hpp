#pragma once

#include <cstdlib>
#include <limits>
#include <type_traits>

#include "nax/core/dtype.hpp"
#include "nax/core/error.hpp"
#include "nax/core/half.hpp"
#include "nax/core/to_integer.hpp"

// Elements of any real dtype in kernels that are compiled once for all: the dtype is data, and the same for
// all threads.
NAX_BEGIN
namespace cuda {

// Ends a switch whose cases all return. Such a switch has no default, so that the compiler names the
// enumerators that it forgets; only a value outside the enum comes here, and ends the program or the kernel.
template <class Enum>
[[noreturn]] constexpr void no_such_value(Enum) {
#if defined(__CUDA_ARCH__)
  __trap();
#else
  std::abort();
#endif
}

// The type in which elements of a dtype are computed with.
enum class Wide { f32, f64, i64, u64 };

// Precondition: a real dtype.
constexpr Wide wide_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
      return Wide::f32;
    case DType::float64:
      return Wide::f64;
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return Wide::i64;
    case DType::boolean:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
      return Wide::u64;
    case DType::complex64:
    case DType::complex128:
      break;
  }
  no_such_value(dtype);
}

// f(type_identity of the element type) for a real dtype.
template <class F>
constexpr decltype(auto) with_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::boolean:
      return f(std::type_identity<bool>());
    case DType::int8:
      return f(std::type_identity<std::int8_t>());
    case DType::int16:
      return f(std::type_identity<std::int16_t>());
    case DType::int32:
      return f(std::type_identity<std::int32_t>());
    case DType::int64:
      return f(std::type_identity<std::int64_t>());
    case DType::uint8:
      return f(std::type_identity<std::uint8_t>());
    case DType::uint16:
      return f(std::type_identity<std::uint16_t>());
    case DType::uint32:
      return f(std::type_identity<std::uint32_t>());
    case DType::uint64:
      return f(std::type_identity<std::uint64_t>());
    case DType::float16:
      return f(std::type_identity<half>());
    case DType::bfloat16:
      return f(std::type_identity<bfloat16>());
    case DType::float64:
      return f(std::type_identity<double>());
    case DType::float32:
      return f(std::type_identity<float>());
    case DType::complex64:
    case DType::complex128:
      break;
  }
  no_such_value(dtype);
}
// Throws DeviceError, on the host, for a dtype that kernels cannot load.
inline void check_real(DType dtype) {
  if (dtype_kind(dtype) == Kind::complex)
    raise<DeviceError>({"a computation with ", dtype_name(dtype),
                        " has no form for the GPU; do it on the CPU: device_put(x, devices(\"cpu\")[0])"});
}
// f(type_identity of the wide type) for a dtype. Throws DeviceError for a complex one.
template <class F>
decltype(auto) with_wide(DType dtype, const F& f) {
  check_real(dtype);
  const Wide wide = wide_of(dtype);
  switch (wide) {
    case Wide::f32:
      return f(std::type_identity<float>());
    case Wide::f64:
      return f(std::type_identity<double>());
    case Wide::i64:
      return f(std::type_identity<std::int64_t>());
    case Wide::u64:
      return f(std::type_identity<std::uint64_t>());
  }
  no_such_value(wide);
}

// The wide type of an element type.
template <class T>
using wide_t = std::conditional_t<is_floating_v<T>, std::conditional_t<sizeof(T) == 8, double, float>,
                                  std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <class A>
struct LoadAs {
  const char* at;
  template <class T>
  constexpr A operator()(std::type_identity<T>) const {
    if constexpr (sizeof(T) == 2 && is_floating_v<T>)
      return static_cast<A>(static_cast<float>(*reinterpret_cast<const T*>(at)));
    else
      return static_cast<A>(*reinterpret_cast<const T*>(at));
  }
};
// A may be a complex type, whose value_type is that of its parts: it reads elements of all dtypes.
template <class A>
constexpr A load_as(DType stored, const char* at) {
  if constexpr (is_complex_v<A>) {
    using R = typename A::value_type;
    if (stored == DType::complex64) {
      const float* const parts = reinterpret_cast<const float*>(at);
      return A(static_cast<R>(parts[0]), static_cast<R>(parts[1]));
    }
    if (stored == DType::complex128) {
      const double* const parts = reinterpret_cast<const double*>(at);
      return A(static_cast<R>(parts[0]), static_cast<R>(parts[1]));
    }
    return A(with_type(stored, LoadAs<R>{at}));
  } else {
    return with_type(stored, LoadAs<A>{at});
  }
}

template <class A>
struct StoreAs {
  char* at;
  A value;
  template <class T>
  constexpr void operator()(std::type_identity<T>) const {
    if constexpr (std::is_same_v<T, bool>)
      *reinterpret_cast<T*>(at) = value != A(0);
    else if constexpr (std::is_floating_point_v<A> && std::is_integral_v<T>)
      *reinterpret_cast<T*>(at) = to_integer<T>(value);
    else
      *reinterpret_cast<T*>(at) = static_cast<T>(value);
  }
};
// Precondition: a complex value is stored as a complex element of its parts' type.
template <class A>
constexpr void store_as(DType stored, char* at, A value) {
  if constexpr (is_complex_v<A>)
    *reinterpret_cast<A*>(at) = value;
  else
    with_type(stored, StoreAs<A>{at, value});
}

}  // namespace cuda
NAX_END
