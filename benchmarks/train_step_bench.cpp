#include "rows/steps.hpp"
#include "support/bench.hpp"

// Forward, backward and update of perceptrons; batches of 1 to 4096.
namespace {

using namespace bench;

template <class Activation>
void train(State& state, const std::vector<std::int64_t>& sizes, std::int64_t batch) {
  const auto x = uniform_array(1, {batch, sizes.front()}), y = labels(batch, sizes.back());
  Model model = initial_model(sizes);
  const auto step = [&] { return train_step<Activation>(model, x, y); };
  const float before = step().item();
  for (int i = 0; i < 5; ++i) step();
  if (!(step().item() < before)) return state.SkipWithError("the loss does not fall");

  double weights = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) weights += static_cast<double>(sizes[i] * sizes[i + 1]);
  // Three products a layer, but for the first, whose input needs no gradient.
  const double products = 3 * weights - static_cast<double>(sizes[0] * sizes[1]);
  time(state, step, {.flops = 2 * static_cast<double>(batch) * products});
  state.counters["examples"] =
      benchmark::Counter(static_cast<double>(batch), benchmark::Counter::kIsIterationInvariantRate);
}

void large(State& state) { train<Tanh>(state, {784, 1024, 1024, 10}, state.range(0)); }
void medium(State& state) { train<Relu>(state, {784, 512, 512, 10}, state.range(0)); }
void small(State& state) { train<Tanh>(state, {784, 128, 10}, state.range(0)); }
void tiny(State& state) { train<Tanh>(state, {16, 16, 4}, state.range(0)); }

BENCHMARK(large)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(medium)->Apply(batches)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(small)->Arg(32)->Unit(benchmark::kMicrosecond);
BENCHMARK(tiny)->Arg(8)->Unit(benchmark::kMicrosecond);

}  // namespace
