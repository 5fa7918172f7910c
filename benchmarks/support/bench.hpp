#pragma once

// Helpers of the programs for Google Benchmark.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "../rows/rows.hpp"

namespace bench {

using benchmark::State;

// The least that one call reads and writes, and its operations.
struct Cost {
  double bytes = 0, flops = 0;
};

inline double floats_of(double n) { return 4 * n; }

// At most 64 elements of the result, spread over it, must be expected(i). False, and the benchmark an error,
// otherwise.
template <class T, class Expected>
bool check(State& state, const Array<T>& result, Expected expected, double tolerance = 1e-4) {
  const auto values = result.to_vector();
  const auto n = static_cast<std::int64_t>(values.size());
  for (std::int64_t i = 0; i < n; i += std::max<std::int64_t>(1, n / 61)) {
    const double got = static_cast<double>(values[static_cast<std::size_t>(i)]), want = expected(i);
    if (!(std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want)))) {
      state.SkipWithError(
          ("element " + std::to_string(i) + " is " + std::to_string(got) + ", not " + std::to_string(want))
              .c_str());
      return false;
    }
  }
  return true;
}

// Times f(); what it returns is computed.
template <class F>
void time(State& state, F f, Cost cost) {
  for (auto _ : state) {
    auto result = nax::tree::materialise(f());
    benchmark::DoNotOptimize(result);
  }
  using benchmark::Counter;
  if (cost.bytes > 0)
    state.counters["bytes"] = Counter(cost.bytes, Counter::kIsIterationInvariantRate, Counter::kIs1024);
  if (cost.flops > 0) state.counters["flops"] = Counter(cost.flops, Counter::kIsIterationInvariantRate);
}

template <class F, class Expected>
void time_checked(State& state, F f, Expected expected, Cost cost, double tolerance = 1e-4) {
  if (check(state, Array<typename std::decay_t<decltype(f())>::value_type>(f()), expected, tolerance))
    time(state, f, cost);
}

// 1, 4, 16, ... 16M elements
inline void sizes(benchmark::internal::Benchmark* b) { b->RangeMultiplier(4)->Range(1, 1 << 24); }
// 1, 4, 16, ... 4096 examples
inline void batches(benchmark::internal::Benchmark* b) { b->RangeMultiplier(4)->Range(1, 4096); }

}  // namespace bench
