#pragma once

#include <cmath>

#include "nax/backend/cuda/row_loops.hpp"

// softmax and its kin: a team of threads does a row. It reads the row once for each sum and once for the
// result, from caches but for the first time.
NAX_BEGIN
namespace cuda {

// logsumexp of infinite elements is infinite: exp(-inf - shift) is to be 0 and not NaN.
template <class T>
constexpr T finite_or_zero(T m) {
  constexpr T infinite = std::numeric_limits<T>::infinity();
  return m == infinite || m == -infinite || m != m ? T(0) : m;
}

// softmax, log_softmax or logsumexp.
template <loops::RowFunction what, class T, class OneTeam>
constexpr void softmax_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using F = loops::RowFunction;
  using std::exp, std::log;
  const std::int64_t n = r.length;
  const T* const x = r.from[0] + row * n;
  const T most = row_greatest(team, n, x), m = what == F::logsumexp ? finite_or_zero(most) : most;
  const T total = row_sum<T>(team, n, [=](std::int64_t i) { return exp(x[i] - m); });
  if constexpr (what == F::softmax) {
    write_row(team, n, r.to[0] + row * n, [=](std::int64_t i) { return exp(x[i] - m) / total; });
  } else {
    const T log_total = log(total);
    if constexpr (what == F::log_softmax)
      write_row(team, n, r.to[0] + row * n, [=](std::int64_t i) { return x[i] - m - log_total; });
    else
      write_number(team, row, r.to[0], log_total + m);
  }
}

template <loops::RowFunction what, class T, class OneTeam>
constexpr void softmax_gradient_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::exp;
  const std::int64_t n = r.length;
  const T *const g = r.from[0] + row * n, *const y = r.from[1] + row * n;
  T* const to = r.to[0] + row * n;
  if constexpr (what == loops::RowFunction::softmax_gradient) {
    const T along = row_sum<T>(team, n, [=](std::int64_t i) { return g[i] * y[i]; });
    write_row(team, n, to, [=](std::int64_t i) { return y[i] * (g[i] - along); });
  } else {
    const T total = row_sum<T>(team, n, [=](std::int64_t i) { return g[i]; });
    write_row(team, n, to, [=](std::int64_t i) { return g[i] - exp(y[i]) * total; });
  }
}

template <class T, class OneTeam>
constexpr void cross_entropy_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::exp, std::log;
  const std::int64_t n = r.length;
  const T *const x = r.from[0] + row * n, *const labels = r.from[1] + row * n;
  const T m = row_greatest(team, n, x);
  const T l = log(row_sum<T>(team, n, [=](std::int64_t i) { return exp(x[i] - m); }));
  write_number(team, row, r.to[1], m);
  write_number(team, row, r.to[2], l);
  const T total = row_sum<T>(team, n, [=](std::int64_t i) { return labels[i] * (x[i] - m - l); });
  write_number(team, row, r.to[0], -total);
}

template <class T, class OneTeam>
constexpr void cross_entropy_gradient_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::exp;
  const std::int64_t n = r.length;
  const T *const x = r.from[0] + row * n, *const labels = r.from[1] + row * n;
  const T m = r.from[2][row], l = r.from[3][row], g = r.from[4] ? r.from[4][row] : r.number;
  const T weight = row_sum<T>(team, n, [=](std::int64_t i) { return labels[i]; });
  write_row(team, n, r.to[0] + row * n,
            [=](std::int64_t i) { return g * (exp(x[i] - m - l) * weight - labels[i]); });
}

}  // namespace cuda
NAX_END
