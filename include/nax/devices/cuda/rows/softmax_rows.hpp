#pragma once

#include <cmath>

#include "nax/devices/cuda/rows/row_parts.hpp"
#include "nax/devices/cuda/rows/row_registers.hpp"

// softmax and its kin. A team keeps the elements of a row in registers where they fit. Otherwise it reads
// them once for each sum and once for the result, from caches but for the first time.
NAX_BEGIN
namespace cuda {

// logsumexp of infinite elements is infinite: exp(-inf - shift) is to be 0 and not NaN.
template <class T>
constexpr T finite_or_zero(T m) {
  constexpr T infinite = std::numeric_limits<T>::infinity();
  return m == infinite || m == -infinite || m != m ? T(0) : m;
}
// 0; NaN for a row without a finite greatest element.
template <class T>
constexpr T none_beside(T m) {
  return m - m;
}

template <class T>
struct SoftmaxState {
  T most;
  double sum;  // of exp(x - finite_or_zero(most))
};
template <class T>
struct JoinSoftmaxStates {
  // The factor of sums that are taken about `most`, about another greatest element.
  static constexpr double moved(T most, T shift) {
    using std::exp;
    return static_cast<double>(exp(finite_or_zero(most) - shift));
  }
  static constexpr SoftmaxState<T> join(const SoftmaxState<T>& a, const SoftmaxState<T>& b) {
    const T most = RowMax::join(a.most, b.most), shift = finite_or_zero(most);
    const auto sum = [=](const SoftmaxState<T>& x) { return x.sum == 0 ? 0. : x.sum * moved(x.most, shift); };
    return {most, sum(a) + sum(b)};
  }
};

template <int per, class OneTeam, class S, class T = RowNumber<S>>
constexpr SoftmaxState<T> softmax_state(const OneTeam& team, std::int64_t n, const S* x) {
  using std::exp;
  const T most = row_greatest<per>(team, n, x), m = finite_or_zero(most);
  const T total = row_sum<per, T>(
      team, n, [=](T a) { return exp(a - m); }, x);
  return {most, static_cast<double>(total)};
}

// softmax, log_softmax or logsumexp.
template <loops::RowFunction what, class S, int per>
struct SoftmaxRule {
  using T = RowNumber<S>;
  using State = SoftmaxState<T>;
  static constexpr bool writes_numbers = what == loops::RowFunction::logsumexp, fits_registers = true;

  template <class OneTeam>
  static constexpr State state(const OneTeam& team, const RowPart<S>& p) {
    return softmax_state<per>(team, p.size, p.from(0));
  }
  template <class OneTeam>
  static constexpr State join(const OneTeam& team, const State* states, const RowCut& cut,
                              std::int64_t /*length*/) {
    State all{-std::numeric_limits<T>::infinity(), 0};
    for (std::int64_t i = team.thread(); i < cut.parts; i += team.threads())
      all = JoinSoftmaxStates<T>::join(all, states[i]);
    return team.combine(all, JoinSoftmaxStates<T>());
  }
  // All of it, for a row that fits into registers.
  template <int chunks, class OneTeam>
  static constexpr void in_registers(const OneTeam& team, const RowPart<S>& p) {
    using F = loops::RowFunction;
    using std::exp, std::log;
    RowRegisters<per, T, chunks> row(team, p.size, p.from(0), -std::numeric_limits<T>::infinity());
    const T most = row.greatest(team), m = finite_or_zero(most);
    const T sum = row.template sum<what == F::softmax>(team, [=](T a) { return exp(a - m); });
    const T total = sum + none_beside(most);
    if constexpr (what == F::logsumexp)
      p.write_number(team, 0, log(sum) + m);
    else if constexpr (what == F::softmax)
      row.write(p.to(0), DivideBy<T>(total));
    else
      row.write(p.to(0), [most, log_total = log(total)](T a) { return a - most - log_total; });
  }
  template <class OneTeam>
  static constexpr void finish(const OneTeam& team, const RowPart<S>& p, const State& all) {
    using F = loops::RowFunction;
    using std::exp, std::log;
    const T m = all.most, sum = static_cast<T>(all.sum);
    if constexpr (what == F::logsumexp) {
      p.write_number(team, 0, log(sum) + finite_or_zero(m));
    } else {
      const T total = sum + none_beside(m), log_total = log(total);
      write_row<per>(
          team, p.size, p.to(0),
          [=](T a) { return what == F::softmax ? exp(a - m) / total : a - m - log_total; }, p.from(0));
    }
  }
};

// softmax_gradient or log_softmax_gradient.
template <loops::RowFunction what, class S, int per>
struct SoftmaxGradientRule : RowOfTwoSums {
  using T = RowNumber<S>;
  static constexpr bool of_log = what == loops::RowFunction::log_softmax_gradient;

