#pragma once

#include <bit>
#include <cstdint>

#include "nax/backend/cpu/packets/packet.hpp"

// Derivatives of the extrema of rows: in passes over a row that stays in the first cache. An element counts
// where it equals its row's extremum `y`, or is NaN, as the extremum is then.
NAX_BEGIN
namespace cpu {
inline namespace NAX_SIMD_ABI {

template <class T>
struct RowExtremum {
  using P = simd::Packet<T>;
  T y;
  simd::Mask<T> reached(P x) const { return (x == P(y)) | (x != x); }
  bool reached(T x) const { return x == y || x != x; }

  // How many elements do.
  T count(const T* x, std::int64_t n) const {
    std::int64_t sum = 0, i = 0;
    for (; i + P::size <= n; i += P::size) sum += std::popcount(bits(reached(P::load(x + i))));
    for (; i < n; ++i) sum += reached(x[i]);
    return static_cast<T>(sum);
  }
};

// out[r * n + i] = g[r], shared out evenly among the elements of the row that reach y[r]; 0 for the others.
template <class T>
void spread_extrema(const T* x, const T* y, const T* g, T* out, std::int64_t rows, std::int64_t n) {
  using P = simd::Packet<T>;
  for (std::int64_t r = 0; r < rows; ++r, x += n, out += n) {
    const RowExtremum<T> row{y[r]};
    const T share = g[r] / row.count(x, n);
    std::int64_t i = 0;
    for (; i + P::size <= n; i += P::size) kept(row.reached(P::load(x + i)), P(share)).store(out + i);
    for (; i < n; ++i) out[i] = row.reached(x[i]) ? share : T(0);
  }
}

// out[r] = the mean of t over the elements of row r that reach y[r].
template <class T>
void mean_over_extrema(const T* x, const T* y, const T* t, T* out, std::int64_t rows, std::int64_t n) {
  using P = simd::Packet<T>;
  for (std::int64_t r = 0; r < rows; ++r, x += n, t += n) {
    const RowExtremum<T> row{y[r]};
    P sums(T(0));
    std::int64_t i = 0;
    for (; i + P::size <= n; i += P::size) sums += kept(row.reached(P::load(x + i)), P::load(t + i));
    T sum = reduce_add(sums);
    for (; i < n; ++i)
      if (row.reached(x[i])) sum += t[i];
    out[r] = sum / row.count(x, n);
  }
}

}  // namespace NAX_SIMD_ABI

}  // namespace cpu
NAX_END
