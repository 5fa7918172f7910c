#pragma once

#include "nax/devices/cuda/attention/float_tiles.hpp"

// Derivatives of attention of float rows, by two kernels as those of half types (attention_gradient.hpp).
NAX_BEGIN
namespace cuda {

template <int width>
struct FloatQueryGradients : FloatTiles<width> {
  using Base = FloatTiles<width>;
  using Base::f, Base::rows, Base::across;
  static constexpr int keys = width > 64 ? 32 : 64;
  static constexpr int blocks = width > 64 ? 1 : 2,
                       shared_bytes = (2 * rows * width + keys * width + rows * keys) * 4;
  loops::AttentionRows g, dq;
  float* along;

  struct State {
    float logits[4][keys / across], slopes[4][keys / across], sums[4][4 * Base::parts_of_row];
    float most[4], logarithm[4], along[4];
  };

  template <class OneBlock>
  constexpr void operator()(const OneBlock& block, std::int64_t i) const {
    const AttentionPart<float> p = this->part_of(i);
    float* const queries = reinterpret_cast<float*>(block.room);
    float* const of_g = queries + rows * width;
    float* const tile = of_g + rows * width;  // of values, then of keys
    float* const slopes = tile + keys * width;
    typename OneBlock::template Each<State> states{};
    block.each(states, [&](int thread, State& s) {
      const int end = static_cast<int>(f.queries);
      Base::template load_tile<rows>(thread, queries, p.q, f.q.row, p.first, end);
      Base::template load_tile<rows>(thread, of_g, this->rows_at(g, p.batch, p.head), g.row, p.first, end);
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r)
        if (const int t = p.first + Base::row_of(thread) + r; t < end)
          this->template load_query<across>(p, t, g, thread % across, s.most[r], s.logarithm[r], s.along[r]);
    });
    block.template combine<across, &State::along>(states, LogitSum());
    block.each(states, [&](int thread, State& s) {
      if (thread % across != 0) return;
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r)
        if (const int t = p.first + Base::row_of(thread) + r; t < f.queries)
          along[this->number_at(p, t)] = s.along[r];
    });
    for (int j = p.begin; j < p.end; j += keys) {
      block.each(states, [&](int thread, State&) {
        Base::template load_tile<keys>(thread, tile, p.v, f.v.row, j, p.end);
      });
      block.wait();
      block.each(states, [&](int thread, State& s) { Base::multiply_rows(thread, s.slopes, of_g, tile); });
      block.wait();
      block.each(states, [&](int thread, State&) {
        Base::template load_tile<keys>(thread, tile, p.k, f.k.row, j, p.end);
      });
      block.wait();
      block.each(states, [&](int thread, State& s) {
        Base::multiply_rows(thread, s.logits, queries, tile);
        weigh(thread, s, p, j);
        Base::store_tile(thread, slopes, s.slopes);
      });
      block.wait();
      block.each(states, [&](int thread, State& s) {
        Base::template add_products<keys>(thread, s.sums, slopes, tile);
      });
      block.wait();
    }
    block.each(states, [&](int thread, State& s) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r)
        if (const int t = p.first + Base::row_of(thread) + r; t < f.queries)
          Base::write_row(thread, this->rows_at(dq, p.batch, p.head) + t * dq.row, f.width, s.sums[r],
                          static_cast<float>(f.scale));
    });
  }

 private:
  constexpr void weigh(int thread, State& s, const AttentionPart<float>& p, int j) const {
    this->finish_logits(s.logits, this->sees_all(p, p.first, rows, j, keys), [&](int r, int c, float x) {
      return this->logit(p, p.first + Base::row_of(thread) + r, j + thread % across + across * c, x);
    });
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      NAX_GPU_UNROLL
      for (int c = 0; c < keys / across; ++c)
        s.slopes[r][c] =
            this->power(s.logits[r][c] - s.most[r], s.logarithm[r]) * (s.slopes[r][c] - s.along[r]);
    }
  }
};

template <int width>
struct FloatKeyGradients : FloatTiles<width> {
  using Base = FloatTiles<width>;
  using Base::f, Base::rows, Base::across;
  static constexpr int queries = width > 64 ? 32 : 64;
  static constexpr int blocks = width > 64 ? 1 : 2,
                       shared_bytes = (2 * rows * width + queries * width + rows * queries + 3 * queries) * 4;
  loops::AttentionRows g, dk, dv;
  const float* along;

