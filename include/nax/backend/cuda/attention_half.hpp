#pragma once

#include "nax/backend/cuda/attention_part.hpp"

// Attention of half and bfloat16 rows by products of warps on tensor cores. A warp has 16 queries; logits,
// weights and results stay in its registers. Sums are of float, and weights are rounded to T before they meet
// the values.
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

// Rows of up to `width` elements, a multiple of 64.
template <class T, int width>
struct AttendHalf : AttentionBody<T, 128> {
  static constexpr int rows = 128, keys = 64, stride = width + 8;  // rows of a tile begin in different banks
  static constexpr int blocks = width > 64 ? 1 : 2, shared_bytes = (rows + 2 * keys) * stride * 2;
  using Base = AttentionBody<T, 128>;
  using Base::f;

  struct State {
    float logits[keys / 8][4], sums_of_values[width / 8][4];
    std::uint32_t first[4], second[4];  // factors
    float most[2], now[2], sums[2];
  };

  template <class OneBlock>
  constexpr void operator()(const OneBlock& block, std::int64_t i) const {
    const AttentionPart<T> p = this->part_of(i);
    std::uint16_t* const queries = reinterpret_cast<std::uint16_t*>(block.room);
    std::uint16_t* const of_keys = queries + rows * stride;
    std::uint16_t* const values = of_keys + keys * stride;
    typename OneBlock::template Each<State> states{};
    block.each(states, [&](int thread, State& s) {
      load_tile<rows>(thread, queries, p.q, f.q.row, p.first, static_cast<int>(f.queries));
      NAX_GPU_UNROLL
      for (int r = 0; r < 2; ++r)
        s.most[r] = this->is_blind(p, p.first + row_of(thread) + 8 * r)
                        ? least_logit
                        : -std::numeric_limits<float>::infinity();
    });
    for (int j = p.begin; j < p.end; j += keys) {
      block.each(states, [&](int thread, State&) {
        load_tile<keys>(thread, of_keys, p.k, f.k.row, j, p.end);
        load_tile<keys>(thread, values, p.v, f.v.row, j, p.end);
      });
      block.wait();
      multiply_keys(block, states, queries, of_keys);
      block.each(states, [&](int thread, State& s) { mask(thread, s, p, j); });
      block.template combine<4, &State::now>(states, LogitMax());
      block.each(states, [&](int, State& s) { weigh(s); });
      add_values(block, states, values);
      block.wait();
    }
    block.template combine<4, &State::sums>(states, LogitSum());
    block.each(states, [&](int thread, State& s) { write(thread, s, p); });
  }

 private:
  // Rows of a thread: this one, and the eighth behind it.
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

  template <class OneBlock, class States>
  constexpr void multiply_keys(const OneBlock& block, States& states, const std::uint16_t* queries,
                               const std::uint16_t* of_keys) const {
    block.each(states, [](int, State& s) {
      NAX_GPU_UNROLL
      for (int n = 0; n < keys / 8; ++n) {
        NAX_GPU_UNROLL
        for (int r = 0; r < 4; ++r) s.logits[n][r] = 0;
      }
    });
    NAX_GPU_UNROLL
    for (int k = 0; k < width / 16; ++k) {
      block.each(states, [=](int thread, State& s) {
        load_matrices<false, true>(queries, stride, thread / 32 * 16, k * 16, thread % 32, s.first);
      });
      NAX_GPU_UNROLL
      for (int n = 0; n < keys / 16; ++n) {
        block.each(states, [=](int thread, State& s) {
          load_matrices<false, false>(of_keys, stride, n * 16, k * 16, thread % 32, s.second);
        });
        NAX_GPU_UNROLL
        for (int half = 0; half < 2; ++half)
          block.template multiply<T>(states, [=](State& s) {
            return MatrixRegisters{s.logits[2 * n + half], s.first, s.second + 2 * half};
          });
      }
    }
  }

