#pragma once

#include "nax/devices/cuda/attention/float_tiles.hpp"

// Attention of float rows: tiles in shared memory, sums in registers.
NAX_BEGIN
namespace cuda {

// Rows of up to `width` elements, a multiple of 64.
template <int width>
struct AttendFloat : FloatTiles<width> {
  using Base = FloatTiles<width>;
  using Base::f, Base::rows, Base::across;
  static constexpr int keys = 64;
  static constexpr int blocks = 2, shared_bytes = (rows * width + keys * width + rows * keys) * 4;

  struct State {
    float logits[4][keys / across], sums_of_values[4][4 * Base::parts_of_row];
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
      Base::template load_tile<rows>(thread, queries, p.q, f.q.row, p.first, static_cast<int>(f.queries));
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r)
        s.most[r] = this->is_blind(p, p.first + Base::row_of(thread) + r)
                        ? least_logit
                        : -std::numeric_limits<float>::infinity();
    });
    for (int j = p.begin; j < p.end; j += keys) {
      block.each(states, [&](int thread, State&) {
        Base::template load_tile<keys>(thread, of_keys, p.k, f.k.row, j, p.end);
      });
      block.wait();
      block.each(states, [&](int thread, State& s) { multiply_keys(thread, s, p, j, queries, of_keys); });
      block.template combine<across, &State::now>(states, LogitMax());
      block.each(states, [&](int thread, State& s) { weigh(thread, s, weights); });
      block.wait();
      block.each(states, [&](int thread, State&) {
        Base::template load_tile<keys>(thread, of_keys, p.v, f.v.row, j, p.end);
      });
      block.wait();
      block.each(states, [&](int thread, State& s) {
        Base::template add_products<keys>(thread, s.sums_of_values, weights, of_keys);
      });
      block.wait();
    }
    block.template combine<across, &State::sums>(states, LogitSum());
    block.each(states, [&](int thread, State& s) { write(thread, s, p); });
  }

 private:
  // The logits of a thread.
  constexpr void multiply_keys(int thread, State& s, const AttentionPart<float>& p, int j, float* queries,
                               float* of_keys) const {
    Base::multiply_rows(thread, s.logits, queries, of_keys);
    this->finish_logits(s.logits, this->sees_all(p, p.first, rows, j, keys), [&](int r, int c, float x) {
      return this->logit(p, p.first + Base::row_of(thread) + r, j + thread % across + across * c, x);
    });
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      s.now[r] = s.most[r];
      NAX_GPU_UNROLL
      for (int c = 0; c < keys / across; ++c) s.now[r] = LogitMax::join(s.now[r], s.logits[r][c]);
    }
  }

  constexpr void weigh(int thread, State& s, float* weights) const {
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      const float shift = this->shift_of(s.now[r]), factor = this->power(s.most[r] - shift);
      s.most[r] = s.now[r];
      s.sums[r] *= factor;
      NAX_GPU_UNROLL
      for (int c = 0; c < keys / across; ++c) {
        s.logits[r][c] = this->power(s.logits[r][c] - shift);
        s.sums[r] += s.logits[r][c];
      }
      NAX_GPU_UNROLL
      for (int c = 0; c < 4 * Base::parts_of_row; ++c) s.sums_of_values[r][c] *= factor;
    }
    Base::store_tile(thread, weights, s.logits);
  }

  constexpr void write(int thread, const State& s, const AttentionPart<float>& p) const {
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      const int t = p.first + Base::row_of(thread) + r;
      if (t >= f.queries) continue;
      float* const to = p.out + t * f.out.row;
      const bool blind = s.most[r] == least_logit && s.sums[r] == s.sums[r];  // a NaN may hide
      if (thread % across == 0) this->write_logarithms(p, t, blind, s.most[r], s.sums[r]);
      if (blind)
        this->write_blind(p, t, to, thread % across * 4, 4, 4 * across);
      else
        Base::write_row(thread, to, f.width, s.sums_of_values[r], 1.f / s.sums[r]);
    }
  }
};

}  // namespace cuda
NAX_END
