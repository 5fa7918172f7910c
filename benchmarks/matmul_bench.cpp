#include "support/bench.hpp"

// Matrix products: square ones of 8 to 2048, those of a perceptron, batches, transposed operands, gradients.
namespace {

using namespace bench;

double flops(double m, double k, double n) { return 2 * m * k * n; }

// Element i of the product of a (m, k) and b (k, n), as stored.
struct Product {
  std::vector<float> a, b;
  std::int64_t k, n;

  double operator()(std::int64_t i) const {
    double sum = 0;
    for (std::int64_t t = 0; t < k; ++t)
      sum += double{a[static_cast<std::size_t>(i / n * k + t)]} * b[static_cast<std::size_t>(t * n + i % n)];
    return sum;
  }
};

void product(State& state, std::int64_t m, std::int64_t k, std::int64_t n) {
  const auto a = uniform_array(1, {m, k}), b = uniform_array(2, {k, n});
  const auto dm = static_cast<double>(m), dk = static_cast<double>(k), dn = static_cast<double>(n);
  time_checked(
      state, [&] { return nax::matmul(a, b); }, Product{a.to_vector(), b.to_vector(), k, n},
      {.bytes = floats_of(dm * dk + dk * dn + dm * dn), .flops = flops(dm, dk, dn)}, 1e-3);
}

void square(State& state) { product(state, state.range(0), state.range(0), state.range(0)); }
void perceptron(State& state) { product(state, state.range(0), 784, 1024); }

void both_transposed(State& state) {
  const std::int64_t n = state.range(0);
  const auto a = uniform_array(1, {n, n}), b = uniform_array(2, {n, n});
  const auto dn = static_cast<double>(n);
  time_checked(
      state, [&] { return nax::matmul(a.T(), b.T()); },
      Product{nax::copy(a.T()).to_vector(), nax::copy(b.T()).to_vector(), n, n},
      {.bytes = floats_of(3 * dn * dn), .flops = flops(dn, dn, dn)}, 1e-3);
}

void batched(State& state) {
  const std::int64_t batch = state.range(0), n = 128;
  const auto a = uniform_array(1, {batch, n, n}), b = uniform_array(2, {batch, n, n});
  const double products = static_cast<double>(batch);
  const Product first{a(0).to_vector(), b(0).to_vector(), n, n};
  const auto f = [&] { return nax::matmul(a, b); };
  if (check(state, f()(0), first, 1e-3))
    time(state, f, {.bytes = floats_of(products * 3 * n * n), .flops = products * flops(n, n, n)});
}

void gradients(State& state) {
  const std::int64_t m = state.range(0), k = 784, n = 1024;
  const auto a = uniform_array(1, {m, k}), b = uniform_array(2, {k, n}), g = uniform_array(3, {m, n});
  const auto f = [&] {
    auto [value, pullback] =
        nax::vjp([](const Array<float>& x, const Array<float>& y) { return nax::matmul(x, y); }, a, b);
    return pullback(g);
  };
  const Product of_b{nax::copy(a.T()).to_vector(), g.to_vector(), m, n};
  if (check(state, std::get<1>(f()), of_b, 1e-3))
    time(state, f, {.flops = 3 * flops(static_cast<double>(m), k, n)});
}

BENCHMARK(square)->RangeMultiplier(2)->Range(8, 2048);
BENCHMARK(perceptron)->Apply(batches);
BENCHMARK(both_transposed)->RangeMultiplier(4)->Range(8, 2048);
BENCHMARK(batched)->RangeMultiplier(4)->Range(1, 256);
BENCHMARK(gradients)->Arg(128);

}  // namespace
