#pragma once

#include <cmath>

#include "nax/backend/cuda/row_loops.hpp"

// Variances and normalised rows: a team of threads does a row.
NAX_BEGIN
namespace cuda {

// variance or standardize.
template <loops::RowFunction what, int per, class T, class OneTeam>
constexpr void moments_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::sqrt;
  const std::int64_t n = r.length;
  const T* const x = r.from[0] + row * n;
  const T mean = row_sum<per, T>(
                     team, n, [](T a) { return a; }, x) /
                 static_cast<T>(n);
  const T squares = row_sum<per, T>(
      team, n, [=](T a) { return (a - mean) * (a - mean); }, x);
  if constexpr (what == loops::RowFunction::variance) {
    write_number(team, row, r.to[0], squares / r.number);
  } else {
    const T inverse = T(1) / sqrt(squares / static_cast<T>(n) + r.number);
    write_number(team, row, r.to[1], mean);
    write_number(team, row, r.to[2], inverse);
    T* const to = r.to[0] + row * n;
    const T *const scale = r.from[1], *const bias = r.from[2];
    if (scale)
      write_row<per>(
          team, n, to, [=](T a, T by, T plus) { return (a - mean) * inverse * by + plus; }, x, scale, bias);
    else
      write_row<per>(
          team, n, to, [=](T a) { return (a - mean) * inverse; }, x);
  }
}

template <int per, class T, class OneTeam>
constexpr void rms_norm_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::sqrt;
  const std::int64_t n = r.length;
  const T *const x = r.from[0] + row * n, *const scale = r.from[1];
  const T squares = row_sum<per, T>(
      team, n, [](T a) { return a * a; }, x);
  const T inverse = T(1) / sqrt(squares / static_cast<T>(n) + r.number);
  write_number(team, row, r.to[1], inverse);
  write_row<per>(
      team, n, r.to[0] + row * n, [=](T a, T by) { return a * inverse * by; }, x, scale);
}

// out = inverse (g - mean(g) - y mean(g y)), the mean of g only where the rows were centred; g and y are
// functions of the elements of the rows x.
template <bool centred, int per, class T, class OneTeam, class G, class Y, class... Rows>
constexpr void normalized_gradient_row(const OneTeam& team, std::int64_t n, const G& g, const Y& y, T inverse,
                                       T* out, const Rows*... x) {
  const TwoSums sums = row_sums<per, T>(team, n, g, y, x...);
  const T mean = centred ? static_cast<T>(sums.first) / static_cast<T>(n) : T(0);
  const T along = static_cast<T>(sums.second) / static_cast<T>(n);
  write_row<per>(
      team, n, out, [=](auto... a) { return inverse * (g(a...) - mean - y(a...) * along); }, x...);
}

template <int per, class T, class OneTeam>
constexpr void standardize_gradient_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  const std::int64_t n = r.length;
  const T *const g = r.from[0] + row * n, *const y = r.from[1] + row * n;
  normalized_gradient_row<true, per>(
      team, n, [](T a, T) { return a; }, [](T, T b) { return b; }, r.from[2][row], r.to[0] + row * n, g, y);
}

}  // namespace cuda
NAX_END
