#pragma once

#include <limits>

#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"
#include "nax/loops/lane.hpp"
#include "nax/loops/row_functions.hpp"

// Passes over a row by a team of threads, of `per` elements an access: a piece's, or one where rows are no
// pieces. Sums are short chains of T, which add up in double. Elements may be stored as another type S.
NAX_BEGIN
namespace cuda {

// The type that elements of S are computed in: float for those of 16 bits.
template <class S>
using RowNumber = nax::detail::lane_t<S>;

// Operands and results of a function of rows, as loops::Rows lists them.
template <class S>
struct RowOperands {
  std::int64_t length;
  RowNumber<S> number;
  const S* from[loops::Rows::most_operands];
  S* to[loops::Rows::most_results];

  // Are all rows pieces?
  bool in_pieces() const {
    std::uintptr_t places = static_cast<std::uintptr_t>(length) * sizeof(S);
    for (const S* x : from) places |= reinterpret_cast<std::uintptr_t>(x);
    for (const S* x : to) places |= reinterpret_cast<std::uintptr_t>(x);
    return places % piece_bytes == 0;
  }
};

// Joins of numbers that commute, for Team::combine.
struct RowMax {
  template <class A>
  static constexpr A join(A a, A b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<A, float>) return extreme_or_nan<true>(a, b);
#endif
    return a > b || a != a ? a : b;  // NaN wins
  }
};
struct RowSum {
  static constexpr double join(double a, double b) { return a + b; }
};
struct TwoSums {
  double first, second;
};
struct JoinTwoSums {
  static constexpr TwoSums join(const TwoSums& a, const TwoSums& b) {
    return {a.first + b.first, a.second + b.second};
  }
};

inline constexpr int row_chain = 8;

// `per` elements at x, and back.
template <int per, class S, class T>
constexpr void load_elements(const S* x, T* to) {
  if constexpr (per == 1) {
    *to = static_cast<T>(*x);
  } else {
    constexpr int in_piece = piece_bytes / static_cast<int>(sizeof(S));
    NAX_GPU_UNROLL
    for (int k = 0; k < per; k += in_piece) {
      const auto piece = Piece<16>::load(reinterpret_cast<const char*>(x + k));
      NAX_GPU_UNROLL
      for (int j = 0; j < in_piece; ++j) to[k + j] = static_cast<T>(piece.template get<S>(j));
    }
  }
}
template <int per, class T, class S>
constexpr void store_elements(const T* x, S* to) {
  if constexpr (per == 1) {
    *to = static_cast<S>(*x);
  } else {
    constexpr int in_piece = piece_bytes / static_cast<int>(sizeof(S));
    NAX_GPU_UNROLL
    for (int k = 0; k < per; k += in_piece) {
      Piece<16> piece{};
      NAX_GPU_UNROLL
      for (int j = 0; j < in_piece; ++j) piece.set(j, static_cast<S>(x[k + j]));
      piece.store(reinterpret_cast<char*>(to + k));
    }
  }
}

// Elements that a thread reads at a time, of each of some rows.
template <class T, int rows>
struct RowChunk {
  T x[rows][row_chain];

  template <class F>
  constexpr auto value(const F& f, int e) const {
    if constexpr (rows == 1)
      return f(x[0][e]);
    else if constexpr (rows == 2)
      return f(x[0][e], x[1][e]);
    else
      return f(x[0][e], x[1][e], x[2][e]);
  }
};
// f(chunk, first, step) for the chunks of a thread: element e of one is that at first + e / per * step + e %
// per of the rows, where this is within them.
template <int per, class T, class OneTeam, class F, class... Rows>
constexpr void for_each_chunk(const OneTeam& team, std::int64_t length, const F& f, const Rows*... x) {
  const std::int64_t step = static_cast<std::int64_t>(team.threads()) * per;
  for (std::int64_t first = static_cast<std::int64_t>(team.thread()) * per; first < length;
       first += row_chain / per * step) {
    RowChunk<T, sizeof...(Rows)> chunk{};
    NAX_GPU_UNROLL
    for (int k = 0; k < row_chain / per; ++k)
      if (first + k * step < length) {
        int row = 0;
        (load_elements<per>(x + first + k * step, chunk.x[row++] + k * per), ...);
      }
    f(chunk, first, step);
  }
}

