#pragma once

#include <cpuid.h>

#include <algorithm>

#include "nax/backend/cpu/gemm/gemm_pairs.hpp"
#include "nax/core/os/os.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace cpu::inline NAX_SIMD_ABI {
namespace pairs {

inline constexpr std::int64_t lines = 16, steps = 32, tile = lines * steps;  // of a tile, in elements
inline constexpr std::int64_t side = 2 * lines;                              // of a block of C
inline constexpr std::int64_t slice = 16;                // tiles along k that a block adds up at once
inline constexpr std::int64_t near_bytes = 1024 * 1024;  // of B that stays in the second-level cache

constexpr std::int64_t parts(std::int64_t n, std::int64_t part) { return (n + part - 1) / part; }

using Element = std::uint16_t;
enum class Form {
  line_by_line,
  pair_by_pair
};  // of a tile: line after line, or pair of steps after pair of steps

NAX_ENGINE void transpose(__m512i (&rows)[16]) {
  __m512 block[16];
  for (int i = 0; i < 16; ++i) block[i] = _mm512_castsi512_ps(rows[i]);
  simd::Registers<float>::transpose(block);
  for (int i = 0; i < 16; ++i) rows[i] = _mm512_castps_si512(block[i]);
}

// One tile from `count` lines of `depth` steps; both may be too many.
NAX_ENGINE void pack_tile(const Element* from, std::int64_t line, std::int64_t step, std::int64_t count,
                          std::int64_t depth, Form form, Element* to) {
  count = std::clamp<std::int64_t>(count, 0, lines);
  depth = std::min(depth, steps);
  __m512i rows[16];
  Element copy[tile];
  if (step != 1 && line != 1) {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < depth; ++j) copy[i * steps + j] = from[i * line + j * step];
    from = copy, line = steps, step = 1;
  }
  const bool by_lines = step == 1;
  if (by_lines) {
    const auto some = static_cast<__mmask32>((std::uint64_t{1} << depth) - 1);
    for (int i = 0; i < 16; ++i)
      rows[i] = i < count ? _mm512_maskz_loadu_epi16(some, from + i * line) : _mm512_setzero_si512();
  } else {
    const auto some = static_cast<__mmask16>((1u << count) - 1);
    const auto row = [&](std::int64_t j) {
      return j < depth ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, from + j * step))
                       : _mm512_setzero_si512();
    };
    for (int i = 0; i < 16; ++i) rows[i] = _mm512_or_si512(row(2 * i), _mm512_slli_epi32(row(2 * i + 1), 16));
  }
  if (by_lines != (form == Form::line_by_line)) transpose(rows);
  for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * steps, rows[i]);
}

// All tiles of an operand: those of a line of tiles along k lie one after another.
NAX_ENGINE void pack(const bfloat16* from, std::int64_t line, std::int64_t step, std::int64_t count,
                     std::int64_t depth, Form form, Element* to) {
  constexpr std::int64_t together = 4;  // lines of tiles: whole cache lines are read
  const std::int64_t along = parts(depth, steps), down = parts(count, side) * 2;
  const Element* const elements = reinterpret_cast<const Element*>(from);
  parallel_for(parts(down, together), (1 << 15) / (depth * together * lines) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t first = begin * together; first < std::min(end * together, down);
                      first += together)
                   for (std::int64_t d = 0; d < along; ++d)
                     for (std::int64_t i = first; i < std::min(first + together, down); ++i)
                       pack_tile(elements + i * lines * line + d * steps * step, line, step,
                                 count - i * lines, depth - d * steps, form, to + (i * along + d) * tile);
               });
}

