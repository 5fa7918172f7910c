#pragma once

#include "nax/devices/cuda/attention/attention_part.hpp"

// Tiles of half and bfloat16 rows in shared memory, and products of them by warps on tensor cores. Each of
// the eight warps of a block has 16 rows of a result, which stays in its registers. Sums are of float.
NAX_BEGIN
namespace cuda {

// Four (8, 8) matrices of a tile from (row, column) on, a pair of elements of each for every thread, as
// factors of products of warps. The second matrix lies below the first (`below`) or beside it. On the host
// each thread reads its pairs.
template <bool transposed, bool below>
constexpr void load_matrices(const std::uint16_t* tile, int stride, int row, int column, int lane,
                             std::uint32_t (&to)[4]) {
#if defined(__CUDA_ARCH__)
  // A thread names row lane % 8 of matrix lane / 8.
  const int of_lane =
      below ? lane % 16 * stride + lane / 16 * 8 : (lane / 16 * 8 + lane % 8) * stride + lane / 8 % 2 * 8;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tile)) +
                           static_cast<unsigned>(of_lane) * 2 +
                           static_cast<unsigned>(row * stride + column) * 2;
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
#else
  for (int m = 0; m < 4; ++m) {
    const int down = (below ? m % 2 : m / 2) * 8, right = (below ? m / 2 : m % 2) * 8;
    const std::uint16_t* const matrix = tile + (row + down) * stride + column + right;
    const int group = lane / 4, pair = lane % 4 * 2;
    const std::uint32_t first = transposed ? matrix[pair * stride + group] : matrix[group * stride + pair],
                        second = transposed ? matrix[(pair + 1) * stride + group]
                                            : matrix[group * stride + pair + 1];
    to[m] = first | second << 16;
  }
#endif
}

// Rows of up to `width` elements, a multiple of 64; a block has 128 of them.
template <class T, int width>
struct HalfTiles : AttentionBody<T, 128> {
  static constexpr int rows = 128,
                       stride = width + 8;  // rows of a tile begin in different banks
  using Base = AttentionBody<T, 128>;
  using Base::f;

  // Rows of a thread: this one, and the eighth behind it; of columns it has pairs.
  static constexpr int row_of(int thread) { return thread / 32 * 16 + thread % 32 / 4; }
  static constexpr int pair_of(int thread) { return thread % 4 * 2; }
  static constexpr std::uint32_t pair(float a, float b) {
    std::uint32_t both = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, bfloat16>)
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(b), "f"(a));
    else
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(b), "f"(a));
#else
    both = std::uint32_t{static_cast<T>(a).bits} | std::uint32_t{static_cast<T>(b).bits} << 16;
#endif
    return both;
  }

  // Rows [first, first + count) of x, zero from `end` on.
  template <int count>
  constexpr void load_tile(int thread, std::uint16_t* tile, const T* x, std::int64_t step, int first,
                           int end) const {
    const auto put = [=](int row, int column, const Piece<16>& piece) {
      std::uint16_t* const to = tile + row * stride + column;
#if defined(__CUDA_ARCH__)
      piece.store(reinterpret_cast<char*>(to));
#else
      for (int k = 0; k < 8; ++k) to[k] = piece.template get<std::uint16_t>(k);
#endif
    };
    Base::template load_tile<count, width>(thread, x, step, first, end, put);
  }

  // Loads rows as load_tile does, there behind Block::wait_for_copies: a tile is loaded while another is
  // computed with.
  template <int count>
  constexpr void load_tile_later(int thread, std::uint16_t* tile, const T* x, std::int64_t step, int first,
                                 int end) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    constexpr int per = piece_bytes / 2, of_row = width / per, threads = 256;
    if (this->in_pieces) {
      NAX_GPU_UNROLL
      for (int k = 0; k < count * of_row / threads; ++k) {
        const int e = thread + k * threads, row = e / of_row, column = e % of_row * per;
        const bool is_there = first + row < end && column < f.width;
        copy_16_later(tile + row * stride + column, is_there ? x + (first + row) * step + column : x,
                      is_there);
      }
      return;
    }
