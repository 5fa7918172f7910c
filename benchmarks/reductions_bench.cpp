#include "support/bench.hpp"

// Sums, maxima and their places, over all elements and over an axis of a square.
namespace {

using namespace bench;

void sum(State& state) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {n}, 0, 1);
  double total = 0;
  for (const float v : x.to_vector()) total += v;
  time_checked(
      state, [&] { return nax::sum(x); }, [&](std::int64_t) { return total; },
      {.bytes = floats_of(static_cast<double>(n)), .flops = static_cast<double>(n)});
}

// f(x) over an axis of an (n, n) array; `fold` reduces one line of it.
template <class F, class Fold>
void axis(State& state, F f, int over, Fold fold) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {n, n});
  const auto lines = over == 0 ? Array<float>(nax::copy(x.T())) : x;
  const auto expected = [&](std::int64_t i) { return fold(lines(i).to_vector()); };
  time_checked(state, [&] { return f(x); }, expected, {.bytes = floats_of(static_cast<double>(n * n))});
}

using Line = std::vector<float>;

double total(const Line& line) {
  double sum = 0;
  for (const float v : line) sum += v;
  return sum;
}
double largest(const Line& line) { return *std::max_element(line.begin(), line.end()); }
double place(const Line& line) {
  return static_cast<double>(std::max_element(line.begin(), line.end()) - line.begin());
}

void sum_axis0(State& state) {
  axis(
      state, [](const auto& x) { return nax::sum(x, {.axis = 0}); }, 0, total);
}
void sum_axis1(State& state) {
  axis(
      state, [](const auto& x) { return nax::sum(x, {.axis = 1}); }, 1, total);
}
void max_axis0(State& state) {
  axis(
      state, [](const auto& x) { return nax::max(x, {.axis = 0}); }, 0, largest);
}
void argmax_axis1(State& state) {
  axis(
      state, [](const auto& x) { return nax::argmax(x, {.axis = 1}); }, 1, place);
}
void argmax_axis0(State& state) {
  axis(
      state, [](const auto& x) { return nax::argmax(x, {.axis = 0}); }, 0, place);
}

void sides(benchmark::internal::Benchmark* b) { b->RangeMultiplier(2)->Range(8, 4096); }

BENCHMARK(sum)->Apply(sizes);
BENCHMARK(sum_axis0)->Apply(sides);
BENCHMARK(sum_axis1)->Apply(sides);
BENCHMARK(max_axis0)->Apply(sides);
BENCHMARK(argmax_axis0)->Apply(sides);
BENCHMARK(argmax_axis1)->Apply(sides);

}  // namespace