// The layout of the tile registers, and their release, for the calling thread.
class Tiles {
 public:
  explicit Tiles(PairsUnit unit) : used_(unit == PairsUnit::tiles) {
    if (!used_) return;
    struct alignas(64) {
      std::uint8_t palette = 1, start = 0, reserved[14] = {};
      std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } layout;
    asm volatile("ldtilecfg %0" : : "m"(layout));
  }
  ~Tiles() {
    if (used_) asm volatile("tilerelease");
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

 private:
  const bool used_;
};

#define NAX_TILE_LOAD(number, from, row_bytes) \
  asm volatile("tileloadd (%0,%1,1), %%tmm" #number : : "r"(from), "r"(row_bytes) : "memory")
#define NAX_TILE_STORE(number, to, row_bytes) \
  asm volatile("tilestored %%tmm" #number ", (%0,%1,1)" : : "r"(to), "r"(row_bytes) : "memory")

// Adds `depth` tiles along k to the block of two by two tiles at c, or begins it; `next` leads from a line of
// tiles to the next one.
NAX_ENGINE void multiply_tiles(std::int64_t depth, const Element* a, const Element* b, std::int64_t next,
                               float* c, std::int64_t row, bool add) {
  const std::int64_t row_bytes = row * 4, tile_row = 64;
  float* const lower = c + lines * row;
  if (add) {
    NAX_TILE_LOAD(0, c, row_bytes);
    NAX_TILE_LOAD(1, c + lines, row_bytes);
    NAX_TILE_LOAD(2, lower, row_bytes);
    NAX_TILE_LOAD(3, lower + lines, row_bytes);
  } else {
    asm volatile("tilezero %tmm0\n\ttilezero %tmm1\n\ttilezero %tmm2\n\ttilezero %tmm3");
  }
  for (std::int64_t d = 0; d < depth; ++d, a += tile, b += tile) {
    NAX_TILE_LOAD(4, a, tile_row);
    NAX_TILE_LOAD(6, b, tile_row);
    NAX_TILE_LOAD(7, b + next, tile_row);
    NAX_TILE_LOAD(5, a + next, tile_row);
    asm volatile(
        "tdpbf16ps %tmm6, %tmm4, %tmm0\n\ttdpbf16ps %tmm7, %tmm4, %tmm1\n\t"
        "tdpbf16ps %tmm6, %tmm5, %tmm2\n\ttdpbf16ps %tmm7, %tmm5, %tmm3");
  }
  NAX_TILE_STORE(0, c, row_bytes);
  NAX_TILE_STORE(1, c + lines, row_bytes);
  NAX_TILE_STORE(2, lower, row_bytes);
  NAX_TILE_STORE(3, lower + lines, row_bytes);
}
#undef NAX_TILE_LOAD
#undef NAX_TILE_STORE

// In vectors: eight rows and two tiles of columns at a time.
NAX_ENGINE void multiply_vectors(std::int64_t depth, const Element* a, const Element* b, std::int64_t next,
                                 float* c, std::int64_t row, bool add) {
  constexpr int height = 8;
  for (std::int64_t first = 0; first < side; first += height) {
    const Element* const left = a + first / lines * next + first % lines * steps;
    float* const to = c + first * row;
    __m512 sums[height][2];
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < 2; ++j)
        sums[i][j] = add ? _mm512_loadu_ps(to + i * row + j * lines) : _mm512_setzero_ps();
    for (std::int64_t d = 0; d < depth; ++d)
      for (std::int64_t p = 0; p < steps / 2; ++p) {
        const Element* const at = b + d * tile + p * steps;
        const __m512i right = _mm512_loadu_si512(at), further = _mm512_loadu_si512(at + next);
        NAX_UNROLL
        for (int i = 0; i < height; ++i) {
          const Element* const pair = left + d * tile + i * steps + 2 * p;
          asm("vdpbf16ps (%1)%{1to16%}, %2, %0" : "+v"(sums[i][0]) : "r"(pair), "v"(right) : "memory");
          asm("vdpbf16ps (%1)%{1to16%}, %2, %0" : "+v"(sums[i][1]) : "r"(pair), "v"(further) : "memory");
        }
      }
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < 2; ++j) _mm512_storeu_ps(to + i * row + j * lines, sums[i][j]);
  }
}

// Rounds a row of sums to C, or adds it.
NAX_ENGINE void give_row(const float* sums, bfloat16* to, std::int64_t column, std::int64_t count,
                         bool accumulate) {
  if (column != 1) {
    for (std::int64_t j = 0; j < count; ++j) {
      bfloat16& element = to[j * column];
      element = static_cast<bfloat16>(accumulate ? static_cast<float>(element) + sums[j] : sums[j]);
    }
    return;
  }
  for (std::int64_t j = 0; j < count; j += 16) {
    const auto some = static_cast<__mmask16>((1u << std::min<std::int64_t>(count - j, 16)) - 1);
    __m512 sum = _mm512_maskz_loadu_ps(some, sums + j);
    if (accumulate) {
      const __m512i before = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, to + j));
      sum = _mm512_add_ps(_mm512_castsi512_ps(_mm512_slli_epi32(before, 16)), sum);
    }
    const __m512i bits = _mm512_castps_si512(sum);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i nearest = _mm512_add_epi32(_mm512_add_epi32(bits, odd), _mm512_set1_epi32(0x7fff));
    const __mmask16 nan = _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q);
    const __m512i rounded = _mm512_mask_or_epi32(nearest, nan, bits, _mm512_set1_epi32(0x40'0000));
    _mm256_mask_storeu_epi16(to + j, some, _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
  }
}

}  // namespace pairs

