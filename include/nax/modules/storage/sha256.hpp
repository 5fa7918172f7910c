#pragma once

#if defined(__x86_64__) && !defined(__CUDACC__)
#include <cpuid.h>

#include "nax/core/intrinsics.hpp"
#endif

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "nax/core/abi.hpp"

// SHA-256 (FIPS 180-4) and HMAC (RFC 2104), for signing requests and for checksums of objects. By the
// processor's instructions where it has them, which is seen at run time.
NAX_BEGIN
namespace storage::detail {

using Digest = std::array<std::uint8_t, 32>;

namespace sha256_rounds {

inline std::uint32_t rotate(std::uint32_t x, int n) { return x >> n | x << (32 - n); }
// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
inline constexpr std::uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline void mix(std::uint32_t (&state)[8], const std::uint8_t* block) {
  std::uint32_t w[64];
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
           std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
           (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  // Eight rounds turn the roles of the words once around, so that none of them is moved.
  auto [a, b, c, d, e, f, g, h] = state;
  const auto round = [&w](std::uint32_t s0, std::uint32_t s1, std::uint32_t s2, std::uint32_t& s3,
                          std::uint32_t s4, std::uint32_t s5, std::uint32_t s6, std::uint32_t& s7,
                          std::size_t i) {
    s7 += (rotate(s4, 6) ^ rotate(s4, 11) ^ rotate(s4, 25)) + (s6 ^ (s4 & (s5 ^ s6))) + constants[i] + w[i];
    s3 += s7;
    s7 += (rotate(s0, 2) ^ rotate(s0, 13) ^ rotate(s0, 22)) + ((s0 & s1) | (s2 & (s0 | s1)));
  };
  for (std::size_t i = 0; i < 64; i += 8) {
    round(a, b, c, d, e, f, g, h, i), round(h, a, b, c, d, e, f, g, i + 1);
    round(g, h, a, b, c, d, e, f, i + 2), round(f, g, h, a, b, c, d, e, i + 3);
    round(e, f, g, h, a, b, c, d, i + 4), round(d, e, f, g, h, a, b, c, i + 5);
    round(c, d, e, f, g, h, a, b, i + 6), round(b, c, d, e, f, g, h, a, i + 7);
  }
  const std::uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += sums[i];
}

inline void mix_all(std::uint32_t (&state)[8], const std::uint8_t* blocks, std::size_t count) {
  for (; count > 0; --count, blocks += 64) mix(state, blocks);
}

#if defined(__x86_64__) && !defined(__CUDACC__)
inline bool has_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned sha = 1u << 29;
  return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & sha) != 0;
}
// The instructions keep the words as (f, e, b, a) and (h, g, d, c), and make two rounds each.
__attribute__((target("sha,sse4.1"))) inline void mix_by_instruction(std::uint32_t (&state)[8],
                                                                     const std::uint8_t* blocks,
                                                                     std::size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* const words = reinterpret_cast<__m128i*>(state);
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i low = _mm_alignr_epi8(badc, high, 8);
  high = _mm_blend_epi16(high, badc, 0xf0);
  for (; count > 0; --count, blocks += 64) {
    const __m128i low_before = low, high_before = high;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i), big_endian);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const __m128i k = _mm_loadu_si128(reinterpret_cast<const __m128i*>(constants) + i);
      const __m128i four = _mm_add_epi32(w[i % 4], k);
      high = _mm_sha256rnds2_epu32(high, low, four);
      low = _mm_sha256rnds2_epu32(low, high, _mm_shuffle_epi32(four, 0x0e));
      if (i >= 12) continue;
      const __m128i last = w[(i + 3) % 4];
      const __m128i begun = _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]),
                                          _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
      w[i % 4] = _mm_sha256msg2_epu32(begun, last);
    }
    low = _mm_add_epi32(low, low_before), high = _mm_add_epi32(high, high_before);
  }
  const __m128i feba = _mm_shuffle_epi32(low, 0x1b), dchg = _mm_shuffle_epi32(high, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#endif

using MixAll = void(std::uint32_t (&)[8], const std::uint8_t*, std::size_t);
inline MixAll* fastest() {
#if defined(__x86_64__) && !defined(__CUDACC__)
  if (has_instructions()) return mix_by_instruction;
#endif
  return mix_all;
}

}  // namespace sha256_rounds

class Sha256 {
 public:
  explicit Sha256(sha256_rounds::MixAll* mix = nullptr) {
    static sha256_rounds::MixAll* const fastest = sha256_rounds::fastest();
    mix_ = mix ? mix : fastest;
  }
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    total_ += size;
    while (size > 0) {
      if (filled_ == 0 && size >= 64) {
        mix_(state_, bytes, size / 64);
        bytes += size / 64 * 64, size %= 64;
        continue;
      }
      const std::size_t n = size < 64 - filled_ ? size : 64 - filled_;
      std::memcpy(block_ + filled_, bytes, n);
      filled_ += n, bytes += n, size -= n;
      if (filled_ == 64) mix_(state_, block_, 1), filled_ = 0;
    }
  }
  Digest finish() {
    const std::uint64_t bits = total_ * 8;
    const std::uint8_t one = 0x80, zero = 0;
    add(&one, 1);
    while (filled_ != 56) add(&zero, 1);
    std::uint8_t length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
    add(length, 8);
    Digest digest;
    for (std::size_t i = 0; i < 32; ++i)
      digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
  }

 private:
  std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::uint8_t block_[64];
  sha256_rounds::MixAll* mix_;
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

inline Digest sha256(std::string_view text) {
  Sha256 hash;
  hash.add(text.data(), text.size());
  return hash.finish();
}
inline std::string hex(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}
inline std::string_view as_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
inline Digest hmac(std::string_view key, std::string_view text) {
  std::uint8_t inner[64] = {}, outer[64];
  if (key.size() > 64) {
    const Digest digest = sha256(key);
    std::memcpy(inner, digest.data(), digest.size());
  } else if (!key.empty()) {
    std::memcpy(inner, key.data(), key.size());
  }
  for (int i = 0; i < 64; ++i) outer[i] = inner[i] ^ 0x5c, inner[i] ^= 0x36;
  Sha256 hash, again;
  hash.add(inner, 64);
  hash.add(text.data(), text.size());
  const Digest digest = hash.finish();
  again.add(outer, 64);
  again.add(digest.data(), digest.size());
  return again.finish();
}

}  // namespace storage::detail
NAX_END
