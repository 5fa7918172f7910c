#include "support/bench.hpp"

// Values and gradients of fused formulas, 1 to 16M elements.
namespace {

using namespace bench;

// The gradient of sum(f(x) g), whose element is expected(x) g.
template <class F, class Expected>
void gradient(State& state, F f, Expected expected, float low, float high) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {n}, low, high), g = uniform_array(2, {n});
  const auto a = x.to_vector(), b = g.to_vector();
  time_checked(
      state, [&] { return nax::grad([&](const Array<float>& v) { return nax::sum(f(v) * g); })(x); },
      [&](std::int64_t i) {
        return expected(double{a[static_cast<std::size_t>(i)]}) * b[static_cast<std::size_t>(i)];
      },
      {.bytes = floats_of(3. * static_cast<double>(n))});
}

void exp(State& state) {
  gradient(
      state, [](const auto& x) { return nax::exp(x); }, [](double x) { return std::exp(x); }, -3, 3);
}
void log(State& state) {
  gradient(
      state, [](const auto& x) { return nax::log(x); }, [](double x) { return 1 / x; }, .1f, 10);
}
void sin(State& state) {
  gradient(
      state, [](const auto& x) { return nax::sin(x); }, [](double x) { return std::cos(x); }, -10, 10);
}
void gelu(State& state) {
  const auto slope = [](double x) {
    const double root = 0.7978845608028654, t = std::tanh(root * (x + 0.044715 * x * x * x));
    return .5 * (1 + t) + .5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
  };
  gradient(
      state, [](const auto& x) { return nax::nn::gelu(x); }, slope, -3, 3);
}

// sum(exp(-x^2) (x + x^2 / 2)) and its gradient
void chain(State& state) {
  const std::int64_t n = state.range(0);
  const auto x = uniform_array(1, {n});
  const auto values = x.to_vector();
  const auto f = nax::value_and_grad(
      [](const Array<float>& v) { return nax::sum(nax::exp(-v * v) * (v + v * v * 0.5f)); });
  const auto expected = [&](std::int64_t i) {
    const double v = values[static_cast<std::size_t>(i)];
    return std::exp(-v * v) * (1 + v - 2 * v * (v + v * v / 2));
  };
  if (check(state, f(x).second, expected))
    time(state, [&] { return f(x); }, {.bytes = floats_of(2. * static_cast<double>(n))});
}

BENCHMARK(chain)->Apply(sizes);
BENCHMARK(exp)->Apply(sizes);
BENCHMARK(log)->Apply(sizes);
BENCHMARK(sin)->Apply(sizes);
BENCHMARK(gelu)->Apply(sizes);

}  // namespace