// The sum of term(x...).
template <int per, class T, class OneTeam, class Term, class... Rows>
constexpr double row_total(const OneTeam& team, std::int64_t length, const Term& term, const Rows*... x) {
  double total = 0;
  for_each_chunk<per, T>(
      team, length,
      [&](const auto& chunk, std::int64_t first, std::int64_t step) {
        T some = T(0);
        NAX_GPU_UNROLL
        for (int e = 0; e < row_chain; ++e)
          if (first + e / per * step < length) some += chunk.value(term, e);
        total += static_cast<double>(some);
      },
      x...);
  return team.combine(total, RowSum());
}
template <int per, class T, class OneTeam, class Term, class... Rows>
constexpr T row_sum(const OneTeam& team, std::int64_t length, const Term& term, const Rows*... x) {
  return static_cast<T>(row_total<per, T>(team, length, term, x...));
}

// The sums of a(x...) and of a(x...) * b(x...).
template <int per, class T, class OneTeam, class A, class B, class... Rows>
constexpr TwoSums row_sums(const OneTeam& team, std::int64_t length, const A& a, const B& b,
                           const Rows*... x) {
  TwoSums total{0, 0};
  for_each_chunk<per, T>(
      team, length,
      [&](const auto& chunk, std::int64_t first, std::int64_t step) {
        T some = T(0), products = T(0);
        NAX_GPU_UNROLL
        for (int e = 0; e < row_chain; ++e)
          if (first + e / per * step < length) {
            const T y = chunk.value(a, e);
            some += y;
            products += y * chunk.value(b, e);
          }
        total.first += static_cast<double>(some);
        total.second += static_cast<double>(products);
      },
      x...);
  return team.combine(total, JoinTwoSums());
}

template <int per, class OneTeam, class S, class T = RowNumber<S>>
constexpr T row_greatest(const OneTeam& team, std::int64_t length, const S* x) {
  T most = -std::numeric_limits<T>::infinity();
  for_each_chunk<per, T>(
      team, length,
      [&](const auto& chunk, std::int64_t first, std::int64_t step) {
        NAX_GPU_UNROLL
        for (int e = 0; e < row_chain; ++e)
          if (first + e / per * step < length) most = RowMax::join(chunk.x[0][e], most);
      },
      x);
  return team.combine(most, RowMax());
}

// out[i] = value(x[i]...), added to what is there where `adds`.
template <int per, class S, class OneTeam, class Value, class... Rows>
constexpr void write_or_add_row(const OneTeam& team, std::int64_t length, bool adds, S* out,
                                const Value& value, const Rows*... x) {
  using T = RowNumber<S>;
  for_each_chunk<per, T>(
      team, length,
      [&](const auto& chunk, std::int64_t first, std::int64_t step) {
        NAX_GPU_UNROLL
        for (int k = 0; k < row_chain / per; ++k)
          if (first + k * step < length) {
            T y[per] = {};
            if (adds) load_elements<per>(static_cast<const S*>(out) + first + k * step, y);
            NAX_GPU_UNROLL
            for (int j = 0; j < per; ++j) {
              const T now = chunk.value(value, k * per + j);
              y[j] = adds ? y[j] + now : now;
            }
            store_elements<per>(y, out + first + k * step);
          }
      },
      x...);
}
template <int per, class S, class OneTeam, class Value, class... Rows>
constexpr void write_row(const OneTeam& team, std::int64_t length, S* out, const Value& value,
                         const Rows*... x) {
  write_or_add_row<per>(team, length, false, out, value, x...);
}

// How many threads a row of this length gets: a part of a warp if it is short, a block if it is long.
inline constexpr int warp_of_rows = 32, block_of_rows = 256;
constexpr int row_threads(std::int64_t length, int per = 1) {
  if (length > 1024) return block_of_rows;
  int threads = 1;
  while (threads < warp_of_rows && threads * per < length) threads *= 2;
  return threads;
}

}  // namespace cuda
NAX_END
