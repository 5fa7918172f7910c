#pragma once

#include "nax/devices/cuda/rows/moment_rows.hpp"
#include "nax/devices/cuda/rows/row_registers.hpp"

// Gradients of rows that were normalised and scaled: a team of threads takes a run of rows, writes the
// gradients of x and adds up its shares of the parameters' gradients.
NAX_BEGIN
namespace cuda {

// centred: layer norm, with means and a bias; otherwise RMS norm.
template <class S, bool centred, int per>
struct NormGradient {
  using T = RowNumber<S>;
  std::int64_t rows, length, run;  // run: the rows of a team
  const S *g, *x;
  const T *means, *inverse;
  const S* scale;
  S* to;                 // gradients of x, null where they are not wanted
  T *scales, *biases;    // shares, a row a team; null as well
  bool adds_to = false;  // to += gradients of x, of float: for double registers are short

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t part) const {
    const std::int64_t begin = part * run, end = begin + run < rows ? begin + run : rows, n = length;
    if (n <= std::int64_t{row_chain} * team.threads()) return in_registers(team, part, begin, end);
    for (std::int64_t row = begin; row < end; ++row) {
      const S *const g_row = g + row * n, *const x_row = x + row * n;
      const T mean = centred ? means[row] : T(0), factor = inverse[row];
      const bool adds = sizeof(T) == 4 && adds_to;
      const auto y = [=](T a) { return (a - mean) * factor; };
      if (to) {
        const auto of_y = [](T a, T, T by) { return a * by; };
        const auto of_row = [=](T, T b, T) { return y(b); };
        const TwoSums sums = row_sums<per, T>(team, n, of_y, of_row, g_row, x_row, scale);
        write_normalized_gradient<centred, per>(team, n, n, sums, of_y, of_row, factor, adds, to + row * n,
                                                g_row, x_row, scale);
      }
      // A thread adds to elements of its own.
      if (scales)
        add_row(
            team, row == begin, scales + part * n, [=](T a, T b) { return a * y(b); }, g_row, x_row);
      if (biases)
        add_row(
            team, row == begin, biases + part * n, [](T a) { return a; }, g_row);
    }
  }

 private:
  // A thread's elements of a row are one chunk: it reads each once, and keeps its shares.
  template <class OneTeam>
  constexpr void in_registers(const OneTeam& team, std::int64_t part, std::int64_t begin,
                              std::int64_t end) const {
    const std::int64_t n = length, first = std::int64_t{per} * team.thread(),
                       step = std::int64_t{per} * team.threads();
    const auto for_each_piece = [=](const auto& f) {
      NAX_GPU_UNROLL
      for (int k = 0; k < row_chain / per; ++k)
        if (first + k * step < n) f(first + k * step, k * per);
    };
    T by[row_chain] = {}, of_scales[row_chain] = {}, of_biases[row_chain] = {};
    for_each_piece([&](std::int64_t i, int e) { load_elements<per>(scale + i, by + e); });
    for (std::int64_t row = begin; row < end; ++row) {
      const T mean = centred ? means[row] : T(0), factor = inverse[row];
      T a[row_chain] = {}, y[row_chain] = {};
      for_each_piece([&](std::int64_t i, int e) {
        load_elements<per>(g + row * n + i, a + e);
        load_elements<per>(x + row * n + i, y + e);
        NAX_GPU_UNROLL
        for (int j = e; j < e + per; ++j) {
          y[j] = (y[j] - mean) * factor;
          of_scales[j] += a[j] * y[j];
          of_biases[j] += a[j];
          a[j] *= by[j];
        }
      });
      if (!to) continue;
      T some = T(0), products = T(0);
      NAX_GPU_UNROLL
      for (int j = 0; j < row_chain; ++j) some += a[j], products += a[j] * y[j];
      const TwoSums sums =
          team.combine(TwoSums{static_cast<double>(some), static_cast<double>(products)}, JoinTwoSums());
      const T average = centred ? static_cast<T>(sums.first) / static_cast<T>(n) : T(0);
      const T along = static_cast<T>(sums.second) / static_cast<T>(n);
      for_each_piece([&](std::int64_t i, int e) {
        const bool adds = sizeof(T) == 4 && adds_to;
        T old[per] = {};
        if (adds) load_elements<per>(static_cast<const S*>(to) + row * n + i, old);
        NAX_GPU_UNROLL
        for (int j = e; j < e + per; ++j) {
          const T now = factor * (a[j] - average - y[j] * along);
          a[j] = adds ? old[j - e] + now : now;
        }
        store_elements<per>(a + e, to + row * n + i);
      });
    }
    for_each_piece([&](std::int64_t i, int e) {
      if (scales) store_elements<per>(of_scales + e, scales + part * n + i);
      if (biases) store_elements<per>(of_biases + e, biases + part * n + i);
    });
  }

  template <class OneTeam, class Term, class... Rows>
  constexpr void add_row(const OneTeam& team, bool first, T* sums, const Term& term,
                         const Rows*... row) const {
    if (first)
      write_row<per>(team, length, sums, term, row...);
    else
      write_row<per>(
          team, length, sums, [=](T sum, auto... a) { return sum + term(a...); }, const_cast<const T*>(sums),
          row...);
  }
};

// Gradients of x alone, of long rows that fit into the registers of a warp, which takes one: elements are
// added up in T within a piece, as a block's thread does, and pieces in double.
template <class S, bool centred, int per>
struct NormGradientOfRow {
  using T = RowNumber<S>;
  static constexpr int chunks = 4;
  using Row = RowRegisters<per, T, chunks, warp_of_rows>;
  NormGradient<S, centred, per> all;

  static constexpr bool takes(std::int64_t rows, std::int64_t n) {
    constexpr std::int64_t many = 512, least = row_chain * warp_of_rows;
    return sizeof(T) == 4 && per > 1 && rows >= many && n > least && n <= Row::most * warp_of_rows;
  }
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t row) const {
    const std::int64_t n = all.length;
#if !defined(__CUDA_ARCH__)  // where a team is one thread
    if (n > std::int64_t{Row::most} * team.threads()) return all(team, row);
#endif
    Row a(team, n, all.g + row * n, T(0)), y(team, n, all.x + row * n, T(0));
    const T mean = centred ? all.means[row] : T(0), factor = all.inverse[row];
    TwoSums sums{0, 0};
    a.for_each_piece([&](int place, int e) {
      T by[per];
      load_elements<per>(all.scale + place, by);
      T some = T(0), products = T(0);
      NAX_GPU_UNROLL
      for (int j = e; j < e + per; ++j) {
        y.x[j] = (y.x[j] - mean) * factor;
        a.x[j] *= by[j - e];
        some += a.x[j], products += a.x[j] * y.x[j];
      }
      sums = JoinTwoSums::join(sums, {static_cast<double>(some), static_cast<double>(products)});
    });
    sums = team.combine(sums, JoinTwoSums());
    const T average = centred ? static_cast<T>(sums.first) / static_cast<T>(n) : T(0);
    const T along = static_cast<T>(sums.second) / static_cast<T>(n);
    S* const out = all.to + row * n;
    NAX_GPU_UNROLL
    for (int j = 0; j < Row::most; ++j) a.x[j] = factor * (a.x[j] - average - y.x[j] * along);
    if (all.adds_to) {
      const Row old(team, n, static_cast<const S*>(out), T(0));
      NAX_GPU_UNROLL
      for (int j = 0; j < Row::most; ++j) a.x[j] = old.x[j] + a.x[j];
    }
    a.write(out, [](T x) { return x; });
  }
};

}  // namespace cuda
NAX_END
