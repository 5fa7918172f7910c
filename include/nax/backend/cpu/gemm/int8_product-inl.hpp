#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "nax/backend/cpu/gemm/gemm_types.hpp"
#include "nax/backend/cpu/gemm/int8_product.hpp"
#include "nax/backend/cpu/packets/packet.hpp"
#include "nax/core/thread_pool.hpp"
#include "nax/rules/activations.hpp"

NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {
namespace int8 {

inline constexpr std::int64_t panel = Int8Weights::panel;
inline constexpr std::int64_t block = 16;  // floats that become codes at once

template <class T>
T load_bytes(const void* from) {
  T word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// The arithmetic of an instruction set. `lanes` columns are a vector; a tile has up to `tall` rows and `wide`
// vectors, or one row and `longest` vectors. Code: an element of a row, `zero` its code of 0.
//   largest(x): the largest bits of 16 floats without signs, joined with those before
//   encode(x, factors, to): 16 codes
//   dots<rows, vectors>(steps, x, stride, w, step, offsets, to): sums over `steps` steps of four codes
#if defined(NAX_AVX512) && defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512VL__)

using Code = std::uint8_t;
inline constexpr Code zero = 128;
inline constexpr int lanes = 16, tall = 6, wide = 4, longest = 4;

using Bits = __m512i;
inline Bits no_bits() { return _mm512_setzero_si512(); }
inline Bits largest(Bits so_far, const float* x) {
  return _mm512_max_epi32(so_far, _mm512_and_si512(_mm512_loadu_si512(x), _mm512_set1_epi32(0x7fff'ffff)));
}
inline std::int32_t largest(Bits x) { return _mm512_reduce_max_epi32(x); }
inline void encode(const float* x, float before, float factor, Code* to) {
  const __m512 scaled =
      _mm512_mul_ps(_mm512_mul_ps(_mm512_loadu_ps(x), _mm512_set1_ps(before)), _mm512_set1_ps(factor));
  const __m128i codes = _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(scaled));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_xor_si128(codes, _mm_set1_epi8(-128)));
}

template <int rows, int vectors>
[[gnu::always_inline]] inline void add_step(const Code* x, std::int64_t stride, const std::int8_t* w,
                                            __m512i (&sums)[rows][vectors]) {
  __m512i right[vectors];
  NAX_UNROLL
  for (int v = 0; v < vectors; ++v) right[v] = _mm512_loadu_si512(w + v * 4 * lanes);
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    const __m512i left = _mm512_set1_epi32(load_bytes<std::int32_t>(x + i * stride));
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v)  // GCC 12 moves sums around the intrinsic through memory
      asm("vpdpbusd %2, %1, %0" : "+v"(sums[i][v]) : "v"(left), "v"(right[v]));
  }
}

template <int rows, int vectors>
void dots(std::int64_t steps, const Code* x, std::int64_t stride, const std::int8_t* w, std::int64_t step,
          const std::int32_t* offsets, float* to) {
  constexpr int sets = rows * vectors < 8 ? 2 : 1;  // enough sums in flight
  __m512i sums[sets][rows][vectors];
  NAX_UNROLL
  for (int s = 0; s < sets; ++s) {
    NAX_UNROLL
    for (int i = 0; i < rows; ++i) {
      NAX_UNROLL
      for (int v = 0; v < vectors; ++v)
        sums[s][i][v] = s == 0 ? _mm512_loadu_si512(offsets + v * lanes) : _mm512_setzero_si512();
    }
  }
  for (std::int64_t at = sets; at <= steps; at += sets) {
    NAX_UNROLL
    for (int s = 0; s < sets; ++s, x += 4, w += step) add_step<rows, vectors>(x, stride, w, sums[s]);
  }
  if (sets == 2 && steps % 2 != 0) add_step<rows, vectors>(x, stride, w, sums[0]);
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v) {
      __m512i sum = sums[0][i][v];
      if constexpr (sets == 2) sum = _mm512_add_epi32(sum, sums[1][i][v]);
      _mm512_storeu_ps(to + i * panel + v * lanes, _mm512_cvtepi32_ps(sum));
    }
  }
}

