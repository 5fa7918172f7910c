#pragma once

#include <algorithm>

#include "nax/devices/cuda/reduce/reducers.hpp"
#include "nax/devices/cuda/sort/sort_kernels.hpp"
#include "nax/loops/lane.hpp"

// How often numbers occur, and sums over those that are equal: the numbers of a row are sorted, and each bin
// is a run of them. No atomics; sums have an order that depends on the numbers alone.
NAX_BEGIN
namespace cuda {

// Numbers that count nowhere, negative ones among them, become `length`.
template <class Key>
struct BinKeys {
  DType type;
  const char* bins;
  std::int64_t length;
  Key* to;
  constexpr void operator()(std::int64_t i) const {
    const auto bin = static_cast<std::uint64_t>(
        load_as<std::int64_t>(type, bins + i * static_cast<std::int64_t>(dtype_size(type))));
    const auto end = static_cast<std::uint64_t>(length);
    to[i] = static_cast<Key>(bin < end ? bin : end);
  }
};

// Sorted rows of n keys.
template <class Key>
struct SortedBins {
  std::int64_t n, length;
  const Key* keys;
  const std::int32_t* places;

  // How many keys of the row are below this one.
  constexpr std::int64_t below(std::int64_t row, std::int64_t key) const {
    std::int64_t low = 0, high = n;
    while (low < high) {
      const std::int64_t half = (low + high) / 2;
      if (static_cast<std::int64_t>(keys[row * n + half]) < key)
        low = half + 1;
      else
        high = half;
    }
    return low;
  }
};

template <class Key>
struct CountBins {
  SortedBins<Key> sorted;
  std::int32_t* to;
  constexpr void operator()(std::int64_t i) const {
    const std::int64_t row = i / sorted.length, bin = i % sorted.length;
    to[i] = static_cast<std::int32_t>(sorted.below(row, bin + 1) - sorted.below(row, bin));
  }
};

// A team a bin: its threads take every so many of the run, in short chains.
template <class Key, class A>
struct SumBins {
  using Reducer = SumReducer<A>;
  static constexpr int chain = 16;
  SortedBins<Key> sorted;
  DType added, stored;
  const char* weights;
  char* to;

  template <class Team>
  constexpr void operator()(const Team& team, std::int64_t i) const {
    const Reducer reducer{A(1)};
    const std::int64_t row = i / sorted.length, bin = i % sorted.length;
    const std::int64_t begin = sorted.below(row, bin), end = sorted.below(row, bin + 1);
    const auto bytes = static_cast<std::int64_t>(dtype_size(added));
    typename Reducer::State sum = reducer.state(reducer.none());
    for (std::int64_t j = begin + team.thread(); j < end;) {
      auto some = reducer.none();
      for (int k = 0; k < chain && j < end; ++k, j += team.threads()) {
        const std::int64_t place = row * sorted.n + sorted.places[row * sorted.n + j];
        some = reducer.take(some, load_as<A>(added, weights + place * bytes), j);
      }
      sum = reducer.join(sum, reducer.state(some));
    }
    sum = team.combine(sum, reducer);
    if (team.thread() == 0)
      store_as<A>(stored, to + i * static_cast<std::int64_t>(dtype_size(stored)), reducer.result(sum));
  }
};

template <class Key>
void launch_bins_of(Device device, std::int64_t rows, std::int64_t n, DType type, const char* bins,
                    DType added, const char* weights, std::int64_t length, char* to) {
  const Scratch room(device, static_cast<std::size_t>(rows * n) * sizeof(Key));
  Key* const keys = reinterpret_cast<Key*>(room.data());
  launch(device, rows * n, BinKeys<Key>{type, bins, length, keys});
  const SortedLines<Key> lines(device, rows, n, keys);
  const SortedBins<Key> sorted{n, length, lines.run().keys, lines.run().places};
  if (!weights)
    return launch(device, rows * length, CountBins<Key>{sorted, reinterpret_cast<std::int32_t*>(to)});
  with_wide(added, [&]<class A>(std::type_identity<A>) {
    const std::int64_t each = n / length;
    const int threads = each > 256 ? 256 : each > 8 ? 32 : 4;
    launch_teams(device, rows * length, threads,
                 SumBins<Key, A>{sorted, added, nax::detail::lane_of(added), weights, to});
  });
}

// As Operations::count_bins.
inline void launch_count_bins(Device device, std::int64_t rows, std::int64_t n, DType type, const char* bins,
                              DType added, const char* weights, std::int64_t length, char* to) {
  if (weights) check_real(added);
  check_line_length(n);
  if (length < INT32_MAX)
    launch_bins_of<std::uint32_t>(device, rows, n, type, bins, added, weights, length, to);
  else
    launch_bins_of<std::uint64_t>(device, rows, n, type, bins, added, weights, length, to);
}

}  // namespace cuda
NAX_END
