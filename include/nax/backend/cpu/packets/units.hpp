#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "nax/core/abi.hpp"

// Elements as so many bytes, whatever they mean: a few instances of a copy serve every type.
// (may_alias, of structs since template arguments lose it otherwise: they stand for elements of any type.)
NAX_BEGIN
namespace cpu {

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

namespace detail {
// to[i] = from[i stride], with a stride that the compiler knows, a line at a time: reading backward or every
// other element is a matter of shuffles then.
template <int stride, class U>
void copy_strided(const U* from, U* to, std::int64_t n) {
  constexpr int line = 64 / sizeof(U);
  std::int64_t i = 0;
  for (; i + line <= n; i += line) {
    U held[line];
    for (int j = 0; j < line; ++j) held[j] = from[(i + j) * stride];
    std::memcpy(to + i, held, sizeof held);
  }
  const std::int64_t rest = n - i;
  for (int j = 0; j < line && j < rest; ++j) to[i + j] = from[(i + j) * stride];
}
}  // namespace detail

// Strides are in elements; 0 repeats one element.
template <class U>
void copy_run(const void* from_, std::int64_t from_stride, void* to_, std::int64_t to_stride,
              std::int64_t n) {
  const U* from = static_cast<const U*>(from_);
  U* to = static_cast<U*>(to_);
  if (to_stride != 1) {
    for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
  } else if (from_stride == 1) {
    if (n < 16)
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
    else
      std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(U));
  } else if (from_stride == 0) {
    const U value = *from;  // of its own: the compiler must not think that writing changes it
    for (std::int64_t i = 0; i < n; ++i) to[i] = value;
  } else if (from_stride == -1) {
    detail::copy_strided<-1>(from, to, n);
  } else if (from_stride == 2) {
    detail::copy_strided<2>(from, to, n);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * from_stride];
  }
}

}  // namespace cpu
NAX_END