#else

#if defined(NAX_AVX2)

using Bits = __m256i;
inline Bits no_bits() { return _mm256_setzero_si256(); }
inline Bits largest(Bits so_far, const float* x) {
  for (int i = 0; i < block; i += 8)
    so_far =
        _mm256_max_epi32(so_far, _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)),
                                                  _mm256_set1_epi32(0x7fff'ffff)));
  return so_far;
}
inline std::int32_t largest(Bits x) {
  std::int32_t all[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(all), x);
  return *std::max_element(all, all + 8);
}

#else

using Bits = std::int32_t;
inline Bits no_bits() { return 0; }
inline Bits largest(Bits so_far, const float* x) {
  for (int i = 0; i < block; ++i) so_far = std::max(so_far, load_bytes<std::int32_t>(x + i) & 0x7fff'ffff);
  return so_far;
}
inline std::int32_t largest(Bits x) { return x; }

#endif

#if defined(NAX_SSE2)

// 16 codes as two registers of 16-bit integers.
inline void encode_words(const float* x, float before, float factor, __m128i (&words)[2]) {
  const auto four = [&](const float* from) {
    return _mm_cvtps_epi32(
        _mm_mul_ps(_mm_mul_ps(_mm_loadu_ps(from), _mm_set1_ps(before)), _mm_set1_ps(factor)));
  };
  words[0] = _mm_packs_epi32(four(x), four(x + 4));
  words[1] = _mm_packs_epi32(four(x + 8), four(x + 12));
}

#endif

#if defined(NAX_AVX2) && defined(__AVXVNNI__)

using Code = std::uint8_t;
inline constexpr Code zero = 128;
inline constexpr int lanes = 8, tall = 6, wide = 2, longest = 8;

inline void encode(const float* x, float before, float factor, Code* to) {
  __m128i words[2];
  encode_words(x, before, factor, words);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm_xor_si128(_mm_packs_epi16(words[0], words[1]), _mm_set1_epi8(-128)));
}

template <int rows, int vectors>
void dots(std::int64_t steps, const Code* x, std::int64_t stride, const std::int8_t* w, std::int64_t step,
          const std::int32_t* offsets, float* to) {
  __m256i sums[rows][vectors];
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v)
      sums[i][v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets + v * lanes));
  }
  for (; steps > 0; --steps, x += 4, w += step) {
    __m256i right[vectors];
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v)
      right[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + v * 4 * lanes));
    NAX_UNROLL
    for (int i = 0; i < rows; ++i) {
      const __m256i left = _mm256_set1_epi32(load_bytes<std::int32_t>(x + i * stride));
      NAX_UNROLL
      for (int v = 0; v < vectors; ++v)
        asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums[i][v]) : "x"(left), "x"(right[v]));
    }
  }
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v)
      _mm256_storeu_ps(to + i * panel + v * lanes, _mm256_cvtepi32_ps(sums[i][v]));
  }
}

#elif defined(NAX_AVX2)

// Bytes are widened to 16 bits, whose products two by two cannot overflow.
using Code = std::int16_t;
inline constexpr Code zero = 0;
inline constexpr int lanes = 8, tall = 4, wide = 1, longest = 4;

inline void encode(const float* x, float before, float factor, Code* to) {
  __m128i words[2];
  encode_words(x, before, factor, words);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), words[0]);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 8), words[1]);
}

