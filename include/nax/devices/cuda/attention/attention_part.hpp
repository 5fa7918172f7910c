#pragma once

#include <cmath>
#include <limits>

#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"
#include "nax/loops/attention.hpp"

// Attention without a matrix of queries by keys: a block takes some queries of a head, and meets some keys at
// a time; greatest logits and sums of rows are carried along (Milakov and Gimelshein, arXiv:1805.02867; Dao
// et al., arXiv:2205.14135). This header has what its kernels share.
NAX_BEGIN
namespace cuda {

inline constexpr float log2_e = 1.44269504088896340736f;
// The logit of a key that is ruled out; finite logits of others stay above it.
inline constexpr float least_logit = -0.7f * std::numeric_limits<float>::max();

// More queries, keys or places of a window are not counted: sums of two of them are int's.
inline constexpr std::int64_t most_places = (std::int64_t{1} << 30) - 1;

struct LogitMax {
  static constexpr float join(float a, float b) { return a > b ? a : b; }
};
struct LogitSum {
  static constexpr float join(float a, float b) { return a + b; }
};

// Queries of a head, from `first` on, and the keys [begin, end) that some of them may see.
template <class T>
struct AttentionPart {
  std::int64_t batch, head;
  int first, begin, end, query_end, key_end;
  int left, right;  // how many keys a query sees before and behind its own place
  const T *q, *k, *v;
  T* out;
};

template <class T, int rows_of_part>
struct AttentionBody {
  loops::Attention f;
  std::int64_t parts;  // of a head
  float scale;         // of products, times the unit
  bool in_pieces;      // all rows are pieces of 16 bytes

  // Logits of half types are of base 2. Those of float keep the digits of natural ones beside a great bias.
  static constexpr float unit = sizeof(T) == 4 ? 1.f : log2_e, least_seen = -1.6e38f * unit;
  // The exponential of a difference of logits; log2_of_sum is taken off behind it.
  static constexpr float power(float x, float log2_of_sum = 0) {
    using std::exp2;
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 2) {  // without the steps that keep numbers below 2^-126, which round to zero
      float y = 0;
      asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x - log2_of_sum));
      return y;
    }