  struct State {
    float weights[4][queries / across], slopes[4][queries / across];  // keys by queries
    float of_keys[4][4 * Base::parts_of_row], of_values[4][4 * Base::parts_of_row];
  };

  template <class OneBlock>
  constexpr void operator()(const OneBlock& block, std::int64_t i) const {
    const auto part = this->key_part_of(i, queries);
    float* const of_keys = reinterpret_cast<float*>(block.room);
    float* const values = of_keys + rows * width;
    float* const tile = values + rows * width;  // of queries or their cotangents
    float* const factors = tile + queries * width;
    float* const logarithms = factors + rows * queries;
    float* const sums = logarithms + 2 * queries;
    typename OneBlock::template Each<State> states{};
    AttentionPart<float> p = this->part_at(part.batch, part.head);
    block.each(states, [&](int thread, State&) {
      Base::template load_tile<rows>(thread, of_keys, p.k, f.k.row, part.first, static_cast<int>(f.keys));
      Base::template load_tile<rows>(thread, values, p.v, f.v.row, part.first, static_cast<int>(f.keys));
    });
    const int end = static_cast<int>(f.queries);
    for (std::int64_t head = part.head; head < part.head_end; ++head) {
      p = this->part_at(part.batch, head);
      const float* const of_g = this->rows_at(g, part.batch, head);
      for (int t = part.begin; t < end; t += queries) {
        const auto load = [&](const float* x, std::int64_t step) {
          block.each(states, [&](int thread, State&) {
            Base::template load_tile<queries>(thread, tile, x, step, t, end);
          });
        };
        const auto add = [&](auto product, auto total) {
          block.each(states, [&](int thread, State& s) { Base::store_tile(thread, factors, s.*product); });
          block.wait();
          block.each(states, [&](int thread, State& s) {
            Base::template add_products<queries>(thread, s.*total, factors, tile);
          });
          block.wait();
        };
        block.each(states, [&](int thread, State&) {
          if (thread < queries) this->load_numbers(p, t, thread, along, logarithms, sums);
        });
        load(p.q, f.q.row);
        block.wait();
        block.each(states,
                   [&](int thread, State& s) { Base::multiply_rows(thread, s.weights, of_keys, tile); });
        block.wait();
        load(of_g, g.row);
        block.wait();
        block.each(states, [&](int thread, State& s) {
          Base::multiply_rows(thread, s.slopes, values, tile);
          weigh(thread, s, p, t, part.first, logarithms, sums);
        });
        add(&State::weights, &State::of_values);
        load(p.q, f.q.row);
        add(&State::slopes, &State::of_keys);
      }
    }
    block.each(states, [&](int thread, State& s) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r)
        if (const int j = part.first + Base::row_of(thread) + r; j < f.keys) {
          Base::write_row(thread, this->rows_at(dk, part.batch, part.group) + j * dk.row, f.width,
                          s.of_keys[r], static_cast<float>(f.scale));
          Base::write_row(thread, this->rows_at(dv, part.batch, part.group) + j * dv.row, f.width,
                          s.of_values[r], 1.f);
        }
    });
  }

 private:
  constexpr void weigh(int thread, State& s, const AttentionPart<float>& p, int t, int first,
                       const float* logarithms, const float* sums) const {
    const int j = first + Base::row_of(thread), column = thread % across;
    this->finish_logits(s.weights, this->sees_all(p, t, queries, first, rows), [&](int r, int c, float x) {
      return this->logit(p, t + column + across * c, j + r, x);
    });
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float of_each = 1.f / static_cast<float>(f.keys);
    NAX_GPU_UNROLL
    for (int c = 0; c < queries / across; ++c) {
      const int query = column + across * c;
      const float most = logarithms[2 * query], logarithm = logarithms[2 * query + 1], sum = sums[query];
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) {
        const float weight = this->power(s.weights[r][c] - most, logarithm);
        s.slopes[r][c] = weight * (s.slopes[r][c] - sum);
        s.weights[r][c] = most == infinity && t + query < p.query_end ? of_each : weight;
      }
    }
  }
};

}  // namespace cuda
NAX_END
