#pragma once

#include "nax/devices/cuda/rows/row_parts.hpp"

// Rows whose elements stay in the registers of a team: each is read once. The elements of a thread, and the
// order of additions, are those of for_each_chunk (row_loops.hpp).
NAX_BEGIN
namespace cuda {

// `threads`: of all teams on a GPU, if they are known, which saves addresses.
template <int per, class T, int chunks, int threads = 0>
struct RowRegisters {
  static constexpr int most = chunks * row_chain;  // of a thread

  int length, first, step;
  T x[most];

  // Reads a row; `fill` where it has no elements.
  template <class OneTeam, class S>
  constexpr RowRegisters(const OneTeam& team, std::int64_t n, const S* row, T fill)
      : length(static_cast<int>(n)), first(team.thread() * per), step(threads_of(team) * per), x{} {
    NAX_GPU_UNROLL
    for (int e = 0; e < most; ++e) x[e] = fill;
    for_each_piece([&](int place, int e) { load_elements<per>(row + place, x + e); });
  }
  // f(place in the row, e) for pieces of `per` elements from x[e] on.
  template <class F>
  constexpr void for_each_piece(const F& f) const {
    NAX_GPU_UNROLL
    for (int k = 0; k < most / per; ++k)
      if (first + k * step < length) f(first + k * step, k * per);
  }
  // f(e) for chunks of row_chain elements from x[e] on, those of short rows alone. (All threads of a team
  // take the same way.)
  template <class F>
  constexpr void for_each_chunk(const F& f) const {
    NAX_GPU_UNROLL
    for (int c = 0; c < chunks; ++c)
      if (c * (row_chain / per) * step < length) f(c * row_chain);
  }
  template <class OneTeam>
  constexpr T greatest(const OneTeam& team) const {
    T m = -std::numeric_limits<T>::infinity();
    for_each_chunk([&](int e) {
      NAX_GPU_UNROLL
      for (int j = 0; j < row_chain; ++j) m = RowMax::join(x[e + j], m);
    });
    return team.combine(m, RowMax());
  }
  // The sum of f(x) over the row; f(fill) must be 0. `keep`: x = f(x).
  template <bool keep, class OneTeam, class F>
  constexpr T sum(const OneTeam& team, const F& f) {
    double total = 0;
    for_each_chunk([&](int e) {
      T some = T(0);
      NAX_GPU_UNROLL
      for (int j = e; j < e + row_chain; ++j) {
        const T y = f(x[j]);
        some += y;
        if (keep) x[j] = y;
      }
      total += static_cast<double>(some);
    });
    return static_cast<T>(team.combine(total, RowSum()));
  }
  template <class S, class F>
  constexpr void write(S* out, const F& f) const {
    for_each_piece([&](int place, int e) {
      T y[per] = {};
      NAX_GPU_UNROLL
      for (int j = 0; j < per; ++j) y[j] = f(x[e + j]);
      store_elements<per>(y, out + place);
    });
  }

 private:
  template <class OneTeam>
  static constexpr int threads_of(const OneTeam& team) {
#if defined(__CUDA_ARCH__)
    if constexpr (threads > 0) return threads;
#endif
    return team.threads();
  }
};

// Divides numbers from 0 to 1 by one of at least 1: by a product, and a step by what is left (Markstein
// 1990). The bits are those of a / by where a is at least 2^-100, and the last one may be another below.
template <class T>
struct DivideBy {
  T by, inverse;
  constexpr explicit DivideBy(T divisor) : by(divisor), inverse(T(1) / divisor) {}
  constexpr T operator()(T a) const {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>) {
      const T q = __fmul_rn(a, inverse);
      return __fmaf_rn(__fmaf_rn(-by, q, a), inverse, q);
    }
#endif
    return a / by;
  }
};

// Functions of rows by rules that have in_registers<chunks>(team, row): of at most chunks * row_chain
// elements a thread.
template <class S, class Rule, int chunks>
struct RowsInRegisters {
  RowOperands<S> operands;
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t row) const {
#if !defined(__CUDA_ARCH__)  // where a team is one thread
    if (operands.length > std::int64_t{chunks * row_chain} * team.threads())
      return WholeRows<S, Rule>{operands}(team, row);
#endif
    Rule::template in_registers<chunks>(team, RowPart<S>{operands, row, 0, operands.length});
  }
};

// Returns false, and does nothing, where rows do not fit.
template <class Rule, class S>
bool launch_in_registers(Device device, std::int64_t rows, int threads, const RowOperands<S>& operands) {
  const auto run = [&]<int chunks>(std::integral_constant<int, chunks>) {
    if (operands.length > std::int64_t{chunks * row_chain} * threads) return false;
    launch_teams(device, rows, threads, RowsInRegisters<S, Rule, chunks>{operands});
    return true;
  };
  return run(std::integral_constant<int, 1>()) || run(std::integral_constant<int, 4>());
}

}  // namespace cuda
NAX_END