template <int rows, int vectors>
void dots(std::int64_t steps, const Code* x, std::int64_t stride, const std::int8_t* w, std::int64_t step,
          const std::int32_t*, float* to) {
  __m256i low[rows][vectors], high[rows][vectors];  // each of four columns, two sums a column
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v) low[i][v] = high[i][v] = _mm256_setzero_si256();
  }
  const auto widened = [](const std::int8_t* from) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  };
  for (; steps > 0; --steps, x += 4, w += step) {
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const __m256i first = widened(w + v * 4 * lanes), second = widened(w + v * 4 * lanes + 16);
      NAX_UNROLL
      for (int i = 0; i < rows; ++i) {
        const __m256i left = _mm256_set1_epi64x(load_bytes<std::int64_t>(x + i * stride));
        low[i][v] = _mm256_add_epi32(low[i][v], _mm256_madd_epi16(left, first));
        high[i][v] = _mm256_add_epi32(high[i][v], _mm256_madd_epi16(left, second));
      }
    }
  }
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const __m256i sums = _mm256_permute4x64_epi64(_mm256_hadd_epi32(low[i][v], high[i][v]), 0b11'01'10'00);
      _mm256_storeu_ps(to + i * panel + v * lanes, _mm256_cvtepi32_ps(sums));
    }
  }
}

#else

using Code = std::int8_t;
inline constexpr Code zero = 0;

#if defined(NAX_NEON)

inline void encode(const float* x, float before, float factor, Code* to) {
  const auto four = [&](const float* from) {
    return vqmovn_s32(vcvtnq_s32_f32(vmulq_n_f32(vmulq_n_f32(vld1q_f32(from), before), factor)));
  };
  vst1q_s8(to, vcombine_s8(vqmovn_s16(vcombine_s16(four(x), four(x + 4))),
                           vqmovn_s16(vcombine_s16(four(x + 8), four(x + 12)))));
}

#elif defined(NAX_SSE2)

inline void encode(const float* x, float before, float factor, Code* to) {
  __m128i words[2];
  encode_words(x, before, factor, words);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(words[0], words[1]));
}

#else

inline void encode(const float* x, float before, float factor, Code* to) {
  for (int i = 0; i < block; ++i) to[i] = static_cast<Code>(std::lrint(x[i] * before * factor));
}

#endif

#if defined(NAX_NEON) && defined(__ARM_FEATURE_DOTPROD)

inline constexpr int lanes = 4, tall = 6, wide = 4, longest = 8;

template <int rows, int vectors>
void dots(std::int64_t steps, const Code* x, std::int64_t stride, const std::int8_t* w, std::int64_t step,
          const std::int32_t*, float* to) {
  int32x4_t sums[rows][vectors];
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v) sums[i][v] = vdupq_n_s32(0);
  }
  for (; steps > 0; --steps, x += 4, w += step) {
    int8x16_t right[vectors];
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v) right[v] = vld1q_s8(w + v * 4 * lanes);
    NAX_UNROLL
    for (int i = 0; i < rows; ++i) {
      const int8x16_t left = vreinterpretq_s8_s32(vdupq_n_s32(load_bytes<std::int32_t>(x + i * stride)));
      NAX_UNROLL
      for (int v = 0; v < vectors; ++v) sums[i][v] = vdotq_s32(sums[i][v], left, right[v]);
    }
  }
  NAX_UNROLL
  for (int i = 0; i < rows; ++i) {
    NAX_UNROLL
    for (int v = 0; v < vectors; ++v) vst1q_f32(to + i * panel + v * lanes, vcvtq_f32_s32(sums[i][v]));
  }
}

#else

inline constexpr int lanes = 16, tall = 1, wide = 1, longest = 1;

template <int rows, int vectors>
void dots(std::int64_t steps, const Code* x, std::int64_t, const std::int8_t* w, std::int64_t step,
          const std::int32_t*, float* to) {
  static_assert(rows == 1 && vectors == 1);
  std::int32_t sums[lanes] = {};
  for (; steps > 0; --steps, x += 4, w += step)
    for (int j = 0; j < lanes; ++j)
      for (int l = 0; l < 4; ++l) sums[j] += x[l] * w[4 * j + l];
  for (int j = 0; j < lanes; ++j) to[j] = static_cast<float>(sums[j]);
}

#endif
#endif
#endif

// How floats whose largest magnitude has these bits become codes: x before factor; and the scale of a code.
struct Scaling {
  float before = 1, factor = 0, scale = 0;

