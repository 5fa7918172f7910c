#include "support/bench.hpp"

// Threefry draws, 1 to 16M.
namespace {

using namespace bench;

template <class Draw>
void draws(State& state, Draw draw, double mean, double deviation) {
  const std::int64_t n = state.range(0);
  const auto key = nax::random::key(0);
  const auto x = draw(key, nax::Shape{n});
  if (n >= 1 << 16 &&
      !(std::abs(nax::mean(x).item() - mean) < 0.02 && std::abs(nax::std(x).item() - deviation) < 0.02))
    return state.SkipWithError("another distribution");
  time(state, [&] { return draw(key, nax::Shape{n}); }, {.bytes = floats_of(static_cast<double>(n))});
}

void uniform(State& state) {
  draws(
      state, [](const auto& key, const auto& shape) { return nax::random::uniform<float>(key, shape); }, 0.5,
      0.2887);
}
void normal(State& state) {
  draws(
      state, [](const auto& key, const auto& shape) { return nax::random::normal<float>(key, shape); }, 0, 1);
}

BENCHMARK(uniform)->Apply(sizes);
BENCHMARK(normal)->Apply(sizes);

}  // namespace
