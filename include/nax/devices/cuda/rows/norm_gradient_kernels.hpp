#pragma once

#include <algorithm>

#include "nax/devices/cuda/rows/moment_rows.hpp"
#include "nax/devices/cuda/rows/norm_gradient_rows.hpp"

// Gradients of rows that were normalised and scaled, by launches of norm_gradient_rows.hpp; another launch
// joins the shares of the parameters' gradients. The runs depend on the shapes alone, and so do the results.
NAX_BEGIN
namespace cuda {

// Of rows that are cut into parts: each row is a share of its own.
template <class S, bool centred, int per>
struct NormGradientRule : RowOfTwoSums {
  using T = RowNumber<S>;
  struct Scaled {
    constexpr T operator()(T a, T, T by) const { return a * by; }
  };
  static constexpr auto normalized(const RowPart<S>& p) {
    const T mean = centred ? p.number(2) : T(0), factor = p.number(centred ? 3 : 2);
    return [=](T, T b, auto...) { return (b - mean) * factor; };
  }
  template <class OneTeam>
  static constexpr TwoSums state(const OneTeam& team, const RowPart<S>& p) {
    return row_sums<per, T>(team, p.size, Scaled(), normalized(p), p.from(0), p.from(1),
                            p.shared(centred ? 4 : 3));
  }
  template <class OneTeam>
  static constexpr void finish(const OneTeam& team, const RowPart<S>& p, const TwoSums& all) {
    const auto y = normalized(p);
    if (p.operands.to[0])
      write_normalized_gradient<centred, per>(
          team, p.size, p.length(), all, Scaled(), y, p.number(centred ? 3 : 2),
          sizeof(T) == 4 && p.operands.number != 0, p.to(0), p.from(0), p.from(1), p.shared(centred ? 4 : 3));
    if (p.operands.to[1])
      write_row<per>(
          team, p.size, p.numbers_to(1), [=](T a, T b) { return a * y(a, b); }, p.from(0), p.from(1));
    if constexpr (centred)
      if (p.operands.to[2])
        write_row<per>(
            team, p.size, p.numbers_to(2), [](T a) { return a; }, p.from(0));
  }
};

// to[i] = the sum of all parts' shares of column i, of one or two arrays.
template <class S>
struct JoinShares {
  using T = RowNumber<S>;
  std::int64_t parts, length, tiles;  // tiles of an array
  const T* from[2];
  S* to[2];

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t tile) const {
    const bool second = tile >= tiles;  // (an index into the arrays would put them on the stack)
    const T* const shares = second ? from[1] : from[0];
    S* const sums = second ? to[1] : to[0];
    const std::int64_t column = (second ? tile - tiles : tile) * tile_columns + team.column();
    double total = 0;
    if (column < length)
      for (std::int64_t p = team.row(); p < parts; p += team.rows())
        total += static_cast<double>(shares[p * length + column]);
    total = team.combine(total, RowSum());
    if (column < length && team.row() == 0) sums[column] = static_cast<S>(static_cast<T>(total));
  }
};

template <class S, bool centred, int per>
void launch_norm_gradient_in(Device device, const loops::Rows& what, const RowOperands<S>& r) {
  using T = RowNumber<S>;
  const std::int64_t n = what.n;
  const auto numbers = [&](int i) { return reinterpret_cast<const T*>(r.from[i]); };
  NormGradient<S, centred, per> body{what.rows,  n,         1,       r.from[0], r.from[1], nullptr,
                                     numbers(2), r.from[3], r.to[0], nullptr,   nullptr};
  if (centred) {
    body.means = numbers(2);
    body.inverse = numbers(3);
    body.scale = r.from[4];
  }
  body.adds_to = r.number != 0;
  S* const parameters[] = {r.to[1], centred ? r.to[2] : nullptr};
  const int wanted = (parameters[0] ? 1 : 0) + (parameters[1] ? 1 : 0);
  const RowCut cut = cut_of_rows(what.rows, n);
  if (!wanted && NormGradientOfRow<S, centred, per>::takes(what.rows, n))
    return launch_teams(device, what.rows, warp_of_rows, NormGradientOfRow<S, centred, per>{body});
  const int threads = n <= row_chain * warp_of_rows ? row_threads(n, per) : block_of_rows;
  // Enough teams to fill a GPU, of a few rows; chains of no more than 256 additions of T.
  constexpr std::int64_t blocks = 512, longest = 256, few = 8;
  const std::int64_t enough = std::clamp(what.rows / few, blocks, blocks * block_of_rows / threads);
  if (wanted) body.run = std::clamp<std::int64_t>((what.rows + enough - 1) / enough, 1, longest);
  if (cut.parts > 1) body.run = 1;
  const std::int64_t parts = (what.rows + body.run - 1) / body.run;
  const auto run = [&](T* scales, T* biases) {
    body.scales = scales, body.biases = biases;
    if (cut.parts == 1) return launch_teams(device, parts, threads, body);
    RowOperands<S> in_parts = r;
    in_parts.to[1] = reinterpret_cast<S*>(scales);
    if (centred) in_parts.to[2] = reinterpret_cast<S*>(biases);
    launch_in_parts<NormGradientRule<S, centred, per>>(device, what.rows, cut, in_parts);
  };
  if (!wanted) return run(nullptr, nullptr);
  if constexpr (std::is_same_v<S, T>)
    if (parts == 1) return run(parameters[0], parameters[1]);
  const Scratch scratch(device, static_cast<std::size_t>(wanted * parts * n) * sizeof(T));
  T* shares = reinterpret_cast<T*>(scratch.data());
  JoinShares<S> join{parts, n, (n + tile_columns - 1) / tile_columns, {}, {}};
  int arrays = 0;
  T* places[] = {nullptr, nullptr};
  for (int p = 0; p < 2; ++p)
    if (parameters[p]) {
      places[p] = shares;
      join.from[arrays] = shares;
      join.to[arrays++] = parameters[p];
      shares += parts * n;
    }
  run(places[0], places[1]);
  launch_tiles(device, arrays * join.tiles, join);
}
template <class S, bool centred>
void launch_norm_gradient(Device device, const loops::Rows& what, const RowOperands<S>& r) {
  if (r.in_pieces())
    launch_norm_gradient_in<S, centred, piece_bytes / static_cast<int>(sizeof(S))>(device, what, r);
  else
    launch_norm_gradient_in<S, centred, 1>(device, what, r);
}

}  // namespace cuda
NAX_END
