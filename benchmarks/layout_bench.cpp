#include "support/bench.hpp"

// Transposed copies, cumulative sums, rows taken.
namespace {

using namespace bench;

void transposed_copy(State& state) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {n, n});
  const auto values = x.to_vector();
  time_checked(
      state, [&] { return nax::copy(x.T()); },
      [&](std::int64_t i) { return values[static_cast<std::size_t>(i % n * n + i / n)]; },
      {.bytes = floats_of(2. * static_cast<double>(n * n))});
}

void cumsum(State& state, int axis) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {n, n});
  const auto values = x.to_vector();
  const auto expected = [&](std::int64_t i) {
    const std::int64_t step = axis == 0 ? n : 1, first = axis == 0 ? i % n : i / n * n;
    double sum = 0;
    for (std::int64_t at = first; at <= i; at += step) sum += values[static_cast<std::size_t>(at)];
    return sum;
  };
  time_checked(
      state, [&] { return nax::cumsum(x, {.axis = axis}); }, expected,
      {.bytes = floats_of(2. * static_cast<double>(n * n))}, 1e-3);
}
void cumsum_axis0(State& state) { cumsum(state, 0); }
void cumsum_axis1(State& state) { cumsum(state, 1); }

constexpr std::int64_t width = 1000;

void take_rows(State& state) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {4096, width});
  const auto rows = integers(3, n, 4096);
  const auto values = x.to_vector();
  time_checked(
      state, [&, index = nax::asarray(rows)] { return nax::take(x, index, {.axis = 0}); },
      [&](std::int64_t i) {
        return values[static_cast<std::size_t>(rows[static_cast<std::size_t>(i / width)] * width +
                                               i % width)];
      },
      {.bytes = floats_of(2. * static_cast<double>(n * width))});
}

// Of a sum: how often each row was taken.
void take_rows_gradient(State& state) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {4096, width});
  const auto rows = integers(3, n, 4096);
  const auto index = nax::asarray(rows);
  const auto f = nax::grad([&](const Array<float>& v) { return nax::sum(nax::take(v, index, {.axis = 0})); });
  time_checked(
      state, [&] { return f(x); },
      [&](std::int64_t i) { return static_cast<double>(std::count(rows.begin(), rows.end(), i / width)); },
      {.bytes = floats_of(static_cast<double>((n + 4096) * width))});
}

void sides(benchmark::internal::Benchmark* b) { b->RangeMultiplier(2)->Range(8, 4096); }

BENCHMARK(transposed_copy)->Apply(sides);
BENCHMARK(cumsum_axis0)->Apply(sides);
BENCHMARK(cumsum_axis1)->Apply(sides);
BENCHMARK(take_rows)->Apply(batches);
BENCHMARK(take_rows_gradient)->Apply(batches);

}  // namespace
