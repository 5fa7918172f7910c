// A program of forty lines that uses many parts of nax: the compile time of a typical source file.
#include <iostream>
#include <nax/nax.hpp>
#include <numbers>

using nax::Array;

// One explicit step of the heat equation on a ring.
Array<double> step(const Array<double>& u, double rate) {
  return u + rate * (nax::roll(u, 1) - 2.0 * u + nax::roll(u, -1));
}

Array<double> simulate(Array<double> u, const Array<double>& source, int steps) {
  for (int i = 0; i < steps; ++i) u = step(u, 0.2) + 0.01 * source;
  return u;
}

int main() {
  const int n = 16;
  const auto x = nax::linspace<double>(0, 1, n);
  const Array<double> start = nax::exp(-50.0 * nax::square(x - 0.5));
  const Array<double> goal = nax::sin(2 * std::numbers::pi * x);

  auto loss = [&](const Array<double>& source) {
    return nax::mean(nax::square(simulate(start, source, 20) - goal));
  };
  Array<double> source = nax::zeros<double>({n});
  for (int i = 0; i < 10; ++i) {
    const auto [value, slope] = nax::value_and_grad(loss)(source);
    source -= 50.0 * slope;
    if (i % 5 == 0) std::cout << "loss " << value << '\n';
  }

  const auto pairs = nax::vmap([&](const Array<double>& a) {
    return nax::vmap([&](const Array<double>& b) { return nax::sum(nax::tanh(a * b)); })(nax::eye<double>(n));
  })(nax::eye<double>(n));
  const Array<double> weights = nax::einsum("ij,jk->ik", pairs, pairs) + nax::eye<double>(n);
  const Array<double> solution = nax::linalg::solve(weights, goal);

  std::cout << nax::sort(solution)(nax::slice(0, 5)) << '\n';
  std::cout << pairs(nax::slice(0, 3), nax::slice(0, 3)) << '\n';
  std::cout << nax::argmax(nax::abs(source)) << ' ' << nax::cumsum(goal)(-1) << '\n';
}
