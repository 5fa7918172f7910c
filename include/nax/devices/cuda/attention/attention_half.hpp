#pragma once

#include "nax/devices/cuda/attention/half_tiles.hpp"

// Attention of half and bfloat16 rows: logits, weights and results stay in the registers of warps. Weights
// are rounded to T before they meet the values. While some keys are computed with, the next ones are loaded.
NAX_BEGIN
namespace cuda {

// LogitMax in one instruction. (In AttendFloat it would cost registers that there are not.)
struct HalfLogitMax {
  static constexpr float join(float a, float b) {
#if defined(__CUDA_ARCH__)
    return fmaxf(a, b);
#else
    return LogitMax::join(a, b);
#endif
  }
};

// Rows of up to `width` elements, a multiple of 64.
template <class T, int width>
struct AttendHalf : HalfTiles<T, width> {
  using Base = HalfTiles<T, width>;
  using Base::f, Base::rows, Base::stride;
  static constexpr int keys = width > 64 ? 32 : 64;
  static constexpr int blocks = width > 64 ? 1 : 2, shared_bytes = (rows + 4 * keys) * stride * 2;

  struct State {
    float logits[keys / 8][4], sums_of_values[width / 8][4];
    std::uint32_t first[4], second[4];  // factors
    float most[2], now[2], sums[2];
  };

  template <class OneBlock>
  constexpr void operator()(const OneBlock& block, std::int64_t i) const {
    const AttentionPart<T> p = this->part_of(i);
    std::uint16_t* const queries = reinterpret_cast<std::uint16_t*>(block.room);
    constexpr int pair = 2 * keys * stride;  // some keys, and their values behind them
    std::uint16_t* const pairs = queries + rows * stride;
    typename OneBlock::template Each<State> states{};
    block.each(states, [&](int thread, State& s) {
      Base::template load_tile<rows>(thread, queries, p.q, f.q.row, p.first, static_cast<int>(f.queries));
      NAX_GPU_UNROLL
      for (int r = 0; r < 2; ++r)
        s.most[r] = this->is_blind(p, p.first + Base::row_of(thread) + 8 * r)
                        ? least_logit
                        : -std::numeric_limits<float>::infinity();
    });
    const auto load = [&](std::uint16_t* to, int j) {
      if (j >= p.end) return;
      block.each(states, [&](int thread, State&) {
        Base::template load_tile_later<keys>(thread, to, p.k, f.k.row, j, p.end);
        Base::template load_tile_later<keys>(thread, to + keys * stride, p.v, f.v.row, j, p.end);
      });
    };
    load(pairs, p.begin);
    int now = 0;
    for (int j = p.begin; j < p.end; j += keys) {
      block.wait_for_copies();
      load(pairs + (pair - now), j + keys);  // where no thread reads any more: all have passed the barrier
      Base::template multiply_rows<&State::logits, keys, State>(block, states, queries, pairs + now);
      block.each(states, [&](int thread, State& s) { mask(thread, s, p, j); });
      block.template combine<4, &State::now>(states, HalfLogitMax());
      block.each(states, [&](int, State& s) { weigh(s); });
      Base::template add_products<&State::sums_of_values, &State::logits, keys, State>(
          block, states, pairs + now + keys * stride);
      now = pair - now;
    }
    block.template combine<4, &State::sums>(states, LogitSum());
    block.each(states, [&](int thread, State& s) { write(thread, s, p); });
  }

 private:
  constexpr void mask(int thread, State& s, const AttentionPart<T>& p, int j) const {
    this->finish_logits(s.logits, this->sees_all(p, p.first, rows, j, keys), [&](int n, int r, float x) {
      return this->logit(p, p.first + Base::row_of(thread) + r / 2 * 8,
                         j + n * 8 + Base::pair_of(thread) + r % 2, x);
    });
    s.now[0] = s.most[0], s.now[1] = s.most[1];
    NAX_GPU_UNROLL
    for (int n = 0; n < keys / 8; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) s.now[r / 2] = HalfLogitMax::join(s.now[r / 2], s.logits[n][r]);
    }
  }

  constexpr void weigh(State& s) const {
    float factor[2], shift[2];
    NAX_GPU_UNROLL
    for (int r = 0; r < 2; ++r) {
      shift[r] = this->shift_of(s.now[r]);
      factor[r] = this->power(s.most[r] - shift[r]);
      s.most[r] = s.now[r];
      s.sums[r] *= factor[r];
    }
    NAX_GPU_UNROLL
    for (int n = 0; n < keys / 8; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) {
        s.logits[n][r] = this->power(s.logits[n][r] - shift[r / 2]);
        s.sums[r / 2] += s.logits[n][r];
      }
    }
    NAX_GPU_UNROLL
    for (int n = 0; n < width / 8; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) s.sums_of_values[n][r] *= factor[r / 2];
    }
  }

  constexpr void write(int thread, const State& s, const AttentionPart<T>& p) const {
    NAX_GPU_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int t = p.first + Base::row_of(thread) + 8 * r;
      if (t >= f.queries) continue;
      T* const to = p.out + t * f.out.row;
      const bool blind = s.most[r] == least_logit && s.sums[r] == s.sums[r];  // a NaN may hide
      if (thread % 4 == 0) this->write_logarithms(p, t, blind, s.most[r], s.sums[r]);
      if (blind) {
        this->write_blind(p, t, to, Base::pair_of(thread), 2, 8);
        continue;
      }
      Base::write_row(thread, to, f.width, s.sums_of_values, r, 1.f / s.sums[r]);
    }
  }
};

}  // namespace cuda
NAX_END
