#pragma once

#include "nax/devices/cuda/attention/half_tiles.hpp"

// Derivatives of attention of half and bfloat16 rows: weights are computed again from the rows' greatest
// logits and the logarithms of their sums. One kernel takes some queries of a head and meets its keys, for
// the queries' gradients, and writes `along`, the sums of the results times their cotangents; one takes some
// keys of a group and meets the queries of its heads, for the keys' and the values'. Nothing is added by two
// blocks, so that results repeat exactly.
NAX_BEGIN
namespace cuda {

template <class T, int width>
struct QueryGradients : HalfTiles<T, width> {
  using Base = HalfTiles<T, width>;
  using Base::f, Base::rows, Base::stride;
  static constexpr int keys = width > 64 ? 32 : 64;
  static constexpr int blocks = 1, shared_bytes = 2 * (rows + keys) * stride * 2;
  loops::AttentionRows g, dq;
  float* along;

  struct State {
    float logits[keys / 8][4], slopes[keys / 8][4], sums[width / 8][4];
    std::uint32_t first[4], second[4];  // factors
    float most[2], logarithm[2], along[2];
  };

  template <class OneBlock>
  constexpr void operator()(const OneBlock& block, std::int64_t i) const {
    const AttentionPart<T> p = this->part_of(i);
    std::uint16_t* const queries = reinterpret_cast<std::uint16_t*>(block.room);
    std::uint16_t* const of_g = queries + rows * stride;
    std::uint16_t* const of_keys = of_g + rows * stride;
    std::uint16_t* const values = of_keys + keys * stride;
    typename OneBlock::template Each<State> states{};
    block.each(states, [&](int thread, State& s) {
      const int end = static_cast<int>(f.queries);
      Base::template load_tile<rows>(thread, queries, p.q, f.q.row, p.first, end);
      Base::template load_tile<rows>(thread, of_g, this->rows_at(g, p.batch, p.head), g.row, p.first, end);
      NAX_GPU_UNROLL
      for (int r = 0; r < 2; ++r)
        if (const int t = p.first + Base::row_of(thread) + 8 * r; t < end)
          this->template load_query<4>(p, t, g, thread % 4, s.most[r], s.logarithm[r], s.along[r]);
    });
    block.template combine<4, &State::along>(states, LogitSum());
    block.each(states, [&](int thread, State& s) {
      if (thread % 4 != 0) return;
      NAX_GPU_UNROLL
      for (int r = 0; r < 2; ++r)
        if (const int t = p.first + Base::row_of(thread) + 8 * r; t < f.queries)
          along[this->number_at(p, t)] = s.along[r];
    });
    for (int j = p.begin; j < p.end; j += keys) {
      block.each(states, [&](int thread, State&) {
        Base::template load_tile<keys>(thread, of_keys, p.k, f.k.row, j, p.end);
        Base::template load_tile<keys>(thread, values, p.v, f.v.row, j, p.end);
      });
      block.wait();
      Base::template multiply_rows<&State::logits, keys, State>(block, states, queries, of_keys);
      Base::template multiply_rows<&State::slopes, keys, State>(block, states, of_g, values);
      block.each(states, [&](int thread, State& s) { weigh(thread, s, p, j); });
      Base::template add_products<&State::sums, &State::slopes, keys, State>(block, states, of_keys);
      block.wait();
    }
    block.each(states, [&](int thread, State& s) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 2; ++r)
        if (const int t = p.first + Base::row_of(thread) + 8 * r; t < f.queries)
          Base::write_row(thread, this->rows_at(dq, p.batch, p.head) + t * dq.row, f.width, s.sums, r,
                          static_cast<float>(f.scale));
    });
  }

 private:
  constexpr void weigh(int thread, State& s, const AttentionPart<T>& p, int j) const {
    this->finish_logits(s.logits, this->sees_all(p, p.first, rows, j, keys), [&](int n, int r, float x) {
      return this->logit(p, p.first + Base::row_of(thread) + r / 2 * 8,
                         j + n * 8 + Base::pair_of(thread) + r % 2, x);
    });
    NAX_GPU_UNROLL
    for (int n = 0; n < keys / 8; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r)
        s.slopes[n][r] = this->power(s.logits[n][r] - s.most[r / 2], s.logarithm[r / 2]) *
                         (s.slopes[n][r] - s.along[r / 2]);
    }
  }
};

