#pragma once

#include <algorithm>
#include <optional>

#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/launch/complex_parts.hpp"
#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"
#include "nax/devices/cuda/scan/line_order.hpp"
#include "nax/devices/cuda/scan/linear_scan.hpp"
#include "nax/devices/cuda/scan/scan_columns.hpp"
#include "nax/devices/cuda/scan/scan_pieces.hpp"

// Running combinations along lines. Where there are few lines, each is cut into chunks: a chunk is joined,
// the chunks' results are scanned in the same way, and then each chunk is run through from what came before
// it. A chunk is a thread's where neighbours in memory belong to other lines, and a team's where they follow
// in a line.
NAX_BEGIN
namespace cuda {

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
    const std::int64_t begin = c * chunk, end = begin + chunk < n ? begin + chunk : n;
    const std::int64_t step = team.threads() * per;
    State before = !joins && c > 0 ? parts[line * chunks + c - 1] : none;
    for (std::int64_t base = begin; base < end; base += step) {
      const std::int64_t first = base + team.thread() * per;
      State x[per], all = none;
      load(line, first, end, x);
      const State others = Items::Rule::join(before, team.scan(x[per - 1], Join(), none, all));
      before = Items::Rule::join(before, all);
      if (!joins) store(line, first, end, others, x);
    }
    if (joins && team.thread() == 0) parts[line * chunks + c] = before;
  }

 private:
  // A thread's elements, each joined with those before it.
  constexpr void load(std::int64_t line, std::int64_t first, std::int64_t end, State (&x)[per]) const {
    State sum = Items::Rule::none();
    for (int k = 0; k < per; ++k) {
      if (first + k < end) sum = Items::Rule::join(sum, items.read(line, first + k));
      x[k] = sum;
    }
  }
  constexpr void store(std::int64_t line, std::int64_t first, std::int64_t end, const State& before,
                       const State (&x)[per]) const {
    for (int k = 0; k < per; ++k)
      if (first + k < end) items.write(line, first + k, Items::Rule::join(before, x[k]));
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
    if constexpr (only_rows)
      launch_scan_of_pieces(device, items, lines, n, chunk, parts, joins);
    else if (in_row)
      launch_teams(device, lines * chunks, n <= 256 ? 32 : 256,
                   ScanRow<Items>{items, n, chunk, chunks, parts, joins});
    else
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

template <class T>
void launch_sums_of_columns(Device device, const loops::Lines& lines, bool reverse, const char* from,
                            char* to) {
  using State = typename ScanColumns<T>::State;
  const std::int64_t count = lines.count(), n = lines.n;
  if (count * n == 0) return;
  const std::int64_t chunk = count >= enough_scans || n <= 2 * scan_chunk ? n : scan_chunk,
                     chunks = (n + chunk - 1) / chunk;
  ScanColumns<T> body{reinterpret_cast<const T*>(from),
                      reinterpret_cast<T*>(to),
                      AnyDivisor(count),
                      AnyDivisor(lines.inner),
                      n,
                      chunk,
                      chunks,
                      nullptr,
                      reverse,
                      false};
  if (chunks == 1) return launch(device, count, body);
  const Scratch parts(device, static_cast<std::size_t>(count * chunks) * sizeof(State));
  body.parts = reinterpret_cast<State*>(parts.data());
  body.joins = true;
  launch(device, count * chunks, body);
  launch_scan_of(device, RunningParts<typename ScanColumns<T>::Rule>{chunks, body.parts}, count, chunks);
  body.joins = false;
  launch(device, count * chunks, body);
}

// Returns false, and does nothing, where no kernel does this.
inline bool launch_sums_of_one_type(Device device, const loops::Lines& lines, bool reverse, DType dtype,
                                    const char* from, char* to) {
  const auto run = [&]<class T>(std::type_identity<T>) {
    if (lines.inner != 1)
      launch_sums_of_columns<T>(device, lines, reverse, from, to);
    else if (lines.n > 8)
      launch_scan_of(device, RunningRow<T>(lines, reverse, from, to), lines.count(), lines.n);
    else
      return false;
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
  if (!product && from_type == to_type && launch_sums_of_one_type(device, lines, reverse, to_type, from, to))
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

}  // namespace cuda
NAX_END
