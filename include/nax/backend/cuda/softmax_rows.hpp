#pragma once

#include <algorithm>
#include <cmath>

#include "nax/backend/cuda/row_loops.hpp"
#include "nax/backend/cuda/scratch.hpp"

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
template <loops::RowFunction what, int per, class T, class OneTeam>
constexpr void softmax_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using F = loops::RowFunction;
  using std::exp, std::log;
  const std::int64_t n = r.length;
  const T* const x = r.from[0] + row * n;
  const T most = row_greatest<per>(team, n, x), m = what == F::logsumexp ? finite_or_zero(most) : most;
  const T total = row_sum<per, T>(
      team, n, [=](T a) { return exp(a - m); }, x);
  if constexpr (what == F::softmax) {
    write_row<per>(
        team, n, r.to[0] + row * n, [=](T a) { return exp(a - m) / total; }, x);
  } else {
    const T log_total = log(total);
    if constexpr (what == F::log_softmax)
      write_row<per>(
          team, n, r.to[0] + row * n, [=](T a) { return a - m - log_total; }, x);
    else
      write_number(team, row, r.to[0], log_total + m);
  }
}

// A few long rows are cut into parts: a launch finds the greatest element of each part and its sum, another
// one joins these and writes.
template <class T>
struct SoftmaxState {
  T most;
  double sum;  // of exp(x - finite_or_zero(most))
};
template <class T>
struct JoinSoftmaxStates {
  static constexpr SoftmaxState<T> join(const SoftmaxState<T>& a, const SoftmaxState<T>& b) {
    using std::exp;
    const T most = RowMax::join(a.most, b.most), shift = finite_or_zero(most);
    const auto moved = [=](const SoftmaxState<T>& x) {
      return x.sum == 0 ? 0. : x.sum * static_cast<double>(exp(finite_or_zero(x.most) - shift));
    };
    return {most, moved(a) + moved(b)};
  }
};
template <class T, int per>
struct SoftmaxParts {
  RowOperands<T> r;
  std::int64_t parts, run;  // of a row; elements of a part
  SoftmaxState<T>* states;

  constexpr std::int64_t size(std::int64_t part) const {
    return (part + 1) * run < r.length ? run : r.length - part * run;
  }
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    using std::exp;
    const std::int64_t row = i / parts, part = i - row * parts, n = size(part);
    const T* const x = r.from[0] + row * r.length + part * run;
    const T most = row_greatest<per>(team, n, x), m = finite_or_zero(most);
    const T total = row_sum<per, T>(
        team, n, [=](T a) { return exp(a - m); }, x);
    if (team.thread() == 0) states[i] = {most, static_cast<double>(total)};
  }
};
template <class T, loops::RowFunction what, int per>
struct SoftmaxOfParts : SoftmaxParts<T, per> {
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    using F = loops::RowFunction;
    using std::exp, std::log;
    constexpr T infinite = std::numeric_limits<T>::infinity();
    const auto& r = this->r;
    const std::int64_t row = what == F::logsumexp ? i : i / this->parts, part = i - row * this->parts;
    SoftmaxState<T> all{-infinite, 0};
    for (std::int64_t p = team.thread(); p < this->parts; p += team.threads())
      all = JoinSoftmaxStates<T>::join(all, this->states[row * this->parts + p]);
    all = team.combine(all, JoinSoftmaxStates<T>());
    const T total = static_cast<T>(all.sum);
    if constexpr (what == F::logsumexp) {
      write_number(team, row, r.to[0], log(total) + finite_or_zero(all.most));
    } else {
      const T m = all.most, none = m - m;  // NaN for a row without a finite greatest element
      const std::int64_t first = row * r.length + part * this->run, n = this->size(part);
      if constexpr (what == F::softmax) {
        write_row<per>(
            team, n, r.to[0] + first, [=](T a) { return exp(a - m) / total + none; }, r.from[0] + first);
      } else {
        const T log_total = log(total) + none;
        write_row<per>(
            team, n, r.to[0] + first, [=](T a) { return a - m - log_total; }, r.from[0] + first);
      }
    }
  }
};

// Returns false, and does nothing, where rows are many or short.
template <class T, loops::RowFunction what, int per>
bool launch_softmax_in_parts(Device device, std::int64_t rows, const RowOperands<T>& operands) {
  constexpr std::int64_t few = 64, least = 8192, enough_blocks = 512;  // elements of a part
  const std::int64_t wanted =
      std::min(enough_blocks / std::max<std::int64_t>(rows, 1), operands.length / least);
  if (rows > few || wanted < 2) return false;
  const std::int64_t run = ((operands.length + wanted - 1) / wanted + 63) / 64 * 64,
                     parts = (operands.length + run - 1) / run;
  const Scratch scratch(device, static_cast<std::size_t>(rows * parts) * sizeof(SoftmaxState<T>));
  const SoftmaxParts<T, per> body{operands, parts, run, reinterpret_cast<SoftmaxState<T>*>(scratch.data())};
  launch_teams(device, rows * parts, block_of_rows, body);
  launch_teams(device, what == loops::RowFunction::logsumexp ? rows : rows * parts, block_of_rows,
               SoftmaxOfParts<T, what, per>{body});
  return true;
}

template <loops::RowFunction what, int per, class T, class OneTeam>
constexpr void softmax_gradient_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::exp;
  const std::int64_t n = r.length;
  const T *const g = r.from[0] + row * n, *const y = r.from[1] + row * n;
  T* const to = r.to[0] + row * n;
  if constexpr (what == loops::RowFunction::softmax_gradient) {
    const T along = row_sum<per, T>(
        team, n, [](T a, T b) { return a * b; }, g, y);
    write_row<per>(
        team, n, to, [=](T a, T b) { return b * (a - along); }, g, y);
  } else {
    const T total = row_sum<per, T>(
        team, n, [](T a) { return a; }, g);
    write_row<per>(
        team, n, to, [=](T a, T b) { return a - exp(b) * total; }, g, y);
  }
}

template <int per, class T, class OneTeam>
constexpr void cross_entropy_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::exp, std::log;
  const std::int64_t n = r.length;
  const T *const x = r.from[0] + row * n, *const labels = r.from[1] + row * n;
  const T m = row_greatest<per>(team, n, x);
  const T l = log(row_sum<per, T>(
      team, n, [=](T a) { return exp(a - m); }, x));
  write_number(team, row, r.to[1], m);
  write_number(team, row, r.to[2], l);
  const T total = row_sum<per, T>(
      team, n, [=](T a, T b) { return b * (a - m - l); }, x, labels);
  write_number(team, row, r.to[0], -total);
}

template <int per, class T, class OneTeam>
constexpr void cross_entropy_gradient_row(const RowOperands<T>& r, const OneTeam& team, std::int64_t row) {
  using std::exp;
  const std::int64_t n = r.length;
  const T *const x = r.from[0] + row * n, *const labels = r.from[1] + row * n;
  const T m = r.from[2][row], l = r.from[3][row], g = r.from[4] ? r.from[4][row] : r.number;
  const T weight = row_sum<per, T>(
      team, n, [](T b) { return b; }, labels);
  write_row<per>(
      team, n, r.to[0] + row * n, [=](T a, T b) { return g * (exp(a - m - l) * weight - b); }, x, labels);
}

}  // namespace cuda
NAX_END
