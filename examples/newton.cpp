// Logistic regression by Newton's method: the gradient, the Hessian and a linear system, in five lines.
#include <cstdio>
#include <nax/nax.hpp>

using nax::Array;

int main() {
  namespace random = nax::random;
  // 500 points in three dimensions and a constant; labels drawn from a model we then look for.
  const auto keys = random::split(random::key(0), 2);
  const Array<double> truth = {1.5, -2, 0.5, 0.25};
  const Array<double> x =
      nax::concatenate({random::normal<double>(keys[0], {500, 3}), nax::ones<double>({500, 1})}, {.axis = 1});
  const Array<double> p = nax::special::expit(nax::matmul(x, truth));
  const Array<double> y = (random::uniform<double>(keys[1], {500}) < p).astype<double>();

  const auto loss = [&](const Array<double>& w) {
    const Array<double> z = nax::matmul(x, w);
    return nax::mean(nax::logaddexp(0.0, z) - y * z) + 1e-3 * nax::sum(w * w);
  };

  Array<double> w = nax::zeros<double>({4});
  for (int step = 0; step < 6; ++step) {
    const auto [value, g] = nax::value_and_grad(loss)(w);
    const Array<double> h = nax::hessian(loss)(w);
    std::printf("step %d  loss %.12f  gradient %.1e\n", step, value.item(), nax::max(nax::abs(g)).item());
    w -= nax::linalg::solve(h, g);
  }
  std::printf("found  %6.3f %6.3f %6.3f %6.3f\n", w(0).item(), w(1).item(), w(2).item(), w(3).item());
  std::printf("truth  %6.3f %6.3f %6.3f %6.3f\n", truth(0).item(), truth(1).item(), truth(2).item(),
              truth(3).item());
}
