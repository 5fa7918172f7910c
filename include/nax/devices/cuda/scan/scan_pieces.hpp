#pragma once

#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"
#include "nax/loops/lines.hpp"

// Running sums of rows of one type: chunks of rows by teams, in pieces of 16 bytes where rows have them.
NAX_BEGIN
namespace cuda {

template <class A, bool product>
struct RunningTotal {
  // Whole numbers wrap around; sums of floats may be long.
  using State = std::conditional_t<std::is_integral_v<A>, std::uint64_t,
                                   std::conditional_t<std::is_same_v<A, float> && !product, double, A>>;
  static constexpr State join(State a, State b) { return product ? a * b : a + b; }
  // The start of a scan, which changes no element: -0 adds nothing, not even a sign.
  static constexpr State none() {
    return product ? State(1) : std::is_floating_point_v<State> ? State(-0.) : State(0);
  }
};

// Sums of rows of one type, which moves 16 bytes at a time where rows are whole pieces.
template <class T>
struct RunningRow {
  static constexpr bool only_rows = true;
  using A = wide_t<T>;
  using Rule = RunningTotal<A, false>;
  using State = typename Rule::State;
  std::int64_t n;
  const T* from;
  T* to;
  bool reverse, in_pieces;

  RunningRow(const loops::Lines& lines, bool reversed, const char* x, char* y)
      : n(lines.n), from(reinterpret_cast<const T*>(x)), to(reinterpret_cast<T*>(y)), reverse(reversed) {
    const auto places = reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(y);
    const bool whole = n * static_cast<std::int64_t>(sizeof(T)) % piece_bytes == 0;
    in_pieces = places % piece_bytes == 0 && (whole || (lines.count() == 1 && !reverse));
  }
  constexpr bool in_row() const { return true; }
  // Are elements before `upto` in pieces, and none behind the end?
  constexpr bool whole(std::int64_t upto, std::int64_t end) const { return in_pieces && upto <= end; }
  // `per` elements of a line from `first` on, where they are whole.
  template <int per>
  constexpr void load_whole(std::int64_t line, std::int64_t first, State (&x)[per]) const {
    using Of = Places<per>;
    T y[per];
    const T* const at = from + place(line, first, per);
    NAX_GPU_UNROLL
    for (int k = 0; k < per; k += Of::each) {
      const auto piece = Piece<Of::bytes>::load(reinterpret_cast<const char*>(at + k));
      NAX_GPU_UNROLL
      for (int j = 0; j < Of::each; ++j) y[k + j] = piece.template get<T>(j);
    }
    NAX_GPU_UNROLL
    for (int k = 0; k < per; ++k) x[k] = static_cast<State>(static_cast<A>(reverse ? y[per - 1 - k] : y[k]));
  }
  // `per` elements of a line from `first` on, none behind the end.
  template <int per>
  constexpr void load(std::int64_t line, std::int64_t first, std::int64_t end, State (&x)[per]) const {
    if (whole(first + per, end)) return load_whole(line, first, x);
    NAX_GPU_UNROLL
    for (int k = 0; k < per; ++k)
      x[k] = first + k < end ? static_cast<State>(static_cast<A>(from[place(line, first + k, 1)]))
                             : Rule::none();
  }
  template <int per>
  constexpr void store_whole(std::int64_t line, std::int64_t first, const State (&x)[per]) const {
    using Of = Places<per>;
    T* const at = to + place(line, first, per);
    NAX_GPU_UNROLL
    for (int k = 0; k < per; k += Of::each) {
      Piece<Of::bytes> piece{};
      NAX_GPU_UNROLL
      for (int j = 0; j < Of::each; ++j) piece.set(j, stored(reverse ? x[per - 1 - k - j] : x[k + j]));
      piece.store(reinterpret_cast<char*>(at + k));
    }
  }
  template <int per>
  constexpr void store(std::int64_t line, std::int64_t first, std::int64_t end, const State (&x)[per]) const {
    if (whole(first + per, end)) return store_whole(line, first, x);
    NAX_GPU_UNROLL
    for (int k = 0; k < per; ++k)
      if (first + k < end) to[place(line, first + k, 1)] = stored(x[k]);
  }

 private:
  template <int per>
  struct Places {
    static constexpr int bytes = per * static_cast<int>(sizeof(T)) < piece_bytes
                                     ? per * static_cast<int>(sizeof(T))
                                     : piece_bytes,
                         each = bytes / static_cast<int>(sizeof(T));
  };
  static constexpr T stored(const State& x) { return static_cast<T>(static_cast<A>(x)); }
  // Of the first in memory of `count` elements of a line.
  constexpr std::int64_t place(std::int64_t line, std::int64_t first, int count) const {
    return line * n + (reverse ? n - first - count : first);
  }
};

// Chunks of rows: those of row i / chunks.
template <class Items>
struct PiecesOfRows {
  using State = typename Items::State;
  static constexpr int per = 4;  // elements of a thread at a time
  Items items;
  std::int64_t n, chunk;
  AnyDivisor chunks;
  State* parts;  // the chunks' sums, or what came up to the end of each; none where there is one

