#pragma once

#include "nax/backend/cuda/attention_part.hpp"

// Attention of float rows: tiles in shared memory, sums in registers. A thread has four rows of the logits
// and the result, with four of every 64 columns.
NAX_BEGIN
namespace cuda {

// Rows of up to `width` elements, a multiple of 64.
template <int width>
struct AttendFloat : AttentionBody<float, 64> {
  using Base = AttentionBody<float, 64>;
  static constexpr int rows = 64, keys = 64, across = 16, parts_of_row = width / 64;
  static constexpr int blocks = 2, shared_bytes = (rows * width + keys * width + rows * keys) * 4;

  struct State {
    float logits[4][4], sums_of_values[4][4 * parts_of_row];
    float most[4], now[4], sums[4];
  };

  template <class OneBlock>
  constexpr void operator()(const OneBlock& block, std::int64_t i) const {
    const AttentionPart<float> p = this->part_of(i);
    float* const queries = reinterpret_cast<float*>(block.room);
    float* const of_keys = queries + rows * width;
    float* const weights = of_keys + keys * width;
    typename OneBlock::template Each<State> states{};
    block.each(states, [&](int thread, State& s) {
      load_tile(thread, queries, p.q, f.q.row, p.first, static_cast<int>(f.queries));
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r)
        s.most[r] = this->is_blind(p, p.first + 4 * (thread / across) + r)
                        ? least_logit
                        : -std::numeric_limits<float>::infinity();
    });
    for (int j = p.begin; j < p.end; j += keys) {
      block.each(states, [&](int thread, State&) { load_tile(thread, of_keys, p.k, f.k.row, j, p.end); });
      block.wait();
      block.each(states, [&](int thread, State& s) { multiply_keys(thread, s, p, j, queries, of_keys); });
      block.template combine<across, &State::now>(states, LogitMax());
      block.each(states, [&](int thread, State& s) { weigh(thread, s, weights); });
      block.wait();
      block.each(states, [&](int thread, State&) { load_tile(thread, of_keys, p.v, f.v.row, j, p.end); });
      block.wait();
      block.each(states, [&](int thread, State& s) { add_values(thread, s, weights, of_keys); });
      block.wait();
    }
    block.template combine<across, &State::sums>(states, LogitSum());
    block.each(states, [&](int thread, State& s) { write(thread, s, p); });
  }

 private:
  struct alignas(16) Four {
    float x[4];
  };
  // Four elements of a tile, whose rows have `columns`. Neighbours in a column lie in different banks.
  template <int columns>
  static constexpr float* at(float* tile, int row, int four) {
    return tile + row * columns + ((four ^ (row & 7)) * 4);
  }
  template <int columns>
  static constexpr Four load(float* tile, int row, int four) {
    return *reinterpret_cast<const Four*>(at<columns>(tile, row, four));
  }

  // Rows [first, first + 64) of x, zero from `end` on.
  constexpr void load_tile(int thread, float* tile, const float* x, std::int64_t step, int first,
                           int end) const {
    const auto put = [=](int row, int column, const Piece<16>& piece) {
      Four to{};
      NAX_GPU_UNROLL
      for (int j = 0; j < 4; ++j) to.x[j] = piece.template get<float>(j);
      *reinterpret_cast<Four*>(at<width>(tile, row, column / 4)) = to;
    };
    Base::template load_tile<rows, width>(thread, x, step, first, end, put);
  }