  template <class OneTeam>
  static constexpr TwoSums state(const OneTeam& team, const RowPart<S>& p) {
    const T sum = of_log ? row_sum<per, T>(
                               team, p.size, [](T a) { return a; }, p.from(0))
                         : row_sum<per, T>(
                               team, p.size, [](T a, T b) { return a * b; }, p.from(0), p.from(1));
    return {static_cast<double>(sum), 0};
  }
  template <class OneTeam>
  static constexpr void finish(const OneTeam& team, const RowPart<S>& p, const TwoSums& all) {
    using std::exp;
    const T sum = static_cast<T>(all.first);
    write_row<per>(
        team, p.size, p.to(0), [=](T a, T b) { return of_log ? a - exp(b) * sum : b * (a - sum); }, p.from(0),
        p.from(1));
  }
};

template <class T>
struct CrossEntropyState {
  SoftmaxState<T> x;
  TwoSums labels;  // their sum, and that of labels (x - finite_or_zero(most))
};
template <class S, int per>
struct CrossEntropyRule {
  using T = RowNumber<S>;
  using State = CrossEntropyState<T>;
  static constexpr bool writes_numbers = true;

  template <class OneTeam>
  static constexpr State state(const OneTeam& team, const RowPart<S>& p) {
    const SoftmaxState<T> x = softmax_state<per>(team, p.size, p.from(0));
    const T m = finite_or_zero(x.most);
    return {x,
            row_sums<per, T>(
                team, p.size, [](T b, T) { return b; }, [=](T, T a) { return a - m; }, p.from(1), p.from(0))};
  }
  template <class OneTeam>
  static constexpr State join(const OneTeam& team, const State* states, const RowCut& cut,
                              std::int64_t /*length*/) {
    using Join = JoinSoftmaxStates<T>;
    SoftmaxState<T> x{-std::numeric_limits<T>::infinity(), 0};
    for (std::int64_t i = team.thread(); i < cut.parts; i += team.threads()) x = Join::join(x, states[i].x);
    x = team.combine(x, Join());
    const T m = finite_or_zero(x.most);
    TwoSums labels{0, 0};
    for (std::int64_t i = team.thread(); i < cut.parts; i += team.threads()) {
      const TwoSums some = states[i].labels;
      const double moved = static_cast<double>(finite_or_zero(states[i].x.most) - m);
      labels = JoinTwoSums::join(labels, {some.first, some.second + moved * some.first});
    }
    return {x, team.combine(labels, JoinTwoSums())};
  }
  template <class OneTeam>
  static constexpr void finish(const OneTeam& team, const RowPart<S>& p, const State& all) {
    using std::log;
    const T l = log(static_cast<T>(all.x.sum) + none_beside(all.x.most));
    p.write_number(team, 1, all.x.most);
    p.write_number(team, 2, l);
    p.write_number(team, 0, static_cast<T>(static_cast<double>(l) * all.labels.first - all.labels.second));
  }
};

template <class S, int per>
struct CrossEntropyGradientRule : RowOfTwoSums {
  using T = RowNumber<S>;
  template <class OneTeam>
  static constexpr TwoSums state(const OneTeam& team, const RowPart<S>& p) {
    const T sum = row_sum<per, T>(
        team, p.size, [](T b) { return b; }, p.from(1));
    return {static_cast<double>(sum), 0};
  }
  template <class OneTeam>
  static constexpr void finish(const OneTeam& team, const RowPart<S>& p, const TwoSums& all) {
    using std::exp;
    const T weight = static_cast<T>(all.first), m = p.number(2), l = p.number(3),
            g = p.operands.from[4] ? p.element(4) : p.operands.number;
    write_row<per>(
        team, p.size, p.to(0), [=](T a, T b) { return g * (exp(a - m - l) * weight - b); }, p.from(0),
        p.from(1));
  }
};

}  // namespace cuda
NAX_END