#endif
    return exp2(x * (log2_e / unit) - log2_of_sum);
  }

  // Parts that see the most keys come first where attention is causal.
  constexpr AttentionPart<T> part_of(std::int64_t i) const {
    const std::int64_t of_head = i / parts, batch = of_head / f.heads;
    AttentionPart<T> p = part_at(batch, of_head - batch * f.heads);
    p.first = static_cast<int>(parts - 1 - (i - of_head * parts)) * rows_of_part;
    const int last = p.first + rows_of_part < p.query_end ? p.first + rows_of_part - 1 : p.query_end - 1;
    p.begin = begin_of(p, p.first);
    p.end = p.first < p.query_end ? end_of(p, last) : p.begin;
    return p;
  }
  // A head, without a range of queries and keys.
  constexpr AttentionPart<T> part_at(std::int64_t batch, std::int64_t head) const {
    const std::int64_t group = head / (f.heads / f.groups);
    AttentionPart<T> p{};
    p.batch = batch;
    p.head = head;
    p.query_end = length_of(f.query_lengths, batch, f.queries);
    p.key_end = length_of(f.key_lengths, batch, f.keys);
    p.q = rows_at(f.q, batch, head), p.k = rows_at(f.k, batch, group), p.v = rows_at(f.v, batch, group);
    p.out = rows_at(f.out, batch, head);
    p.left = static_cast<int>(f.window ? f.left : most_places);
    p.right = static_cast<int>(f.window ? f.right : most_places);
    if (f.causal && p.right > 0) p.right = 0;
    return p;
  }
  static constexpr T* rows_at(const loops::AttentionRows& x, std::int64_t batch, std::int64_t head) {
    return reinterpret_cast<T*>(x.data) + batch * x.batch + head * x.head;
  }
  // Do `queries` rows from t on all see all of `keys` keys from j on?
  constexpr bool sees_all(const AttentionPart<T>& p, int t, int queries, int j, int keys) const {
    return !f.mask.data && !f.bias.data && j + keys <= p.key_end && t + queries <= p.query_end &&
           j + keys - 1 <= t + p.right && j >= t + queries - 1 - p.left;
  }
  // Is there no key in the range of query t?
  constexpr bool is_blind(const AttentionPart<T>& p, int t) const {
    return t >= p.query_end || begin_of(p, t) >= end_of(p, t);
  }
  // The logit of query t and key j from their product.
  constexpr float logit(const AttentionPart<T>& p, int t, int j, float product) const {
    float x = product * scale;
    bool seen = j < p.key_end && j <= t + p.right && j >= t - p.left && t < p.query_end;
    if (f.bias.data && seen)
      x += finite(static_cast<float>(reinterpret_cast<const T*>(f.bias.data)[place(f.bias, p, t, j)]),
                  least_seen / unit) *
           unit;
    if (f.mask.data && seen) seen = reinterpret_cast<const bool*>(f.mask.data)[place(f.mask, p, t, j)];
    return seen ? finite(x, least_seen) : least_logit;
  }

  // Where query t has its number, in arrays of (batch, queries, heads); `logarithms` have two.
  constexpr std::int64_t number_at(const AttentionPart<T>& p, int t) const {
    return (p.batch * f.queries + t) * f.heads + p.head;
  }
  constexpr void write_logarithms(const AttentionPart<T>& p, int t, bool blind, float most, float sum) const {
    if (!f.logarithms) return;
    float* const own = f.logarithms + 2 * number_at(p, t);
    own[0] = blind ? std::numeric_limits<float>::infinity() : most;
    own[1] = blind ? 0.f : std::log2(sum);
  }
  // Loads what the queries' gradients need of query t: its logarithms, and a thread's part of the sum of its
  // result times its cotangent, of `lanes` threads.
  template <int lanes>
  constexpr void load_query(const AttentionPart<T>& p, int t, const loops::AttentionRows& g, int lane,
                            float& most, float& logarithm, float& along) const {
    most = f.logarithms[2 * number_at(p, t)];
    logarithm = f.logarithms[2 * number_at(p, t) + 1];
    const T* const of_g = rows_at(g, p.batch, p.head) + t * g.row;
    along = 0;
    NAX_GPU_ROLLED
    for (int column = lane; column < f.width; column += lanes)
      along += static_cast<float>(of_g[column]) * static_cast<float>(p.out[t * f.out.row + column]);
  }
  // Loads what the keys' gradients need of query t + n: its logarithms, and its number of `along`.
  constexpr void load_numbers(const AttentionPart<T>& p, int t, int n, const float* along, float* logarithms,
                              float* sums) const {
    const bool is_there = t + n < f.queries;
    const std::int64_t at = is_there ? number_at(p, t + n) : 0;
    logarithms[2 * n] = is_there ? f.logarithms[2 * at] : 0;
    logarithms[2 * n + 1] = is_there ? f.logarithms[2 * at + 1] : 0;
    sums[n] = is_there ? along[at] : 0;
  }
  // Some keys of a group, from `first` on; queries from `begin` on, `step` at a time, may see them.
  struct KeyPart {
    std::int64_t batch, group, head, head_end;
    int first, begin;
  };
  constexpr KeyPart key_part_of(std::int64_t i, int step) const {
    const std::int64_t of_group = i / parts, batch = of_group / f.groups, group = of_group - batch * f.groups,
                       heads = f.heads / f.groups;
    const int first = static_cast<int>(i - of_group * parts) * rows_of_part;
    return {
        batch, group, group * heads, (group + 1) * heads, first, all_see_a_key() ? first / step * step : 0};
  }
  // The number taken off the logits of a row whose greatest is `most`.
  static constexpr float shift_of(float most) {
    return most == -std::numeric_limits<float>::infinity() ? 0.f : most;
  }

  // Writes the means of all values, the result of query t that sees no key: `count` elements from `first` on,
  // and as many in each `step`.
  constexpr void write_blind(const AttentionPart<T>& p, int t, T* to, int first, int count, int step) const {
    NAX_GPU_ROLLED
    for (int begin = first; begin < f.width; begin += step) {
      NAX_GPU_ROLLED
      for (int column = begin; column < begin + count && column < f.width; ++column) {
        float sum = 0;
        NAX_GPU_ROLLED
        for (std::int64_t j = 0; j < f.keys && t < p.query_end; ++j)
          sum += static_cast<float>(p.v[j * f.v.row + column]);
        to[column] = static_cast<T>(sum / static_cast<float>(f.keys));
      }
    }
  }

  // put(row, column, piece) for a thread's pieces of rows [first, first + count) of x, of up to `width`
  // elements; zero from row `end` on and behind a row's end.
  template <int count, int width, class Put>
  constexpr void load_tile(int thread, const T* x, std::int64_t step, int first, int end,
                           const Put& put) const {
    constexpr int per = piece_bytes / static_cast<int>(sizeof(T)), of_row = width / per, threads = 256;
    if (in_pieces) {
      NAX_GPU_UNROLL
      for (int k = 0; k < count * of_row / threads; ++k) {
        const int e = thread + k * threads, row = e / of_row, column = e % of_row * per;
        Piece<16> piece{};
        if (first + row < end && column < f.width)
          piece = Piece<16>::load(reinterpret_cast<const char*>(x + (first + row) * step + column));
        put(row, column, piece);
      }
      return;
    }
    NAX_GPU_ROLLED
    for (int e = thread; e < count * of_row; e += threads) {
      const int row = e / of_row, column = e % of_row * per;
      Piece<16> piece{};
      NAX_GPU_UNROLL
      for (int j = 0; j < per; ++j)
        if (first + row < end && column + j < f.width)
          piece.template set<T>(j, x[(first + row) * step + column + j]);
      put(row, column, piece);
    }
  }

 private:
  // Does each query see a key, and none a key behind its own? (One that sees no key has weights for all.)
  constexpr bool all_see_a_key() const {
    return f.causal && !f.window && !f.mask.data && !f.query_lengths.data && !f.key_lengths.data;
  }
  // x, or `least` where it is less and finite: a bias of the least number overflows in base 2.
  static constexpr float finite(float x, float least) {
    return x < least && x >= std::numeric_limits<float>::lowest() ? least : x;
  }
  static constexpr int length_of(const loops::AttentionLengths& x, std::int64_t batch, std::int64_t most) {
    const std::int64_t n = x.data ? x.data[batch * x.batch] : most;
    return static_cast<int>(n < 0 ? 0 : n < most ? n : most);
  }
  static constexpr int begin_of(const AttentionPart<T>& p, int t) { return t > p.left ? t - p.left : 0; }
  static constexpr int end_of(const AttentionPart<T>& p, int t) {
    const int end = t + p.right + 1;
    return end < 0 ? 0 : end < p.key_end ? end : p.key_end;
  }
  static constexpr std::int64_t place(const loops::AttentionPlane& x, const AttentionPart<T>& p, int t,
                                      int j) {
    return p.batch * x.batch + p.head * x.head + t * x.row + j * x.column;
  }
};

}  // namespace cuda
NAX_END
