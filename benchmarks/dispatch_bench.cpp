#include "support/bench.hpp"

// Overhead of an operation beyond its arithmetic.
namespace {

using namespace bench;

void eager_add(State& state) {
  const auto x = uniform_array(1, {10}), y = uniform_array(2, {10});
  const auto a = x.to_vector(), b = y.to_vector();
  time_checked(
      state, [&] { return x + y; },
      [&](std::int64_t i) { return a[static_cast<std::size_t>(i)] + b[static_cast<std::size_t>(i)]; }, {});
}

// v * 0.5 + 0.25 again and again: scalar operations that wait for each other, recorded and swept.
void recorded_scalars(State& state) {
  const std::int64_t pairs = state.range(0) / 2;
  const auto x = uniform_array(1, {}, 0.5f, 1);
  const auto f = nax::grad([=](Array<float> v) {
    for (std::int64_t i = 0; i < pairs; ++i) v = nax::eval(nax::eval(v * 0.5f) + 0.25f);
    return v;
  });
  time_checked(
      state, [&] { return f(x); }, [&](std::int64_t) { return std::pow(0.5, static_cast<double>(pairs)); },
      {}, 1e-6);
  state.counters["an operation"] =
      benchmark::Counter(static_cast<double>(2 * pairs),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK(eager_add);
BENCHMARK(recorded_scalars)->RangeMultiplier(4)->Range(4, 4096);

}  // namespace
