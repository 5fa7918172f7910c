#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "nax/backend/cpu/packets/convert_packets.hpp"
#include "nax/backend/cpu/packets/units.hpp"
#include "nax/core/dtype.hpp"
#include "nax/core/to_integer.hpp"

// Strided copies of a run of elements, converting on the way: how tiles are filled from operands that a
// kernel cannot read directly, and results written to where they belong.
NAX_BEGIN
namespace cpu {

// Strides are in elements; 0 repeats one element.
using ConvertFn = void (*)(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride,
                           std::int64_t n);

template <class From, class To>
constexpr To convert_element(const From& x) {
  if constexpr (is_complex_v<From> && !is_complex_v<To>) {
    if constexpr (std::is_same_v<To, bool>)
      return x != From(0);
    else
      return convert_element<real_t<From>, To>(x.real());
  } else if constexpr (is_complex_v<To> && !is_complex_v<From>) {
    return To(static_cast<real_t<To>>(x));
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<real_t<To>>(x.real()), static_cast<real_t<To>>(x.imag()));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return to_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

namespace detail {

// Same type: bytes move.
NAX_ENGINE ConvertFn copier(std::size_t size);

template <class From, class To>
[[gnu::noinline]] void convert_contiguous(const void* from, void* to, std::int64_t n) {
  if constexpr (PacketConversion<From, To>::width > 0) {
    convert_by_packets(static_cast<const From*>(from), static_cast<To*>(to), n);
  } else {
    // Truth values are read as bytes: the compiler vectorises no loop over bool.
    using Read = std::conditional_t<std::is_same_v<From, bool>, unsigned char, From>;
    for (std::int64_t i = 0; i < n; ++i)
      static_cast<To*>(to)[i] = convert_element<Read, To>(static_cast<const Read*>(from)[i]);
  }
}

// Only contiguous runs are converted; strides are the business of copies before and after.
NAX_COMPILED_ONCE void convert_strided(const char* from, std::int64_t from_stride, std::size_t from_size,
                                       char* to, std::int64_t to_stride, std::size_t to_size, std::int64_t n,
                                       void (*convert)(const void*, void*, std::int64_t)) {
  constexpr std::int64_t piece = 64;
  alignas(64) char source[16 * piece], target[16 * piece];
  if (from_stride == 0) {
    convert(from, target, 1);
    return copier(to_size)(target, 0, to, to_stride, n);
  }
  for (std::int64_t done = 0; done < n; done += piece) {
    const std::int64_t some = std::min(piece, n - done);
    copier(from_size)(from + done * from_stride * static_cast<std::int64_t>(from_size), from_stride, source,
                      1, some);
    convert(source, target, some);
    copier(to_size)(target, 1, to + done * to_stride * static_cast<std::int64_t>(to_size), to_stride, some);
  }
}

}  // namespace detail

template <class From, class To>
void convert_run(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride,
                 std::int64_t n) {
  if (n == 0) return;
  if (from_stride == 1 && to_stride == 1) return detail::convert_contiguous<From, To>(from, to, n);
  detail::convert_strided(static_cast<const char*>(from), from_stride, sizeof(From), static_cast<char*>(to),
                          to_stride, sizeof(To), n, detail::convert_contiguous<From, To>);
}

// The run converter for the pairs that kernels read and write through; null for others (astype is a kernel of
// its own).
NAX_ENGINE ConvertFn converter(DType from, DType to);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/packets/convert-inl.hpp"
#endif
