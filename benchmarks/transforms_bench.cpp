#include "rows/steps.hpp"
#include "support/bench.hpp"

// vmap, per-example gradients, the gradient and the Hessian of logistic regression.
namespace {

using namespace bench;

void vmap_matvec(State& state) {
  const std::int64_t batch = state.range(0), n = 64;
  const auto a = uniform_array(1, {n, n}), xs = uniform_array(2, {batch, n});
  const auto f = nax::vmap([](const Array<float>& m, const Array<float>& x) { return nax::matmul(m, x); },
                           {.in_axes = {nax::none, 0}});
  const auto matrix = a.to_vector(), vectors = xs.to_vector();
  const auto expected = [&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k)
      sum += double{matrix[static_cast<std::size_t>(i % n * n + k)]} *
             vectors[static_cast<std::size_t>(i / n * n + k)];
    return sum;
  };
  time_checked(
      state, [&] { return f(a, xs); }, expected, {.flops = 2. * static_cast<double>(batch * n * n)}, 1e-3);
}

void vmap_convolve(State& state) {
  const std::int64_t batch = state.range(0), n = 256, taps = 9, length = n + taps - 1;
  const auto xs = uniform_array(1, {batch, n}), w = uniform_array(2, {taps});
  const auto f = nax::vmap([](const Array<float>& x, const Array<float>& k) { return nax::convolve(x, k); },
                           {.in_axes = {0, nax::none}});
  const auto values = xs.to_vector(), weights = w.to_vector();
  const auto expected = [&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t k = 0; k < taps; ++k)
      if (const std::int64_t at = i % length - k; at >= 0 && at < n)
        sum += double{weights[static_cast<std::size_t>(k)]} *
               values[static_cast<std::size_t>(i / length * n + at)];
    return sum;
  };
  time_checked(
      state, [&] { return f(xs, w); }, expected, {.flops = 2. * static_cast<double>(batch * n * taps)}, 1e-3);
}

void per_example_gradients(State& state) {
  const std::int64_t batch = state.range(0);
  const auto params = initial_params({784, 128, 10});
  const auto x = uniform_array(1, {batch, 784}), y = labels(batch, 10);
  const auto f = nax::vmap(nax::grad(loss<Tanh>), {.in_axes = {nax::none, 0, 0}});
  const auto first = nax::grad(loss<Tanh>)(params, x(0), y(0))[0].w.to_vector();
  if (check(state, Array<float>(f(params, x, y)[0].w(0)),
            [&](std::int64_t i) { return first[static_cast<std::size_t>(i)]; }))
    time(state, [&] { return f(params, x, y); },
         {.bytes = floats_of(static_cast<double>(batch) * (784 * 128 + 1418))});
}

struct Logistic {
  Array<float> x, y;
  explicit Logistic(std::int64_t n)
      : x(uniform_array(1, {n, 32})), y(nax::where(uniform_array(2, {n}) > 0.f, 1.f, -1.f)) {}
  auto operator()(const Array<float>& w) const {
    return nax::mean(nax::nn::softplus(-y * nax::matmul(x, w)));
  }
};

// Along a direction, against differences of what is one derivative lower.
template <class Lower, class Higher>
void logistic(State& state, Lower lower, Higher higher) {
  const auto w = uniform_array(3, {32}), direction = uniform_array(4, {32});
  const Array<float> step = 1e-2f * direction;
  const Array<float> difference = (lower(Array<float>(w + step)) - lower(Array<float>(w - step))) / 2e-2f;
  const auto values = nax::atleast_1d(difference).to_vector();
  const auto along = nax::atleast_1d(Array<float>(nax::matmul(higher(w), direction)));
  if (check(
          state, along, [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; }, 1e-3))
    time(state, [&] { return higher(w); }, {});
}

void logistic_gradient(State& state) {
  const Logistic f(state.range(0));
  logistic(
      state, [&](const Array<float>& w) { return Array<float>(f(w)); }, nax::grad(f));
}
void logistic_hessian(State& state) {
  const Logistic f(state.range(0));
  logistic(state, nax::grad(f), nax::hessian(f));
}

BENCHMARK(vmap_matvec)->Apply(batches)->Arg(512);
BENCHMARK(vmap_convolve)->Apply(batches);
BENCHMARK(per_example_gradients)->RangeMultiplier(2)->Range(1, 256);
BENCHMARK(logistic_gradient)->Apply(batches);
BENCHMARK(logistic_hessian)->Apply(batches);

}  // namespace