#endif
    load_tile<count>(thread, tile, x, step, first, end);
  }

  // product = a b^T, of rows of two tiles: those of the warp, and `columns` ones.
  template <auto product, int columns, class State, class OneBlock, class States>
  static constexpr void multiply_rows(const OneBlock& block, States& states, const std::uint16_t* a,
                                      const std::uint16_t* b) {
    block.each(states, [](int, State& s) {
      NAX_GPU_UNROLL
      for (int n = 0; n < columns / 8; ++n) {
        NAX_GPU_UNROLL
        for (int r = 0; r < 4; ++r) (s.*product)[n][r] = 0;
      }
    });
    NAX_GPU_UNROLL
    for (int k = 0; k < width / 16; ++k) {
      block.each(states, [=](int thread, State& s) {
        load_matrices<false, true>(a, stride, thread / 32 * 16, k * 16, thread % 32, s.first);
      });
      NAX_GPU_UNROLL
      for (int n = 0; n < columns / 16; ++n) {
        block.each(states, [=](int thread, State& s) {
          load_matrices<false, false>(b, stride, n * 16, k * 16, thread % 32, s.second);
        });
        NAX_GPU_UNROLL
        for (int half = 0; half < 2; ++half)
          block.template multiply<T>(states, [=](State& s) {
            return MatrixRegisters{(s.*product)[2 * n + half], s.first, s.second + 2 * half};
          });
      }
    }
  }
  // sums += x b: x is a product of the warp, (16, depth), rounded to T; b a tile of as many rows.
  template <auto sums, auto x, int depth, class State, class OneBlock, class States>
  static constexpr void add_products(const OneBlock& block, States& states, const std::uint16_t* b) {
    NAX_GPU_UNROLL
    for (int k = 0; k < depth / 16; ++k) {
      block.each(states, [=](int, State& s) {  // results of a product are laid
                                               // out as its first factor is
        NAX_GPU_UNROLL
        for (int r = 0; r < 4; ++r)
          s.first[r] = pair((s.*x)[2 * k + r / 2][r % 2 * 2], (s.*x)[2 * k + r / 2][r % 2 * 2 + 1]);
      });
      NAX_GPU_UNROLL
      for (int n = 0; n < width / 16; ++n) {
        block.each(states, [=](int thread, State& s) {
          load_matrices<true, true>(b, stride, k * 16, n * 16, thread % 32, s.second);
        });
        NAX_GPU_UNROLL
        for (int half = 0; half < 2; ++half)
          block.template multiply<T>(states, [=](State& s) {
            return MatrixRegisters{(s.*sums)[2 * n + half], s.first, s.second + 2 * half};
          });
      }
    }
  }

  // x[n][r] = logit(n, r, x[n][r]), one after the other, and round: code for all of them would want too many
  // registers.
  template <int count, class Logit>
  static constexpr void replace_in_turn(float (&x)[count][4], const Logit& logit) {
    NAX_GPU_ROLLED
    for (int n = 0; n < count; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) {
        const float now = logit(n, r, x[0][r]);
        NAX_GPU_UNROLL
        for (int m = 0; m + 1 < count; ++m) x[m][r] = x[m + 1][r];
        x[count - 1][r] = now;
      }
    }
  }

  // Makes logits of products of rows: by logit(n, r, x[n][r]) where not all are seen.
  template <int count, class Logit>
  constexpr void finish_logits(float (&x)[count][4], bool sees_all, const Logit& logit) const {
    if (!sees_all) return replace_in_turn(x, logit);
    NAX_GPU_UNROLL
    for (int n = 0; n < count; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) x[n][r] *= this->scale;
    }
  }

  // A thread's part of rows of up to `width` elements.
  static constexpr void write_row(int thread, T* to, std::int64_t length, const float (&x)[width / 8][4],
                                  int r, float factor) {
    NAX_GPU_UNROLL
    for (int n = 0; n < width / 8; ++n) {
      NAX_GPU_UNROLL
      for (int c = 0; c < 2; ++c) {
        const int column = n * 8 + pair_of(thread) + c;
        if (column < length) to[column] = static_cast<T>(x[n][2 * r + c] * factor);
      }
    }
  }
};

}  // namespace cuda
NAX_END
