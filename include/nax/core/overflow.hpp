#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "nax/core/abi.hpp"
#include "nax/core/compiler.hpp"

// Arithmetic of integers of 64 bits whose results may not fit.
NAX_BEGIN
namespace detail {

// Whether the sum does not fit; its low bits go to `sum`.
template <std::integral T>
bool add_overflows(T a, std::type_identity_t<T> b, T& sum) {
  static_assert(sizeof(T) == 8);
#if defined(NAX_MSVC)
  sum = static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  if constexpr (std::is_signed_v<T>)
    return ((a ^ sum) & (b ^ sum)) < 0;
  else
    return sum < a;
#else
  return __builtin_add_overflow(a, b, &sum);
#endif
}
// Whether the product does not fit; its low bits go to `product`.
template <std::integral T>
bool multiply_overflows(T a, std::type_identity_t<T> b, T& product) {
  static_assert(sizeof(T) == 8);
#if defined(NAX_MSVC)
  product = static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  if constexpr (std::is_signed_v<T>)
    return __mulh(a, b) != product >> 63;
  else
    return __umulh(a, b) != 0;
#else
  return __builtin_mul_overflow(a, b, &product);
#endif
}

// The upper 64 of a product's 128 bits.
inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
#if defined(NAX_MSVC)
  return __umulh(a, b);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#endif
}

}  // namespace detail
NAX_END