template <class T, int width>
struct KeyGradients : HalfTiles<T, width> {
  using Base = HalfTiles<T, width>;
  using Base::f, Base::rows, Base::stride;
  static constexpr int queries = width > 64 ? 32 : 64;
  static constexpr int blocks = 1, shared_bytes = 2 * (rows + queries) * stride * 2 + 3 * queries * 4;
  loops::AttentionRows g, dk, dv;
  const float* along;

  struct State {
    float logits[queries / 8][4], slopes[queries / 8][4];  // keys by queries
    float of_keys[width / 8][4], of_values[width / 8][4];
    std::uint32_t first[4], second[4];  // factors
  };

  template <class OneBlock>
  constexpr void operator()(const OneBlock& block, std::int64_t i) const {
    const auto part = this->key_part_of(i, queries);
    std::uint16_t* const of_keys = reinterpret_cast<std::uint16_t*>(block.room);
    std::uint16_t* const values = of_keys + rows * stride;
    std::uint16_t* const of_queries = values + rows * stride;
    std::uint16_t* const of_g = of_queries + queries * stride;
    float* const logarithms = reinterpret_cast<float*>(of_g + queries * stride);
    float* const sums = logarithms + 2 * queries;
    typename OneBlock::template Each<State> states{};
    AttentionPart<T> p = this->part_at(part.batch, part.head);
    block.each(states, [&](int thread, State&) {
      Base::template load_tile<rows>(thread, of_keys, p.k, f.k.row, part.first, static_cast<int>(f.keys));
      Base::template load_tile<rows>(thread, values, p.v, f.v.row, part.first, static_cast<int>(f.keys));
    });
    const int end = static_cast<int>(f.queries);
    for (std::int64_t head = part.head; head < part.head_end; ++head) {
      p = this->part_at(part.batch, head);
      for (int t = part.begin; t < end; t += queries) {
        block.each(states, [&](int thread, State&) {
          Base::template load_tile<queries>(thread, of_queries, p.q, f.q.row, t, end);
          Base::template load_tile<queries>(thread, of_g, this->rows_at(g, part.batch, head), g.row, t, end);
          if (thread < queries) this->load_numbers(p, t, thread, along, logarithms, sums);
        });
        block.wait();
        Base::template multiply_rows<&State::logits, queries, State>(block, states, of_keys, of_queries);
        Base::template multiply_rows<&State::slopes, queries, State>(block, states, values, of_g);
        block.each(states,
                   [&](int thread, State& s) { weigh(thread, s, p, t, part.first, logarithms, sums); });
        Base::template add_products<&State::of_values, &State::logits, queries, State>(block, states, of_g);
        Base::template add_products<&State::of_keys, &State::slopes, queries, State>(block, states,
                                                                                     of_queries);
        block.wait();
      }
    }
    block.each(states, [&](int thread, State& s) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 2; ++r)
        if (const int j = part.first + Base::row_of(thread) + 8 * r; j < f.keys) {
          Base::write_row(thread, this->rows_at(dk, part.batch, part.group) + j * dk.row, f.width, s.of_keys,
                          r, static_cast<float>(f.scale));
          Base::write_row(thread, this->rows_at(dv, part.batch, part.group) + j * dv.row, f.width,
                          s.of_values, r, 1.f);
        }
    });
  }

 private:
  constexpr void weigh(int thread, State& s, const AttentionPart<T>& p, int t, int first,
                       const float* logarithms, const float* sums) const {
    const int j = first + Base::row_of(thread), pair = Base::pair_of(thread);
    this->finish_logits(s.logits, this->sees_all(p, t, queries, first, rows), [&](int n, int r, float x) {
      return this->logit(p, t + n * 8 + pair + r % 2, j + r / 2 * 8, x);
    });
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float of_each = 1.f / static_cast<float>(f.keys);
    NAX_GPU_UNROLL
    for (int n = 0; n < queries / 8; ++n) {
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) {
        const int query = n * 8 + pair + r % 2;
        const float most = logarithms[2 * query],
                    weight = this->power(s.logits[n][r] - most, logarithms[2 * query + 1]);
        s.slopes[n][r] = weight * (s.slopes[n][r] - sums[query]);
        s.logits[n][r] = most == infinity && t + query < p.query_end ? of_each : weight;
      }
    }
  }
};

}  // namespace cuda
NAX_END
