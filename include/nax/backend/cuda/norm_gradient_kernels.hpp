#pragma once

#include <algorithm>

#include "nax/backend/cuda/moment_rows.hpp"
#include "nax/backend/cuda/scratch.hpp"

// Gradients of rows that were normalised and scaled: a team of threads takes a run of rows, writes the
// gradients of x and adds up its shares of the parameters' gradients; another launch joins these shares. The
// runs depend on the shapes alone, and so do the results.
NAX_BEGIN
namespace cuda {

// centred: layer norm, with means and a bias; otherwise RMS norm.
template <class T, bool centred>
struct NormGradient {
  std::int64_t rows, length, run;  // run: the rows of a team
  const T *g, *x, *means, *inverse, *scale;
  T *to, *scales, *biases;  // gradients of x; shares, a row a team: each null where it is not wanted

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t part) const {
    const std::int64_t begin = part * run, end = begin + run < rows ? begin + run : rows, n = length;
    for (std::int64_t row = begin; row < end; ++row) {
      const T *const g_row = g + row * n, *const x_row = x + row * n, *const by = scale;
      const T mean = centred ? means[row] : T(0), factor = inverse[row];
      const auto y = [=](std::int64_t i) { return (x_row[i] - mean) * factor; };
      if (to)
        normalized_gradient_row<centred>(
            team, n, [=](std::int64_t i) { return g_row[i] * by[i]; }, y, factor, to + row * n);
      // A thread adds to elements of its own.
      if (scales)
        add_row(team, row == begin, scales + part * n, [=](std::int64_t i) { return g_row[i] * y(i); });
      if (biases) add_row(team, row == begin, biases + part * n, [=](std::int64_t i) { return g_row[i]; });
    }
  }

 private:
  template <class OneTeam, class Term>
  constexpr void add_row(const OneTeam& team, bool first, T* sums, const Term& term) const {
    for (std::int64_t i = team.thread(); i < length; i += team.threads())
      sums[i] = first ? term(i) : sums[i] + term(i);
  }
};

// to[i] = the sum of all parts' shares of column i, of one or two arrays.
template <class T>
struct JoinShares {
  std::int64_t parts, length, tiles;  // tiles of an array
  const T* from[2];
  T* to[2];

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t tile) const {
    const bool second = tile >= tiles;  // (an index into the arrays would put them on the stack)
    const T* const shares = second ? from[1] : from[0];
    T* const sums = second ? to[1] : to[0];
    const std::int64_t column = (second ? tile - tiles : tile) * tile_columns + team.column();
    double total = 0;
    if (column < length)
      for (std::int64_t p = team.row(); p < parts; p += team.rows())
        total += static_cast<double>(shares[p * length + column]);
    total = team.combine(total, RowSum());
    if (column < length && team.row() == 0) sums[column] = static_cast<T>(total);
  }
};

template <class T, bool centred>
void launch_norm_gradient(Device device, const loops::Rows& what, const RowOperands<T>& r) {
  const std::int64_t n = what.n;
  NormGradient<T, centred> body{what.rows, n,         1,       r.from[0], r.from[1], nullptr,
                                r.from[2], r.from[3], r.to[0], nullptr,   nullptr};
  if (centred) {
    body.means = r.from[2];
    body.inverse = r.from[3];
    body.scale = r.from[4];
  }
  T* const parameters[] = {r.to[1], centred ? r.to[2] : nullptr};
  const int wanted = (parameters[0] ? 1 : 0) + (parameters[1] ? 1 : 0);
  // Enough teams to fill a GPU; chains of no more than 256 additions of T.
  constexpr std::int64_t enough = 512, longest = 256;
  if (wanted) body.run = std::clamp<std::int64_t>((what.rows + enough - 1) / enough, 1, longest);
  const std::int64_t parts = (what.rows + body.run - 1) / body.run;
  const int threads = row_threads(n);
  if (!wanted || parts == 1) {
    body.scales = parameters[0];
    body.biases = parameters[1];
    return launch_teams(device, parts, threads, body);
  }
  const Scratch scratch(device, static_cast<std::size_t>(wanted * parts * n) * sizeof(T));
  T* shares = reinterpret_cast<T*>(scratch.data());
  JoinShares<T> join{parts, n, (n + tile_columns - 1) / tile_columns, {}, {}};
  int arrays = 0;
  T** const places[] = {&body.scales, &body.biases};
  for (int p = 0; p < 2; ++p)
    if (parameters[p]) {
      *places[p] = shares;
      join.from[arrays] = shares;
      join.to[arrays++] = parameters[p];
      shares += parts * n;
    }
  launch_teams(device, parts, threads, body);
  launch_tiles(device, arrays * join.tiles, join);
}

}  // namespace cuda
NAX_END