  explicit Scaling(std::int32_t bits) {
    const float most = std::bit_cast<float>(bits);
    if (bits >= 0x7f80'0000) {
      scale = std::numeric_limits<float>::quiet_NaN();
    } else if (most > 0) {
      before = most < 0x1p-100f ? 0x1p100f : 1;  // 127 / most is to be finite
      factor = 127 / (most * before);
      scale = most / 127;
    }
  }
};

// Writes the codes of a row and returns its scale. Codes are 0 where the scale is 0 or NaN.
NAX_ENGINE float encode_row(std::int64_t k, const float* x, Code* to) {
  const std::int64_t whole = k / block * block, rest = k - whole, steps = (k + 3) / 4 * 4;
  float last[block] = {};
  std::copy_n(x + whole, rest, last);
  Bits bits = no_bits();
  for (std::int64_t l = 0; l < whole; l += block) bits = largest(bits, x + l);
  const Scaling by(largest(largest(bits, last)));
  if (!(by.scale > 0)) {
    std::fill_n(to, steps, zero);
    return by.scale;
  }
  for (std::int64_t l = 0; l < whole; l += block) encode(x + l, by.before, by.factor, to + l);
  Code codes[block];
  encode(last, by.before, by.factor, codes);
  std::copy_n(codes, steps - whole, to + whole);
  return by.scale;
}

// A row of sums to floats: scaled, plus bias, and the activation of that.
template <class Rule>
void finish(const float* sums, const float* scales, float scale, const float* bias, std::int64_t count,
            float* y) {
  using P = simd::Packet<float>;
  for (std::int64_t j = 0; j < count; j += P::size) {
    const std::int64_t some = std::min<std::int64_t>(P::size, count - j);
    const bool all = some == P::size;
    P value = P::load(sums + j) * (P::load(scales + j) * P(scale));
    if (bias) value = value + (all ? P::load(bias + j) : P::load(bias + j, some));
    if constexpr (!std::is_void_v<Rule>) value = Rule::value(value);
    all ? value.store(y + j) : value.store(y + j, some);
  }
}
NAX_ENGINE void finish(loops::Activation activation, const float* sums, const float* scales, float scale,
                       const float* bias, std::int64_t count, float* y) {
  switch (activation) {
    case loops::Activation::identity:
      return finish<void>(sums, scales, scale, bias, count, y);
    case loops::Activation::relu:
      return finish<rules::relu>(sums, scales, scale, bias, count, y);
    case loops::Activation::gelu:
      return finish<rules::gelu_tanh>(sums, scales, scale, bias, count, y);
    case loops::Activation::gelu_exact:
      return finish<rules::gelu>(sums, scales, scale, bias, count, y);
  }
}

struct Product {
  const Int8Weights& w;
  const float* bias;
  loops::Activation activation;
  float* y;

  // Rows from `begin` on, whose codes and scales these are, in the columns of some panels.
  void multiply(std::int64_t begin, std::int64_t end, const Code* codes, const float* scales,
                std::int64_t first, std::int64_t last) const {
    for (std::int64_t p = first; p < last; ++p) {
      std::int64_t i = begin;
      for (; i + tall <= end; i += tall) tile<tall>(p, i, codes, scales, begin);
      for (; i + 2 <= end && tall > 2; i += 2) tile<std::min(tall, 2)>(p, i, codes, scales, begin);
      for (; i < end; ++i) tile<1>(p, i, codes, scales, begin);
    }
  }

 private:
  template <int rows>
  void tile(std::int64_t p, std::int64_t i, const Code* codes, const float* scales,
            std::int64_t begin) const {
    constexpr int most = rows == 1 ? longest : wide;
    const std::int64_t steps = w.steps(), at = p * panel, width = std::min(panel, w.columns() - at);
    const std::int8_t* const from = w.codes + at * steps;
    const Code* const x = codes + (i - begin) * steps;
    alignas(64) float sums[rows * panel];
    std::int64_t j = 0;
    for (; j + most * lanes <= width; j += most * lanes)
      dots<rows, most>(steps / 4, x, steps, from + 4 * j, 4 * width, w.offsets + at + j, sums + j);
    for (; j < width; j += lanes)
      dots<rows, 1>(steps / 4, x, steps, from + 4 * j, 4 * width, w.offsets + at + j, sums + j);
    const std::int64_t count = std::min(width, w.n - at);
    for (int r = 0; r < rows; ++r)
      finish(activation, sums + r * panel, w.scales + at, scales[i - begin + r], bias ? bias + at : nullptr,
             count, y + (i + r) * w.n + at);
  }
};

}  // namespace int8

