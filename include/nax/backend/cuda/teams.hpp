#pragma once

#include <cstdint>
#include <cstring>

#include "nax/core/abi.hpp"

// Teams of threads of a GPU, which share what they have by shuffles within a warp and by shared memory within
// a block. (host_teams.hpp has the same for loops on the host.) Methods are plain constexpr functions, as
// kernels are, and empty for the host, which never calls them.
NAX_BEGIN
namespace cuda {

inline constexpr int warp_threads = 32, block_threads = 256, tile_columns = warp_threads;
inline constexpr int most_state_bytes = 16;  // largest value that threads exchange

// x of the thread whose place in the group differs by these bits (or lies so many places before).
template <bool before, class T>
constexpr T shuffled(const T& x, int by, unsigned group) {
  static_assert(sizeof(T) % 4 == 0 && sizeof(T) <= most_state_bytes);
  T y = x;
#if defined(__CUDA_ARCH__)
  constexpr int count = sizeof(T) / 4;
  std::uint32_t words[count];
  std::memcpy(words, &x, sizeof x);
  for (int w = 0; w < count; ++w)
    words[w] = before ? __shfl_up_sync(group, words[w], by) : __shfl_xor_sync(group, words[w], by);
  std::memcpy(&y, words, sizeof y);
#else
  static_cast<void>(by), static_cast<void>(group);
#endif
  return y;
}

constexpr void wait_for_block() {
#if defined(__CUDA_ARCH__)
  __syncthreads();
#endif
}

// A part of a warp (1, 2, 4, ... 32 threads), a warp, or a block.
struct Team {
  int size, place;
  unsigned group;  // the threads of the warp that belong to it, a bit each
  char* room;      // shared, for a state of each warp of a block

  constexpr int threads() const { return size; }
  constexpr int thread() const { return place; }

  // Joins commute, so that all threads get the same bits.
  template <class T, class Join>
  constexpr T combine(T x, const Join& join) const {
    const int width = size < warp_threads ? size : warp_threads;
    for (int by = width / 2; by > 0; by /= 2) x = join.join(x, shuffled<false>(x, by, group));
    if (size <= warp_threads) return x;
    constexpr int warps = block_threads / warp_threads;
    T* const of_warps = reinterpret_cast<T*>(room);
    wait_for_block();
    if (place % warp_threads == 0) of_warps[place / warp_threads] = x;
    wait_for_block();
    x = of_warps[place % warps];
    for (int by = warps / 2; by > 0; by /= 2) x = join.join(x, shuffled<false>(x, by, group));
    return x;
  }
  template <class T, class Join>
  constexpr T scan(T x, const Join& join, const T& none, T& all) const {
    const int width = size < warp_threads ? size : warp_threads, lane = place % width;
    for (int by = 1; by < width; by *= 2) {
      const T other = shuffled<true>(x, by, group);
      if (lane >= by) x = join.join(other, x);
    }
    const T neighbour = shuffled<true>(x, 1, group);
    const T before_in_warp = lane == 0 ? none : neighbour;
    if (size <= warp_threads) {
      all = last_of_warp(x, width);
      return before_in_warp;
    }
    constexpr int warps = block_threads / warp_threads;
    T* const of_warps = reinterpret_cast<T*>(room);
    const int warp = place / warp_threads;
    wait_for_block();
    if (lane == warp_threads - 1) of_warps[warp] = x;
    wait_for_block();
    T before = none;
    all = none;
    for (int w = 0; w < warps; ++w) {
      if (w < warp) before = join.join(before, of_warps[w]);
      all = join.join(all, of_warps[w]);
    }
    return join.join(before, before_in_warp);
  }

 private:
  template <class T>
  constexpr T last_of_warp(const T& x, int width) const {
    T y = x;
#if defined(__CUDA_ARCH__)
    constexpr int count = sizeof(T) / 4;
    std::uint32_t words[count];
    std::memcpy(words, &x, sizeof x);
    for (int w = 0; w < count; ++w) words[w] = __shfl_sync(group, words[w], width - 1, width);
    std::memcpy(&y, words, sizeof y);
#else
    static_cast<void>(width);
#endif
    return y;
  }
};

struct TileTeam {
  static constexpr int most_rows = block_threads / tile_columns;
  int place;
  char* room;  // shared, for a state of each thread

  constexpr int rows() const { return most_rows; }
  constexpr int row() const { return place / tile_columns; }
  constexpr int column() const { return place % tile_columns; }

  template <class T, class Join>
  constexpr T combine(T x, const Join& join) const {
    T* const all = reinterpret_cast<T*>(room);
    wait_for_block();
    all[place] = x;
    wait_for_block();
    if (row() == 0)
      for (int r = 1; r < most_rows; ++r) x = join.join(x, all[r * tile_columns + place]);
    return x;
  }
};

}  // namespace cuda
NAX_END