  struct Join {
    constexpr State join(const State& a, const State& b) const { return Items::Rule::join(a, b); }
  };
  struct Chunk {
    std::int64_t line, part, begin, end;
  };
  constexpr Chunk chunk_at(std::int64_t i) const {
    std::int64_t line = i;
    const std::int64_t c = chunks.split(line), begin = c * chunk;
    return {line, c, begin, begin + chunk < n ? begin + chunk : n};
  }
  // Pieces of a thread, whose loads are on their way together.
  template <int count>
  constexpr void load_pieces(std::int64_t line, std::int64_t first, std::int64_t step, std::int64_t end,
                             State (&x)[count][per]) const {
    NAX_GPU_UNROLL
    for (int b = 0; b < count; ++b)
      if constexpr (count == 1)
        items.template load<per>(line, first, end, x[b]);
      else
        items.template load_whole<per>(line, first + b * step, x[b]);
    NAX_GPU_UNROLL
    for (int b = 0; b < count; ++b) {
      NAX_GPU_UNROLL
      for (int k = 1; k < per; ++k) x[b][k] = Items::Rule::join(x[b][k - 1], x[b][k]);
    }
  }
  // f(where the team's elements begin, count): several pieces a thread where they are whole, and one.
  template <int count, class F>
  constexpr void for_each_round(std::int64_t begin, std::int64_t end, std::int64_t step, const F& f) const {
    std::int64_t base = begin;
    for (; items.whole(base + count * step, end); base += count * step)
      f(base, std::integral_constant<int, count>());
    NAX_GPU_ROLLED
    for (; base < end; base += step) f(base, std::integral_constant<int, 1>());
  }
};

// The sums of chunks.
template <class Items>
struct SumsOfPieces : PiecesOfRows<Items> {
  using Base = PiecesOfRows<Items>;
  using typename Base::State;
  static constexpr int per = Base::per;

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    const auto [line, part, begin, end] = this->chunk_at(i);
    const std::int64_t step = team.threads() * per;
    State sum = Items::Rule::none();
    this->template for_each_round<4>(
        begin, end, step,
        [&, line = line, end = end]<int count>(std::int64_t base, std::integral_constant<int, count>) {
          State x[count][per];
          this->load_pieces(line, base + team.thread() * per, step, end, x);
          NAX_GPU_UNROLL
          for (int b = 0; b < count; ++b) sum = Items::Rule::join(sum, x[b][per - 1]);
        });
    sum = team.combine(sum, typename Base::Join());  // sums commute
    if (team.thread() == 0) this->parts[i] = sum;
  }
};

// Running sums within chunks, from what came before each.
template <class Items>
struct ScanPieces : PiecesOfRows<Items> {
  using Base = PiecesOfRows<Items>;
  using typename Base::State;
  static constexpr int per = Base::per;

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    constexpr State none = Items::Rule::none();
    const auto [line, part, begin, end] = this->chunk_at(i);
    const std::int64_t step = team.threads() * per;
    State before = part > 0 ? this->parts[i - 1] : none;
    this->template for_each_round<2>(
        begin, end, step,
        [&, line = line, end = end]<int count>(std::int64_t base, std::integral_constant<int, count>) {
          const std::int64_t first = base + team.thread() * per;
          State x[count][per];
          this->load_pieces(line, first, step, end, x);
          Pair all{{none, none}}, others = all;
          if constexpr (count == 1)
            others.of[0] = team.scan(x[0][per - 1], typename Base::Join(), none, all.of[0]);
          else
            others = team.scan(Pair{{x[0][per - 1], x[1][per - 1]}}, JoinPairs(), Pair{{none, none}}, all);
          NAX_GPU_UNROLL
          for (int b = 0; b < count; ++b) {
            const State ahead = Items::Rule::join(before, others.of[b]);
            NAX_GPU_UNROLL
            for (int k = 0; k < per; ++k) x[b][k] = Items::Rule::join(ahead, x[b][k]);
            if constexpr (count == 1)
              this->items.store(line, first, end, x[b]);
            else
              this->items.store_whole(line, first + b * step, x[b]);
            before = Items::Rule::join(before, all.of[b]);
          }
        });
  }

 private:
  // Scans of two pieces are one, of pairs.
  struct Pair {
    State of[2];
  };
  struct JoinPairs {
    constexpr Pair join(const Pair& a, const Pair& b) const {
      return {{Items::Rule::join(a.of[0], b.of[0]), Items::Rule::join(a.of[1], b.of[1])}};
    }
  };
};

template <class Items>
void launch_scan_of_pieces(Device device, const Items& items, std::int64_t lines, std::int64_t n,
                           std::int64_t chunk, typename Items::State* parts, bool joins) {
  const std::int64_t chunks = (n + chunk - 1) / chunk;
  const PiecesOfRows<Items> of{items, n, chunk, AnyDivisor(chunks), parts};
  const int threads = n <= 256 ? 32 : 256;
  if (joins)
    launch_teams(device, lines * chunks, threads, SumsOfPieces<Items>{of});
  else
    launch_teams(device, lines * chunks, threads, ScanPieces<Items>{of});
}

}  // namespace cuda
NAX_END