NAX_ENGINE PairsUnit pairs_unit() {
  static const PairsUnit unit = [] {
    constexpr unsigned tiles_and_bfloat16 = 1u << 24 | 1u << 22;
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool there =
        __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & tiles_and_bfloat16) == tiles_and_bfloat16;
    return there && nax::detail::os::allow_tiles() ? PairsUnit::tiles : PairsUnit::vectors;
  }();
  return unit;
}

NAX_ENGINE void gemm_pairs(PairsUnit unit, std::int64_t m, std::int64_t n, std::int64_t k,
                           Strided<const bfloat16> a, Strided<const bfloat16> b, Strided<bfloat16> c,
                           bool accumulate) {
  using namespace pairs;
  if (c.column != 1 && c.row == 1)
    return gemm_pairs(unit, n, m, k, b.transposed(), a.transposed(), c.transposed(), accumulate);
  const std::int64_t depth = parts(k, steps), down = parts(m, side), across = parts(n, side),
                     next = depth * tile,
                     nearby = std::clamp<std::int64_t>(near_bytes / (2 * next * 2), 1, across);
  const Scratch<Element> left(2 * down * next), right(2 * across * next);
  pack(a.data, a.row, a.column, m, k, Form::line_by_line, left.data());
  pack(b.data, b.column, b.row, n, k, Form::pair_by_pair, right.data());
  const auto multiply = unit == PairsUnit::tiles ? multiply_tiles : multiply_vectors;
  const std::int64_t groups = parts(across, nearby), enough = 1 << 21;
  parallel_for(groups * down, enough / (side * nearby * side * k) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 const Tiles tiles(unit);
                 const std::int64_t row = nearby * side + 16;
                 const Scratch<float> sums(side * row);
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t first = i / down * nearby, last = std::min(first + nearby, across),
                                      strip = i % down;
                   for (std::int64_t d = 0; d < depth; d += slice)
                     for (std::int64_t panel = first; panel < last; ++panel)
                       multiply(std::min(slice, depth - d), left.data() + 2 * strip * next + d * tile,
                                right.data() + 2 * panel * next + d * tile, next,
                                sums.data() + (panel - first) * side, row, d > 0);
                   for (std::int64_t r = 0; r < std::min(side, m - strip * side); ++r)
                     give_row(sums.data() + r * row, c.at(strip * side + r, first * side).data, c.column,
                              std::min(n, last * side) - first * side, accumulate);
                 }
               });
}

}  // namespace cpu::inline NAX_SIMD_ABI
NAX_END
