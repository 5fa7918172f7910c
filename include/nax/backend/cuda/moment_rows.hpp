#pragma once

#include <cmath>

#include "nax/backend/cuda/row_loops.hpp"

// Variances and normalised rows: a team of threads does a row.
NAX_BEGIN
namespace cuda {

// variance or standardize.
template <loops::RowFunction what, class T, class OneTeam>
constexpr void moments_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::sqrt;
  const std::int64_t n = r.length;
  const T* const x = r.from[0] + row * n;
  const T mean = row_sum<T>(team, n, [=](std::int64_t i) { return x[i]; }) / static_cast<T>(n);
  const T squares = row_sum<T>(team, n, [=](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); });
  if constexpr (what == loops::RowFunction::variance) {
    write_number(team, row, r.to[0], squares / r.number);
  } else {
    const T inverse = T(1) / sqrt(squares / static_cast<T>(n) + r.number);
    write_number(team, row, r.to[1], mean);
    write_number(team, row, r.to[2], inverse);
    T* const to = r.to[0] + row * n;
    const T *const scale = r.from[1], *const bias = r.from[2];
    if (scale)
      write_row(team, n, to, [=](std::int64_t i) { return (x[i] - mean) * inverse * scale[i] + bias[i]; });
    else
      write_row(team, n, to, [=](std::int64_t i) { return (x[i] - mean) * inverse; });
  }
}

template <class T, class OneTeam>
constexpr void rms_norm_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::sqrt;
  const std::int64_t n = r.length;
  const T *const x = r.from[0] + row * n, *const scale = r.from[1];
  const T squares = row_sum<T>(team, n, [=](std::int64_t i) { return x[i] * x[i]; });
  const T inverse = T(1) / sqrt(squares / static_cast<T>(n) + r.number);
  write_number(team, row, r.to[1], inverse);
  write_row(team, n, r.to[0] + row * n, [=](std::int64_t i) { return x[i] * inverse * scale[i]; });
}

// out = inverse (g - mean(g) - y mean(g y)), the mean of g only where the rows were centred; g(i) and y(i)
// read a row.
template <bool centred, class T, class OneTeam, class G, class Y>
constexpr void normalized_gradient_row(const OneTeam& team, std::int64_t n, const G& g, const Y& y, T inverse,
                                       T* out) {
  const TwoSums sums = row_sums<T>(team, n, g, y);
  const T mean = centred ? static_cast<T>(sums.first) / static_cast<T>(n) : T(0);
  const T along = static_cast<T>(sums.second) / static_cast<T>(n);
  write_row(team, n, out, [=](std::int64_t i) { return inverse * (g(i) - mean - y(i) * along); });
}

template <class T, class OneTeam>
constexpr void standardize_gradient_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  const std::int64_t n = r.length;
  const T *const g = r.from[0] + row * n, *const y = r.from[1] + row * n;
  normalized_gradient_row<true>(
      team, n, [=](std::int64_t i) { return g[i]; }, [=](std::int64_t i) { return y[i]; }, r.from[2][row],
      r.to[0] + row * n);
}

}  // namespace cuda
NAX_END
