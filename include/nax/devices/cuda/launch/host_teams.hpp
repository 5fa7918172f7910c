#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "nax/devices/cuda/launch/unroll.hpp"

// Teams of threads on the host, where a loop is one thread: what threads would share is what this one has.
// (teams.hpp has the same for a GPU.)
NAX_BEGIN
namespace cuda {
inline namespace on_host {

inline constexpr int tile_columns = 1;

// A team that works on one thing.
struct Team {
  constexpr int threads() const { return 1; }
  constexpr int thread() const { return 0; }
  // Joins the values of all threads, for all threads.
  template <class T, class Join>
  constexpr T combine(const T& x, const Join&) const {
    return x;
  }
  // Joins the values of the threads before this one (`none` for the first), and those of all.
  template <class T, class Join>
  constexpr T scan(const T& x, const Join&, const T& none, T& all) const {
    all = x;
    return none;
  }
};

// A team of rows of threads, of tile_columns each.
struct TileTeam {
  constexpr int rows() const { return 1; }
  constexpr int row() const { return 0; }
  constexpr int column() const { return 0; }
  // Joins the values of a column; row 0 gets it.
  template <class T, class Join>
  constexpr T combine(const T& x, const Join&) const {
    return x;
  }
};

// A block's threads, phase by phase: each phase is a loop over them. (See teams.hpp.)
struct Block {
  static constexpr int threads = 256, warp = 32;
  char* room;

  template <class State>
  struct Each {
    State of[threads];
  };
  template <class State, class F>
  constexpr void each(Each<State>& states, const F& f) const {
    for (int t = 0; t < threads; ++t) f(t, states.of[t]);
  }
  constexpr void wait() const {}
  constexpr void wait_for_copies() const {}
  template <int width, auto member, class State, class Join>
  constexpr void combine(Each<State>& states, const Join& join) const {
    for (int first = 0; first < threads; first += width)
      for (std::size_t i = 0; i < std::size(states.of[0].*member); ++i) {
        auto all = (states.of[first].*member)[i];
        for (int t = 1; t < width; ++t) all = join.join(all, (states.of[first + t].*member)[i]);
        for (int t = 0; t < width; ++t) (states.of[first + t].*member)[i] = all;
      }
  }
  // By the layout of mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16").
  template <class T, class State, class F>
  constexpr void multiply(Each<State>& states, const F& f) const {
    for (int first = 0; first < threads; first += warp) {
      float a[16][16] = {}, b[16][8] = {};
      for (int lane = 0; lane < warp; ++lane) {
        const auto x = f(states.of[first + lane]);
        const int group = lane / 4, pair = lane % 4 * 2;
        for (int half = 0; half < 2; ++half) {
          for (int r = 0; r < 4; ++r) a[group + r % 2 * 8][pair + r / 2 * 8 + half] = part<T>(x.a[r], half);
          for (int r = 0; r < 2; ++r) b[pair + r * 8 + half][group] = part<T>(x.b[r], half);
        }
      }
      for (int lane = 0; lane < warp; ++lane) {
        const auto x = f(states.of[first + lane]);
        for (int r = 0; r < 4; ++r)
          for (int k = 0; k < 16; ++k) x.c[r] += a[lane / 4 + r / 2 * 8][k] * b[k][lane % 4 * 2 + r % 2];
      }
    }
  }

 private:
  template <class T>
  static constexpr float part(std::uint32_t word, int half) {
    return static_cast<float>(T::from_bits(static_cast<std::uint16_t>(word >> 16 * half)));
  }
};

template <class Body>
void run_team(std::int64_t n, const Body& body) {
  for (std::int64_t i = 0; i < n; ++i) body(Team(), i);
}
template <class Body>
void run_tiles(std::int64_t n, const Body& body) {
  for (std::int64_t i = 0; i < n; ++i) body(TileTeam(), i);
}

template <class Body>
void run_blocks(std::int64_t n, const Body& body) {
  std::vector<char> room(Body::shared_bytes + 16);
  char* const begin = room.data() + (16 - reinterpret_cast<std::uintptr_t>(room.data()) % 16) % 16;
  for (std::int64_t i = 0; i < n; ++i) {
    std::memset(begin, 0xff, Body::shared_bytes);  // NaNs: nothing may be read unwritten
    body(Block{begin}, i);
  }
}

}  // namespace on_host
}  // namespace cuda
NAX_END
