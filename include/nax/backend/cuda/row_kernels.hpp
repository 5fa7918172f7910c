#pragma once

#include <cmath>
#include <limits>

#include "nax/backend/cuda/launch.hpp"
#include "nax/backend/cuda/reducers.hpp"
#include "nax/loops/row_functions.hpp"

// Functions of rows that need sums of the whole row: a team of threads does a row. It reads the row once for
// each sum and once for the result, from caches but for the first time.
NAX_BEGIN
namespace cuda {

// Joins of two numbers that commute, for Team::combine.
struct RowMax {
  template <class A>
  static constexpr A join(A a, A b) {
    return a > b || a != a ? a : b;  // NaN wins
  }
};
struct RowSum {
  static constexpr double join(double a, double b) { return a + b; }
};

// T is float or double. Sums are short chains of T, which add up in double.
template <class T, loops::RowFunction what>
struct RowsBody {
  using F = loops::RowFunction;
  std::int64_t length;
  const T *from, *other;  // x; or g and y
  T* to;

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t row) const {
    using std::exp, std::log;
    const T *const x = from + row * length, *const y = other + row * length;
    if constexpr (what == F::softmax_gradient) {
      const T along = sum(team, [=](std::int64_t i) { return x[i] * y[i]; });
      write(team, row, [=](std::int64_t i) { return y[i] * (x[i] - along); });
    } else if constexpr (what == F::log_softmax_gradient) {
      const T total = sum(team, [=](std::int64_t i) { return x[i]; });
      write(team, row, [=](std::int64_t i) { return x[i] - exp(y[i]) * total; });
    } else {
      const T m = shift(greatest(team, x));
      const T total = sum(team, [=](std::int64_t i) { return exp(x[i] - m); });
      if constexpr (what == F::softmax) {
        write(team, row, [=](std::int64_t i) { return exp(x[i] - m) / total; });
      } else {
        const T log_total = log(total);
        if constexpr (what == F::log_softmax)
          write(team, row, [=](std::int64_t i) { return x[i] - m - log_total; });
        else if (team.thread() == 0)
          to[row] = log_total + m;
      }
    }
  }

 private:
  // logsumexp of infinite elements is infinite: exp(-inf - shift) is to be 0 and not NaN.
  static constexpr T shift(T m) {
    constexpr T infinite = std::numeric_limits<T>::infinity();
    return what == F::logsumexp && (m == infinite || m == -infinite || m != m) ? T(0) : m;
  }
  template <class OneTeam>
  constexpr T greatest(const OneTeam& team, const T* x) const {
    T most = -std::numeric_limits<T>::infinity();
    for (std::int64_t i = team.thread(); i < length; i += team.threads()) most = RowMax::join(x[i], most);
    return team.combine(most, RowMax());
  }
  template <class OneTeam, class Term>
  constexpr T sum(const OneTeam& team, const Term& term) const {
    constexpr int chain = 8;
    double total = 0;
    for (std::int64_t i = team.thread(); i < length; i += chain * team.threads()) {
      T some = T(0);
      for (int k = 0; k < chain; ++k)
        if (i + k * team.threads() < length) some += term(i + k * team.threads());
      total += static_cast<double>(some);
    }
    return static_cast<T>(team.combine(total, RowSum()));
  }
  template <class OneTeam, class Value>
  constexpr void write(const OneTeam& team, std::int64_t row, const Value& value) const {
    T* const out = to + row * length;
    for (std::int64_t i = team.thread(); i < length; i += team.threads()) out[i] = value(i);
  }
};

template <class T>
void launch_rows_of(Device device, const loops::Rows& what, const char* from, const char* other, char* to) {
  using loops::RowFunction;
  const std::int64_t rows = what.rows, length = what.n;
  int threads = 1;  // a part of a warp for short rows, a block for long ones
  while (threads < 32 && threads < length) threads *= 2;
  if (length > 1024) threads = 256;
  const auto run = [&]<RowFunction f>(std::integral_constant<RowFunction, f>) {
    launch_teams(device, rows, threads,
                 RowsBody<T, f>{length, reinterpret_cast<const T*>(from), reinterpret_cast<const T*>(other),
                                reinterpret_cast<T*>(to)});
  };
  switch (what.function) {
    case RowFunction::softmax:
      return run(std::integral_constant<RowFunction, RowFunction::softmax>());
    case RowFunction::log_softmax:
      return run(std::integral_constant<RowFunction, RowFunction::log_softmax>());
    case RowFunction::logsumexp:
      return run(std::integral_constant<RowFunction, RowFunction::logsumexp>());
    case RowFunction::softmax_gradient:
      return run(std::integral_constant<RowFunction, RowFunction::softmax_gradient>());
    case RowFunction::log_softmax_gradient:
      return run(std::integral_constant<RowFunction, RowFunction::log_softmax_gradient>());
    case RowFunction::variance:
    case RowFunction::standardize:
    case RowFunction::standardize_gradient:
    case RowFunction::layer_norm_gradient:
      break;  // Part::moments, which GPUs lack
  }
}

// Precondition: float32 or float64; a function of Part::softmax.
inline void launch_rows(Device device, const loops::Rows& what, DType dtype, const char* from,
                        const char* other, char* to) {
  if (dtype == DType::float64)
    launch_rows_of<double>(device, what, from, other, to);
  else
    launch_rows_of<float>(device, what, from, other, to);
}

}  // namespace cuda
NAX_END
