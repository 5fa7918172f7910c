#pragma once

#include <algorithm>
#include <optional>

#include "nax/backend/cuda/complex_parts.hpp"
#include "nax/backend/cuda/elements.hpp"
#include "nax/backend/cuda/launch.hpp"
#include "nax/backend/cuda/line_order.hpp"
#include "nax/backend/cuda/pieces.hpp"
#include "nax/backend/cuda/scratch.hpp"
#include "nax/backend/cuda/unroll.hpp"

// Running combinations along lines. Where there are few lines, each is cut into chunks: a chunk is joined,
// the chunks' results are scanned in the same way, and then each chunk is run through from what came before
// it. A chunk is a thread's where neighbours in memory belong to other lines, and a team's where they follow
// in a line.
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

template <class A, bool product>
struct RunningElements {
  using Rule = RunningTotal<A, product>;
  using State = typename Rule::State;
  LineOrder order;
  DType stored, result;
  const char* from;
  char* to;
  std::int64_t from_bytes, to_bytes;

  constexpr bool in_row() const { return order.inner == 1; }
  constexpr State read(std::int64_t line, std::int64_t i) const {
    return static_cast<State>(load_as<A>(stored, from + order.at(line, i) * from_bytes));
  }
  constexpr void write(std::int64_t line, std::int64_t i, State x) const {
    store_as<A>(result, to + order.at(line, i) * to_bytes, static_cast<A>(x));
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
  // `per` elements of a line from `first` on, none behind the end.
  template <int per>
  constexpr void load(std::int64_t line, std::int64_t first, std::int64_t end, State (&x)[per]) const {
    T y[per];
    if (in_pieces && first + per <= end) {
      using Of = Places<per>;
      const T* const at = from + place(line, first, per);
      NAX_GPU_UNROLL
      for (int k = 0; k < per; k += Of::each) {
        const auto piece = Piece<Of::bytes>::load(reinterpret_cast<const char*>(at + k));
        NAX_GPU_UNROLL
        for (int j = 0; j < Of::each; ++j) y[k + j] = piece.template get<T>(j);
      }
      NAX_GPU_UNROLL
      for (int k = 0; k < per; ++k)
        x[k] = static_cast<State>(static_cast<A>(reverse ? y[per - 1 - k] : y[k]));
      return;
    }
    NAX_GPU_UNROLL
    for (int k = 0; k < per; ++k)
      x[k] = first + k < end ? static_cast<State>(static_cast<A>(from[place(line, first + k, 1)]))
                             : Rule::none();
  }
  template <int per>
  constexpr void store(std::int64_t line, std::int64_t first, std::int64_t end, const State (&x)[per]) const {
    if (in_pieces && first + per <= end) {
      using Of = Places<per>;
      T* const at = to + place(line, first, per);
      NAX_GPU_UNROLL
      for (int k = 0; k < per; k += Of::each) {
        Piece<Of::bytes> piece{};
        NAX_GPU_UNROLL
        for (int j = 0; j < Of::each; ++j) piece.set(j, stored(reverse ? x[per - 1 - k - j] : x[k + j]));
        piece.store(reinterpret_cast<char*>(at + k));
      }
      return;
    }
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
// The results of the chunks, scanned where they are.
template <class RuleOfElements>
struct RunningParts {
  using Rule = RuleOfElements;
  using State = typename Rule::State;
  std::int64_t n;
  State* parts;
  constexpr bool in_row() const { return true; }
  constexpr State read(std::int64_t line, std::int64_t i) const { return parts[line * n + i]; }
  constexpr void write(std::int64_t line, std::int64_t i, State x) const { parts[line * n + i] = x; }
};

template <class Items>
struct ScanChunk {
  using State = typename Items::State;
  Items items;
  AnyDivisor lines;
  std::int64_t n, chunk, chunks;
  State* parts;  // the chunks' results, or what came up to the end of each; none where there is one
  bool joins;    // or writes

  constexpr void operator()(std::int64_t i) const {
    std::int64_t c = i;
    const std::int64_t line = lines.split(c);
    const std::int64_t begin = c * chunk, end = begin + chunk < n ? begin + chunk : n;
    State sum = items.read(line, begin);
    if (joins) {
      for (std::int64_t j = begin + 1; j < end; ++j) sum = Items::Rule::join(sum, items.read(line, j));
      parts[line * chunks + c] = sum;
      return;
    }
    if (c > 0) sum = Items::Rule::join(parts[line * chunks + c - 1], sum);
    items.write(line, begin, sum);
    for (std::int64_t j = begin + 1; j < end; ++j) {
      sum = Items::Rule::join(sum, items.read(line, j));
      items.write(line, j, sum);
    }
  }
};

template <class Items>
struct ScanRow {
  using State = typename Items::State;
  static constexpr int per = 4;  // elements of a thread at a time
  Items items;
  std::int64_t n, chunk, chunks;
  State* parts;
  bool joins;

  struct Join {
    constexpr State join(const State& a, const State& b) const { return Items::Rule::join(a, b); }
  };
  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    constexpr State none = Items::Rule::none();
    const std::int64_t line = i / chunks, c = i - line * chunks;
    const std::int64_t begin = c * chunk, end = begin + chunk < n ? begin + chunk : n,
                       step = team.threads() * per;
    if constexpr (moves_pieces)  // whose sums commute
      if (joins) {
        State sum = none;
        for (std::int64_t first = begin + team.thread() * per; first < end; first += step) {
          State x[per];
          load(line, first, end, x);
          sum = Items::Rule::join(sum, x[per - 1]);
        }
        sum = team.combine(sum, Join());
        if (team.thread() == 0) parts[line * chunks + c] = sum;
        return;
      }
    State before = !joins && c > 0 ? parts[line * chunks + c - 1] : none;
    for (std::int64_t base = begin; base < end; base += step) {
      const std::int64_t first = base + team.thread() * per;
      State x[per];
      load(line, first, end, x);
      State all = none;
      const State others = Items::Rule::join(before, team.scan(x[per - 1], Join(), none, all));
      before = Items::Rule::join(before, all);
      if (!joins) store(line, first, end, others, x);
    }
    if (joins && team.thread() == 0) parts[line * chunks + c] = before;
  }

 private:
  static constexpr bool moves_pieces = requires { Items::only_rows; };
  // A thread's elements, each joined with those before it.
  constexpr void load(std::int64_t line, std::int64_t first, std::int64_t end, State (&x)[per]) const {
    if constexpr (moves_pieces) {
      items.template load<per>(line, first, end, x);
      NAX_GPU_UNROLL
      for (int k = 1; k < per; ++k) x[k] = Items::Rule::join(x[k - 1], x[k]);
    } else {
      State sum = Items::Rule::none();
      for (int k = 0; k < per; ++k) {
        if (first + k < end) sum = Items::Rule::join(sum, items.read(line, first + k));
        x[k] = sum;
      }
    }
  }
  constexpr void store(std::int64_t line, std::int64_t first, std::int64_t end, const State& before,
                       State (&x)[per]) const {
    if constexpr (moves_pieces) {
      NAX_GPU_UNROLL
      for (int k = 0; k < per; ++k) x[k] = Items::Rule::join(before, x[k]);
      items.template store<per>(line, first, end, x);
    } else {
      for (int k = 0; k < per; ++k)
        if (first + k < end) items.write(line, first + k, Items::Rule::join(before, x[k]));
    }
  }
};

inline constexpr std::int64_t scan_chunk = 64, enough_scans = 1 << 14;
inline constexpr std::int64_t row_chunk = 4096, enough_rows = 1 << 10;

template <class Items>
void launch_scan_of(Device device, const Items& items, std::int64_t lines, std::int64_t n) {
  using State = typename Items::State;
  if (lines * n == 0) return;
  constexpr bool only_rows = requires { Items::only_rows; };
  const bool in_row = only_rows || (items.in_row() && n > 8);
  const bool one_pass =
      in_row ? lines >= enough_rows || n <= 2 * row_chunk : lines >= enough_scans || n <= 2 * scan_chunk;
  const std::int64_t chunk = one_pass ? n : in_row ? row_chunk : scan_chunk;
  const std::int64_t chunks = (n + chunk - 1) / chunk;
  const auto run = [&](State* parts, bool joins) {
    if (in_row)
      launch_teams(device, lines * chunks, n <= 256 ? 32 : 256,
                   ScanRow<Items>{items, n, chunk, chunks, parts, joins});
    else if constexpr (!only_rows)
      launch(device, lines * chunks,
             ScanChunk<Items>{items, AnyDivisor(lines), n, chunk, chunks, parts, joins});
  };
  if (one_pass) return run(nullptr, false);
  const Scratch parts(device, static_cast<std::size_t>(lines * chunks) * sizeof(State));
  State* const ends = reinterpret_cast<State*>(parts.data());
  run(ends, true);
  launch_scan_of(device, RunningParts<typename Items::Rule>{chunks, ends}, lines, chunks);
  run(ends, false);
}

// Returns false, and does nothing, where no kernel does this.
inline bool launch_sums_of_rows(Device device, const loops::Lines& lines, bool reverse, DType dtype,
                                const char* from, char* to) {
  if (lines.inner != 1 || lines.n <= 8) return false;
  const auto run = [&]<class T>(std::type_identity<T>) {
    launch_scan_of(device, RunningRow<T>(lines, reverse, from, to), lines.count(), lines.n);
    return true;
  };
  if (dtype == DType::float32) return run(std::type_identity<float>());
  if (dtype == DType::float64) return run(std::type_identity<double>());
  if (dtype == DType::float16) return run(std::type_identity<half>());
  if (dtype == DType::bfloat16) return run(std::type_identity<bfloat16>());
  return dtype == DType::int64 && run(std::type_identity<std::int64_t>());
}

inline void launch_scan(Device device, bool product, const loops::Lines& lines, bool reverse, DType from_type,
                        const char* from, DType to_type, char* to) {
  const std::int64_t from_bytes = static_cast<std::int64_t>(dtype_size(from_type)),
                     to_bytes = static_cast<std::int64_t>(dtype_size(to_type));
  if (is_complex(to_type) && from_type == to_type && !product) {
    loops::Lines parts = lines;
    parts.inner *= 2;
    return launch_scan(device, product, parts, reverse, part_type(from_type), from, part_type(to_type), to);
  }
  if (!product && from_type == to_type && launch_sums_of_rows(device, lines, reverse, to_type, from, to))
    return;
  with_factors(to_type, [&]<class A>(std::type_identity<A>) {
    if constexpr (!is_complex_v<A>) check_real(from_type);
    const auto run = [&]<bool p>(std::bool_constant<p>) {
      launch_scan_of(
          device,
          RunningElements<A, p>{order_of(lines, reverse), from_type, to_type, from, to, from_bytes, to_bytes},
          lines.count(), lines.n);
    };
    if (product)
      run(std::true_type());
    else
      run(std::false_type());
  });
}

// r[i] = a[i] r[i - 1] + b[i], one thread a line: in chunks, products of the factors could overflow where the
// recurrence does not.
template <class A>
struct LinearScan {
  LineOrder order;
  DType dtype;
  const char *factor, *term;
  char* to;
  std::int64_t bytes;

  constexpr void operator()(std::int64_t line) const {
    A r = A(0);
    for (std::int64_t i = 0; i < order.n; ++i) {
      const std::int64_t at = order.at(line, i) * bytes;
      const A b = load_as<A>(dtype, term + at);
      r = i == 0 ? b : load_as<A>(dtype, factor + at) * r + b;
      store_as<A>(dtype, to + at, r);
      r = load_as<A>(dtype, to + at);  // rounded to the type of the result, as the next step reads it
    }
  }
};

inline void launch_linear_scan(Device device, const loops::Lines& lines, bool reverse, DType dtype,
                               const char* factor, const char* term, char* to) {
  with_factors(dtype, [&]<class A>(std::type_identity<A>) {
    if (lines.n > 0)
      launch(device, lines.count(),
             LinearScan<A>{order_of(lines, reverse), dtype, factor, term, to,
                           static_cast<std::int64_t>(dtype_size(dtype))});
  });
}

}  // namespace cuda
NAX_END
