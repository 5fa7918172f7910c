#pragma once

#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/scan/scan_pieces.hpp"

// Running sums of one type along lines whose neighbours in memory belong to other lines: a thread takes a
// chunk of a line, and has the loads of several elements on their way together.
NAX_BEGIN
namespace cuda {

template <class T>
struct ScanColumns {
  using A = wide_t<T>;
  using Rule = RunningTotal<A, false>;
  using State = typename Rule::State;
  static constexpr int batch = 8;

  const T* from;
  T* to;
  AnyDivisor lines, inner;
  std::int64_t n, chunk, chunks;
  State* parts;  // the chunks' results, or what came up to the end of each; none where there is one
  bool reverse, joins;

  constexpr void operator()(std::int64_t i) const {
    std::int64_t c = i;
    const std::int64_t line = lines.split(c), outer = inner.quotient(line), begin = c * chunk;
    const std::int64_t count = begin + chunk < n ? chunk : n - begin, step = reverse ? -inner.by : inner.by;
    std::int64_t at = (outer * n + (reverse ? n - 1 - begin : begin)) * inner.by + line - outer * inner.by;
    State sum = !joins && c > 0 ? parts[line * chunks + c - 1] : Rule::none();
    std::int64_t done = 0;
    for (; done + batch <= count; done += batch, at += batch * step) take<batch>(at, step, sum);
    NAX_GPU_ROLLED
    for (; done < count; ++done, at += step) take<1>(at, step, sum);
    if (joins) parts[line * chunks + c] = sum;
  }

 private:
  template <int count>
  constexpr void take(std::int64_t at, std::int64_t step, State& sum) const {
    T x[count];
    NAX_GPU_UNROLL
    for (int k = 0; k < count; ++k) x[k] = from[at + k * step];
    NAX_GPU_UNROLL
    for (int k = 0; k < count; ++k) {
      sum = Rule::join(sum, static_cast<State>(static_cast<A>(x[k])));
      x[k] = static_cast<T>(static_cast<A>(sum));
    }
    if (joins) return;
    NAX_GPU_UNROLL
    for (int k = 0; k < count; ++k) to[at + k * step] = x[k];
  }
};

}  // namespace cuda
NAX_END
