#include "support/bench.hpp"

// Functions of one and of two arrays, 1 to 16M elements.
namespace {

using namespace bench;

template <class F, class Expected>
void unary(State& state, F f, Expected expected, float low, float high) {
  const std::int64_t n = state.range(0);
  const auto values = uniform(1, n, low, high);
  const auto x = uniform_array(1, {n}, low, high);
  time_checked(
      state, [&] { return f(x); },
      [&](std::int64_t i) { return expected(double{values[static_cast<std::size_t>(i)]}); },
      {.bytes = floats_of(2. * static_cast<double>(n))});
}

template <class F, class Expected>
void binary(State& state, F f, Expected expected) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {n}), y = uniform_array(2, {n});
  const auto a = x.to_vector(), b = y.to_vector();
  time_checked(
      state, [&] { return f(x, y); },
      [&](std::int64_t i) {
        return expected(double{a[static_cast<std::size_t>(i)]}, double{b[static_cast<std::size_t>(i)]});
      },
      {.bytes = floats_of(3. * static_cast<double>(n))});
}

void exp(State& state) {
  unary(
      state, [](const auto& x) { return nax::exp(x); }, [](double x) { return std::exp(x); }, -3, 3);
}
void log(State& state) {
  unary(
      state, [](const auto& x) { return nax::log(x); }, [](double x) { return std::log(x); }, .1f, 10);
}
void sin(State& state) {
  unary(
      state, [](const auto& x) { return nax::sin(x); }, [](double x) { return std::sin(x); }, -10, 10);
}
void gelu(State& state) {
  const auto expected = [](double x) {
    return .5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  };
  unary(
      state, [](const auto& x) { return nax::nn::gelu(x); }, expected, -3, 3);
}
void add(State& state) {
  binary(
      state, [](const auto& x, const auto& y) { return x + y; }, [](double x, double y) { return x + y; });
}
void affine_tanh(State& state) {
  binary(
      state, [](const auto& x, const auto& a) { return nax::tanh(x * a + 1) * a; },
      [](double x, double a) { return std::tanh(x * a + 1) * a; });
}

BENCHMARK(add)->Apply(sizes);
BENCHMARK(exp)->Apply(sizes);
BENCHMARK(log)->Apply(sizes);
BENCHMARK(sin)->Apply(sizes);
BENCHMARK(gelu)->Apply(sizes);
BENCHMARK(affine_tanh)->Apply(sizes);

}  // namespace
