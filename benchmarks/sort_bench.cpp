#include "support/bench.hpp"

// Sorting 1 to 16M floats, and their order.
namespace {

using namespace bench;

void sort(State& state) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {n});
  auto sorted = x.to_vector();
  std::sort(sorted.begin(), sorted.end());
  time_checked(
      state, [&] { return nax::sort(x); },
      [&](std::int64_t i) { return sorted[static_cast<std::size_t>(i)]; },
      {.bytes = floats_of(2. * static_cast<double>(n))});
}

void argsort(State& state) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {n});
  auto sorted = x.to_vector();
  std::sort(sorted.begin(), sorted.end());
  const auto f = [&] { return nax::argsort(x); };
  if (check(state, Array<float>(nax::take(x, f())),
            [&](std::int64_t i) { return sorted[static_cast<std::size_t>(i)]; }))
    time(state, f, {.bytes = floats_of(2. * static_cast<double>(n))});
}

BENCHMARK(sort)->Apply(sizes);
BENCHMARK(argsort)->RangeMultiplier(4)->Range(1, 1 << 20);

}  // namespace
