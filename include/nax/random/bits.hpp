#pragma once

#include "nax/random/key.hpp"

NAX_BEGIN
namespace random {
namespace detail {

template <class U>
void fill_bits(std::uint64_t key, std::uint64_t first, std::int64_t n, U* out) {
  if constexpr (sizeof(U) >= 4) {
    cpu::random_bits(key, first, n, out);
  } else {
    cpu::for_each_block(key, first, n,
                        [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                          for (int i = 0; i < count; ++i) out[at + i] = static_cast<U>(x[i] ^ y[i]);
                        });
  }
}

}  // namespace detail

// Uniformly distributed bits, as unsigned integers.
template <class U = std::uint32_t>
requires(is_integer_v<U> && !std::is_signed_v<U>) Array<U> bits(const Key& key, const Shape& shape = {}) {
  return detail::draw<U>("bits", key, shape, detail::Draw(), detail::fill_bits<U>);
}

}  // namespace random
NAX_END
