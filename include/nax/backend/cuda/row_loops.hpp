#pragma once

#include <limits>

#include "nax/backend/cuda/launch.hpp"
#include "nax/loops/row_functions.hpp"

// Passes over a row by a team of threads. Sums are short chains of T, which add up in double.
NAX_BEGIN
namespace cuda {

// Operands and results of a function of rows, as loops::Rows lists them; T is float or double.
template <class T>
struct RowOperands {
  std::int64_t length;
  T number;
  const T* from[loops::Rows::most_operands];
  T* to[loops::Rows::most_results];
};

// Joins of numbers that commute, for Team::combine.
struct RowMax {
  template <class A>
  static constexpr A join(A a, A b) {
    return a > b || a != a ? a : b;  // NaN wins
  }
};
struct RowSum {
  static constexpr double join(double a, double b) { return a + b; }
};
struct TwoSums {
  double first, second;
};
struct JoinTwoSums {
  static constexpr TwoSums join(const TwoSums& a, const TwoSums& b) {
    return {a.first + b.first, a.second + b.second};
  }
};

inline constexpr int row_chain = 8;

template <class T, class OneTeam, class Term>
constexpr T row_sum(const OneTeam& team, std::int64_t length, const Term& term) {
  double total = 0;
  for (std::int64_t i = team.thread(); i < length; i += row_chain * team.threads()) {
    T some = T(0);
    for (int k = 0; k < row_chain; ++k)
      if (i + k * team.threads() < length) some += term(i + k * team.threads());
    total += static_cast<double>(some);
  }
  return static_cast<T>(team.combine(total, RowSum()));
}

// The sums of a(i) and of a(i) * b(i).
template <class T, class OneTeam, class A, class B>
constexpr TwoSums row_sums(const OneTeam& team, std::int64_t length, const A& a, const B& b) {
  TwoSums total{0, 0};
  for (std::int64_t i = team.thread(); i < length; i += row_chain * team.threads()) {
    T some = T(0), products = T(0);
    for (int k = 0; k < row_chain; ++k)
      if (const std::int64_t j = i + k * team.threads(); j < length) {
        const T x = a(j);
        some += x;
        products += x * b(j);
      }
    total.first += static_cast<double>(some);
    total.second += static_cast<double>(products);
  }
  return team.combine(total, JoinTwoSums());
}

template <class T, class OneTeam>
constexpr T row_greatest(const OneTeam& team, std::int64_t length, const T* x) {
  T most = -std::numeric_limits<T>::infinity();
  for (std::int64_t i = team.thread(); i < length; i += team.threads()) most = RowMax::join(x[i], most);
  return team.combine(most, RowMax());
}

// out[i] = value(i).
template <class T, class OneTeam, class Value>
constexpr void write_row(const OneTeam& team, std::int64_t length, T* out, const Value& value) {
  for (std::int64_t i = team.thread(); i < length; i += team.threads()) out[i] = value(i);
}
// to[row] = x, where there is such a result.
template <class T, class OneTeam>
constexpr void write_number(const OneTeam& team, std::int64_t row, T* to, T x) {
  if (to && team.thread() == 0) to[row] = x;
}

// How many threads a row of this length gets: a part of a warp if it is short, a block if it is long.
constexpr int row_threads(std::int64_t length) {
  if (length > 1024) return 256;
  int threads = 1;
  while (threads < 32 && threads < length) threads *= 2;
  return threads;
}

}  // namespace cuda
NAX_END