  constexpr void mask(int thread, State& s, const AttentionPart<T>& p, int j) const {
    if (!this->sees_all(p, j, keys)) {
      // One product after the other, and round: code for all of them would want too many registers.
      NAX_GPU_ROLLED
      for (int n = 0; n < keys / 8; ++n) {
        NAX_GPU_UNROLL
        for (int r = 0; r < 4; ++r) {
          const float x = this->logit(p, p.first + row_of(thread) + r / 2 * 8,
                                      j + n * 8 + pair_of(thread) + r % 2, s.logits[0][r]);
          NAX_GPU_UNROLL
          for (int m = 0; m + 1 < keys / 8; ++m) s.logits[m][r] = s.logits[m + 1][r];
          s.logits[keys / 8 - 1][r] = x;
        }
      }
    } else {
      NAX_GPU_UNROLL
      for (int n = 0; n < keys / 8; ++n) {
        NAX_GPU_UNROLL
        for (int r = 0; r < 4; ++r) s.logits[n][r] *= this->scale;
      }
    }
    s.now[0] = s.most[0], s.now[1] = s.most[1];
    NAX_GPU_UNROLL
    for (int n = 0; n < keys / 8; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) s.now[r / 2] = LogitMax::join(s.now[r / 2], s.logits[n][r]);
    }
  }

  constexpr void weigh(State& s) const {
    using std::exp2;
    float factor[2], shift[2];
    NAX_GPU_UNROLL
    for (int r = 0; r < 2; ++r) {
      shift[r] = this->shift_of(s.now[r]);
      factor[r] = exp2(s.most[r] - shift[r]);
      s.most[r] = s.now[r];
      s.sums[r] *= factor[r];
    }
    NAX_GPU_UNROLL
    for (int n = 0; n < keys / 8; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) {
        s.logits[n][r] = exp2(s.logits[n][r] - shift[r / 2]);
        s.sums[r / 2] += s.logits[n][r];
      }
    }
    NAX_GPU_UNROLL
    for (int n = 0; n < width / 8; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) s.sums_of_values[n][r] *= factor[r / 2];
    }
  }

  template <class OneBlock, class States>
  constexpr void add_values(const OneBlock& block, States& states, const std::uint16_t* values) const {
    NAX_GPU_UNROLL
    for (int k = 0; k < keys / 16; ++k) {
      block.each(states, [=](int, State& s) {  // results of a product are laid out as its first factor is
        NAX_GPU_UNROLL
        for (int r = 0; r < 4; ++r)
          s.first[r] = pair(s.logits[2 * k + r / 2][r % 2 * 2], s.logits[2 * k + r / 2][r % 2 * 2 + 1]);
      });
      NAX_GPU_UNROLL
      for (int n = 0; n < width / 16; ++n) {
        block.each(states, [=](int thread, State& s) {
          load_matrices<true, true>(values, stride, k * 16, n * 16, thread % 32, s.second);
        });
        NAX_GPU_UNROLL
        for (int half = 0; half < 2; ++half)
          block.template multiply<T>(states, [=](State& s) {
            return MatrixRegisters{s.sums_of_values[2 * n + half], s.first, s.second + 2 * half};
          });
      }
    }
  }

  constexpr void write(int thread, const State& s, const AttentionPart<T>& p) const {
    NAX_GPU_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int t = p.first + row_of(thread) + 8 * r;
      if (t >= f.queries) continue;
      T* const to = p.out + t * f.out.row;
      if (s.most[r] == least_logit && s.sums[r] == s.sums[r]) {  // a NaN may hide behind the greatest
        this->write_blind(p, t, to, pair_of(thread), 2, 8);
        continue;
      }
      const float inverse = 1.f / s.sums[r];
      NAX_GPU_UNROLL
      for (int n = 0; n < width / 8; ++n) {
        NAX_GPU_UNROLL
        for (int c = 0; c < 2; ++c) {
          const int column = n * 8 + pair_of(thread) + c;
          if (column < f.width) to[column] = static_cast<T>(s.sums_of_values[n][2 * r + c] * inverse);
        }
      }
    }
  }
};

}  // namespace cuda
NAX_END
