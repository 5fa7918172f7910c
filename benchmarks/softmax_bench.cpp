#include "support/bench.hpp"

// softmax, logsumexp and layer norm of rows of 1000, and their gradients; 1 to 4096 rows.
namespace {

using namespace bench;

constexpr std::int64_t width = 1000;

struct Rows {
  Array<float> x, g;
  std::vector<float> values;
  explicit Rows(const State& state)
      : x(uniform_array(1, {state.range(0), width})),
        g(uniform_array(2, {state.range(0), width})),
        values(x.to_vector()) {}

  double at(std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }
  double sum_of_exp(std::int64_t row) const {
    double sum = 0;
    for (std::int64_t j = 0; j < width; ++j) sum += std::exp(at(row * width + j));
    return sum;
  }
  double mean(std::int64_t row) const {
    double sum = 0;
    for (std::int64_t j = 0; j < width; ++j) sum += at(row * width + j);
    return sum / width;
  }
  double variance(std::int64_t row) const {
    const double m = mean(row);
    double sum = 0;
    for (std::int64_t j = 0; j < width; ++j) sum += (at(row * width + j) - m) * (at(row * width + j) - m);
    return sum / width;
  }
  Cost cost(double passes) const { return {.bytes = floats_of(passes * static_cast<double>(x.size()))}; }
};

void softmax(State& state) {
  const Rows rows(state);
  time_checked(
      state, [&] { return nax::nn::softmax(rows.x); },
      [&](std::int64_t i) { return std::exp(rows.at(i)) / rows.sum_of_exp(i / width); }, rows.cost(2));
}

void logsumexp(State& state) {
  const Rows rows(state);
  time_checked(
      state, [&] { return nax::logsumexp(rows.x, {.axis = -1}); },
      [&](std::int64_t i) { return std::log(rows.sum_of_exp(i)); }, rows.cost(1));
}

void layer_norm(State& state) {
  const Rows rows(state);
  const auto scale = nax::ones<float>({width}), bias = nax::zeros<float>({width});
  time_checked(
      state, [&] { return nax::nn::layer_norm(rows.x, scale, bias); },
      [&](std::int64_t i) {
        return (rows.at(i) - rows.mean(i / width)) / std::sqrt(rows.variance(i / width) + 1e-5);
      },
      rows.cost(2));
}

void logsumexp_gradient(State& state) {
  const Rows rows(state);
  const auto f = nax::grad([](const Array<float>& v) { return nax::sum(nax::logsumexp(v, {.axis = -1})); });
  time_checked(
      state, [&] { return f(rows.x); },
      [&](std::int64_t i) { return std::exp(rows.at(i)) / rows.sum_of_exp(i / width); }, rows.cost(2));
}

// Their rows of gradients sum to zero, however the cotangent is.
template <class F>
void gradient(State& state, F f) {
  const Rows rows(state);
  const auto slope = nax::grad([&](const Array<float>& v) { return nax::sum(f(v) * rows.g); });
  if (check(
          state, Array<float>(nax::sum(slope(rows.x), {.axis = -1})), [](std::int64_t) { return 0.; }, 1e-3))
    time(
        state, [&] { return slope(rows.x); }, rows.cost(3));
}

void softmax_gradient(State& state) {
  gradient(state, [](const auto& x) { return nax::nn::softmax(x); });
}
void layer_norm_gradient(State& state) {
  const auto scale = uniform_array(3, {width}), bias = uniform_array(4, {width});
  gradient(state, [&](const auto& x) { return nax::nn::layer_norm(x, scale, bias); });
}

BENCHMARK(softmax)->Apply(batches);
BENCHMARK(logsumexp)->Apply(batches);
BENCHMARK(layer_norm)->Apply(batches);
BENCHMARK(softmax_gradient)->Apply(batches);
BENCHMARK(logsumexp_gradient)->Apply(batches);
BENCHMARK(layer_norm_gradient)->Apply(batches);

}  // namespace
