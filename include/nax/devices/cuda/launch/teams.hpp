#pragma once

#include <cstdint>
#include <cstring>

#include "nax/core/half.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"

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

// c += a b for a warp.
template <class T>
constexpr void multiply_in_warp(const MatrixRegisters& x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, bfloat16>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(x.c[0]), "+f"(x.c[1]), "+f"(x.c[2]), "+f"(x.c[3])
        : "r"(x.a[0]), "r"(x.a[1]), "r"(x.a[2]), "r"(x.a[3]), "r"(x.b[0]), "r"(x.b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(x.c[0]), "+f"(x.c[1]), "+f"(x.c[2]), "+f"(x.c[3])
        : "r"(x.a[0]), "r"(x.a[1]), "r"(x.a[2]), "r"(x.a[3]), "r"(x.b[0]), "r"(x.b[1]));
#elif defined(__CUDA_ARCH__)
  __trap();
#else
  static_cast<void>(x);
#endif
}

// Copies 16 bytes, or zeros where there is nothing, to shared memory while the thread goes on; they are there
// behind Block::wait_for_copies. On the host and on cards before 8.0 they are there at once.
constexpr void copy_16_later(void* to, const void* from, bool is_there) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
               "r"(is_there ? 16 : 0)
               : "memory");
#else
  static_cast<void>(to), static_cast<void>(from), static_cast<void>(is_there);
#endif
}

// A block whose threads work in phases: each(states, f) calls f(thread, state) for all of them, wait() ends
// what others must see. `room` is shared memory, as many bytes as the body wants. On the host a phase is a
// loop over the threads, which have a state each.
struct Block {
  int place;
  char* room;

  template <class State>
  using Each = State;
  template <class State, class F>
  constexpr void each(State& state, const F& f) const {
    f(place, state);
  }
  constexpr void wait() const { wait_for_block(); }
  // Ends what threads copy to shared memory behind their backs, too (copy_16_later).
  constexpr void wait_for_copies() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    wait_for_block();
  }
  // Joins the numbers of an array in the states of `width` neighbours, for all of them.
  template <int width, auto member, class State, class Join>
  constexpr void combine(State& state, const Join& join) const {
    constexpr int count = sizeof(state.*member) / sizeof((state.*member)[0]);
    NAX_GPU_UNROLL
    for (int i = 0; i < count; ++i) {
      NAX_GPU_UNROLL
      for (int by = width / 2; by > 0; by /= 2)
        (state.*member)[i] = join.join((state.*member)[i], shuffled<false>((state.*member)[i], by, ~0u));
    }
  }
  // Products of warps; f(state) says where a thread's registers are.
  template <class T, class State, class F>
  constexpr void multiply(State& state, const F& f) const {
    multiply_in_warp<T>(f(state));
  }
};

}  // namespace cuda
NAX_END