  // The logits of a thread: its rows, and keys that are `across` apart.
  constexpr void multiply_keys(int thread, State& s, const AttentionPart<float>& p, int j, float* queries,
                               float* of_keys) const {
    const int row = thread / across * 4, key = thread % across;
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      NAX_GPU_UNROLL
      for (int c = 0; c < 4; ++c) s.logits[r][c] = 0;
    }
    NAX_GPU_ROLLED
    for (int four = 0; four < width / 4; ++four) {
      Four a[4], b[4];
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) {
        a[r] = load<width>(queries, row + r, four);
        b[r] = load<width>(of_keys, key + across * r, four);
      }
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) {
        NAX_GPU_UNROLL
        for (int c = 0; c < 4; ++c) {
          NAX_GPU_UNROLL
          for (int e = 0; e < 4; ++e) s.logits[r][c] += a[r].x[e] * b[c].x[e];
        }
      }
    }
    if (!this->sees_all(p, j, keys)) {
      // One after the other, and round: code for all of them would want too many registers.
      NAX_GPU_ROLLED
      for (int e = 0; e < 16; ++e) {
        const float x = this->logit(p, p.first + row + e / 4, j + key + across * (e % 4), s.logits[0][0]);
        NAX_GPU_UNROLL
        for (int d = 0; d < 15; ++d) s.logits[d / 4][d % 4] = s.logits[(d + 1) / 4][(d + 1) % 4];
        s.logits[3][3] = x;
      }
    } else {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) {
        NAX_GPU_UNROLL
        for (int c = 0; c < 4; ++c) s.logits[r][c] *= this->scale;
      }
    }
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      s.now[r] = s.most[r];
      NAX_GPU_UNROLL
      for (int c = 0; c < 4; ++c) s.now[r] = LogitMax::join(s.now[r], s.logits[r][c]);
    }
  }

  constexpr void weigh(int thread, State& s, float* weights) const {
    using std::exp2;
    const int row = thread / across * 4, key = thread % across;
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      const float shift = this->shift_of(s.now[r]), factor = exp2(s.most[r] - shift);
      s.most[r] = s.now[r];
      s.sums[r] *= factor;
      NAX_GPU_UNROLL
      for (int c = 0; c < 4; ++c) {
        const float weight = exp2(s.logits[r][c] - shift);
        s.sums[r] += weight;
        const int column = key + across * c;
        at<keys>(weights, row + r, column / 4)[column % 4] = weight;
      }
      NAX_GPU_UNROLL
      for (int c = 0; c < 4 * parts_of_row; ++c) s.sums_of_values[r][c] *= factor;
    }
  }

  constexpr void add_values(int thread, State& s, float* weights, float* values) const {
    const int row = thread / across * 4, column = thread % across;
    NAX_GPU_ROLLED
    for (int four = 0; four < keys / 4; ++four) {
      Four a[4];
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) a[r] = load<keys>(weights, row + r, four);
      NAX_GPU_UNROLL
      for (int e = 0; e < 4; ++e) {
        NAX_GPU_UNROLL
        for (int part = 0; part < parts_of_row; ++part) {
          const Four b = load<width>(values, four * 4 + e, part * across + column);
          NAX_GPU_UNROLL
          for (int r = 0; r < 4; ++r) {
            NAX_GPU_UNROLL
            for (int c = 0; c < 4; ++c) s.sums_of_values[r][part * 4 + c] += a[r].x[e] * b.x[c];
          }
        }
      }
    }
  }

  constexpr void write(int thread, const State& s, const AttentionPart<float>& p) const {
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      const int t = p.first + thread / across * 4 + r;
      if (t >= f.queries) continue;
      float* const to = p.out + t * f.out.row;
      if (s.most[r] == least_logit && s.sums[r] == s.sums[r]) {  // a NaN may hide behind the greatest
        this->write_blind(p, t, to, thread % across * 4, 4, 4 * across);
        continue;
      }
      const float inverse = 1.f / s.sums[r];
      NAX_GPU_UNROLL
      for (int part = 0; part < parts_of_row; ++part) {
        NAX_GPU_UNROLL
        for (int c = 0; c < 4; ++c) {
          const int column = (part * across + thread % across) * 4 + c;
          if (column < f.width) to[column] = s.sums_of_values[r][part * 4 + c] * inverse;
        }
      }
    }
  }
};

}  // namespace cuda
NAX_END
