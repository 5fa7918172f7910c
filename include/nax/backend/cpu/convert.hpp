#pragma once

#include <complex>
#include <cstdint>
#include <cstring>

#include "nax/core/dtype.hpp"

// Strided copies of a run of elements, converting on the way: how tiles are filled from operands that a
// kernel cannot read directly, and results written to where they belong.
namespace nax::cpu {

// Strides are in elements; 0 repeats one element.
using ConvertFn = void (*)(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride,
                           std::int64_t n);

template <class From, class To>
constexpr To convert_element(const From& x) {
  if constexpr (is_complex_v<From> && !is_complex_v<To>) {
    if constexpr (std::is_same_v<To, bool>)
      return x != From(0);
    else
      return static_cast<To>(x.real());
  } else if constexpr (is_complex_v<To> && !is_complex_v<From>) {
    return To(static_cast<real_t<To>>(x));
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<real_t<To>>(x.real()), static_cast<real_t<To>>(x.imag()));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void convert_run(const void* from_, std::int64_t fs, void* to_, std::int64_t ts, std::int64_t n) {
  const From* from = static_cast<const From*>(from_);
  To* to = static_cast<To*>(to_);
  if (fs == 0) {
    const To value = convert_element<From, To>(*from);
    if (ts == 1)
      for (std::int64_t i = 0; i < n; ++i) to[i] = value;
    else
      for (std::int64_t i = 0; i < n; ++i) to[i * ts] = value;
  } else if (fs == 1 && ts == 1) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = convert_element<From, To>(from[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * ts] = convert_element<From, To>(from[i * fs]);
  }
}

namespace detail {

// Same type: bytes move, whatever they mean.
// (may_alias, of structs since template arguments lose it otherwise: the units stand for elements of any
// type.)
template <class Word>
struct [[gnu::may_alias]] Unit {
  Word word;
};
using Unit8 = Unit<std::uint8_t>;
using Unit16 = Unit<std::uint16_t>;
using Unit32 = Unit<std::uint32_t>;
using Unit64 = Unit<std::uint64_t>;
struct [[gnu::may_alias]] Unit128 {
  std::uint64_t words[2];
};
template <class U>
void copy_run(const void* from_, std::int64_t fs, void* to_, std::int64_t ts, std::int64_t n) {
  const U* from = static_cast<const U*>(from_);
  U* to = static_cast<U*>(to_);
  if (fs == 1 && ts == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(U));
  } else if (fs == 0 && ts == 1) {
    const U value = *from;
    for (std::int64_t i = 0; i < n; ++i) to[i] = value;
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * ts] = from[i * fs];
  }
}
inline ConvertFn copier(std::size_t size) {
  switch (size) {
    case 1:
      return copy_run<Unit8>;
    case 2:
      return copy_run<Unit16>;
    case 4:
      return copy_run<Unit32>;
    case 8:
      return copy_run<Unit64>;
    default:
      return copy_run<Unit128>;
  }
}

}  // namespace detail

// The run converter for the pairs that kernels read and write through; null for others (astype is a kernel of
// its own).
inline ConvertFn converter(DType from, DType to) {
  if (from == to) return detail::copier(dtype_size(from));
  if (from == DType::boolean)
    return to == DType::float32   ? convert_run<bool, float>
           : to == DType::float64 ? convert_run<bool, double>
                                  : nullptr;
  if (from == DType::float16 && to == DType::float32) return convert_run<half, float>;
  if (from == DType::bfloat16 && to == DType::float32) return convert_run<bfloat16, float>;
  if (from == DType::float32 && to == DType::float16) return convert_run<float, half>;
  if (from == DType::float32 && to == DType::bfloat16) return convert_run<float, bfloat16>;
  if (from == DType::float32 && to == DType::boolean) return convert_run<float, bool>;
  if (from == DType::float64 && to == DType::boolean) return convert_run<double, bool>;
  return nullptr;
}

}  // namespace nax::cpu
