#pragma once

#include "nax/backend/cpu/threefry.hpp"

NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {

NAX_ENGINE void random_bits(std::uint64_t key, std::uint64_t first, std::int64_t n, std::uint32_t* out) {
  for_each_block(key, first, n,
                 [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                   for (int i = 0; i < count; ++i) out[at + i] = x[i] ^ y[i];
                 });
}

NAX_ENGINE void random_bits(std::uint64_t key, std::uint64_t first, std::int64_t n, std::uint64_t* out) {
  for_each_block(key, first, n,
                 [=](const std::uint32_t* x, const std::uint32_t* y, std::int64_t at, auto count) {
                   for (int i = 0; i < count; ++i) out[at + i] = word_pair({x[i], y[i]});
                 });
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