NAX_ENGINE bool pack_int8(std::int64_t k, std::int64_t n, const float* w, std::int64_t row,
                          std::int64_t column, std::int8_t* codes, float* scales, std::int32_t* offsets) {
  using namespace int8;
  const Int8Weights all{k, n};
  const std::int64_t columns = all.columns(), steps = all.steps();
  std::fill_n(codes, columns * steps, std::int8_t{0});
  std::fill_n(scales, columns, 0.f);
  std::fill_n(offsets, columns, 0);
  for (std::int64_t first = 0; first < n; first += panel) {
    const std::int64_t width = std::min(panel, columns - first), count = std::min(panel, n - first);
    const float* const from = w + first * column;
    std::int32_t most[panel] = {};
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < count; ++j)
        most[j] = std::max(most[j], std::bit_cast<std::int32_t>(from[l * row + j * column]) & 0x7fff'ffff);
    for (std::int64_t j = 0; j < count; ++j) {
      const Scaling by(most[j]);
      if (std::isnan(by.scale)) return false;
      scales[first + j] = by.scale;
      std::int8_t* const to = codes + first * steps + 4 * j;
      std::int32_t sum = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const auto code =
            static_cast<std::int8_t>(std::lrint(from[l * row + j * column] * by.before * by.factor));
        to[l / 4 * 4 * width + l % 4] = code;
        sum += code;
      }
      offsets[first + j] = -128 * sum;
    }
  }
  return true;
}

NAX_ENGINE void int8_product(std::int64_t m, const float* x, const Int8Weights& w, const float* bias,
                             loops::Activation activation, float* y) {
  using namespace int8;
  constexpr std::int64_t near_bytes = 192 * 1024, most_rows = 96, enough = 1 << 21;
  const std::int64_t steps = w.steps(), panels = (w.columns() + panel - 1) / panel,
                     bytes = steps * std::int64_t{sizeof(Code)};
  const Product product{w, bias, activation, y};
  const auto encode_rows = [&](std::int64_t begin, std::int64_t end, Code* codes, float* scales) {
    for (std::int64_t i = begin; i < end; ++i)
      scales[i - begin] = encode_row(w.k, x + i * w.k, codes + (i - begin) * steps);
  };
  // Rows whose codes stay in the second-level cache.
  const std::int64_t chunk = std::clamp<std::int64_t>(near_bytes / bytes / tall * tall, tall, most_rows),
                     chunks = (m + chunk - 1) / chunk;
  const std::int64_t threads = m * w.n * w.k > enough ? available_threads() : 1;
  if (threads == 1 || chunks >= 2 * threads)
    return parallel_for(chunks, enough / (chunk * w.n * w.k) + 1, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t most = std::min(chunk, m);
      const Scratch<Code> codes(most * steps);
      const Scratch<float> scales(most);
      for (std::int64_t c = begin; c < end; ++c) {
        const std::int64_t first = c * chunk, last = std::min(first + chunk, m);
        encode_rows(first, last, codes.data(), scales.data());
        product.multiply(first, last, codes.data(), scales.data(), 0, panels);
      }
    });
  const Scratch<Code> codes(m * steps);
  const Scratch<float> scales(m);
  parallel_for(m, (1 << 16) / steps + 1, [&](std::int64_t begin, std::int64_t end) {
    encode_rows(begin, end, codes.data() + begin * steps, scales.data() + begin);
  });
  parallel_for(panels, enough / (m * panel * w.k) + 1, [&](std::int64_t begin, std::int64_t end) {
    product.multiply(0, m, codes.data(), scales.data(), begin, end);
  });
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
