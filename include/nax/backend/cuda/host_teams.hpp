#pragma once

#include <cstdint>

#include "nax/core/abi.hpp"

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

template <class Body>
void run_team(std::int64_t n, const Body& body) {
  for (std::int64_t i = 0; i < n; ++i) body(Team(), i);
}
template <class Body>
void run_tiles(std::int64_t n, const Body& body) {
  for (std::int64_t i = 0; i < n; ++i) body(TileTeam(), i);
}

}  // namespace on_host
}  // namespace cuda
NAX_END
