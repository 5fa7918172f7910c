// A deep equilibrium layer (S. Bai, J. Z. Kolter, V. Koltun, 2019): its output z solves z = tanh(W z + U x +
// b), found by fixed_point; the gradient comes from that equation, not from the iterations. Learns a curve of
// one number.
#include <cstdio>
#include <nax/nax.hpp>

using nax::Array;

namespace {

struct Layer {
  Array<double> w, u, b, out;
};

// The function whose fixed point the layer is, for all examples x, (count,). W is scaled to a contraction.
Array<double> once(const Array<double>& z, const Array<double>& x, const Layer& p) {
  const Array<double> size = nax::sqrt(nax::sum(nax::square(p.w))), w = p.w * (0.95 / nax::maximum(size, 1.));
  return nax::tanh(nax::matmul(z, w) + nax::outer(x, p.u) + p.b);
}
Array<double> equilibrium(const Array<double>& x, const Layer& p) {
  return nax::optimize::fixed_point([&](const Array<double>& z) { return once(z, x, p); },
                                    nax::zeros<double>({x.size(), p.b.size()}),
                                    {.xtol = 1e-10, .method = "iteration"});
}
Array<double> unrolled(const Array<double>& x, const Layer& p) {
  Array<double> z = nax::zeros<double>({x.size(), p.b.size()});
  for (int i = 0; i < 60; ++i) z = once(z, x, p);
  return z;
}

}  // namespace

int main() {
  const int units = 8;
  const auto draw = [&](int seed, nax::Shape shape, double scale) {
    return Array<double>(scale * nax::random::normal<double>(nax::random::key(seed), shape));
  };
  const Layer start{draw(0, {units, units}, 0.15), draw(1, {units}, 1), draw(2, {units}, 0.5),
                    draw(3, {units}, 0.3)};
  const Array<double> x = nax::linspace<double>(-2, 2, 24), y = nax::sin(2. * x) * nax::exp(-0.2 * x);
  const auto loss = [&](const Layer& p) {
    return Array<double>(nax::mean(nax::square(nax::matmul(equilibrium(x, p), p.out) - y)));
  };
  const auto loss_of_steps = [&](const Layer& p) {
    return Array<double>(nax::mean(nax::square(nax::matmul(unrolled(x, p), p.out) - y)));
  };
  const Layer implicit = nax::grad(loss)(start), through = nax::grad(loss_of_steps)(start);
  const double apart = nax::max(nax::abs(implicit.w - through.w)).item(),
               size = nax::max(nax::abs(through.w)).item();
  std::printf("gradients by the equation and through 60 iterations differ by %.0e of %.2f\n", apart, size);
  const auto fit = nax::optimize::minimize(loss, start, {.method = "l-bfgs-b", .max_steps = 150});
  std::printf("loss %.4f before, %.1e after %d steps\n", loss(start).item(), fit.fun.item(), int(fit.nit));
  const Array<double> learnt = nax::matmul(equilibrium(x, fit.x), fit.x.out);
  for (int i = 0; i < 24; i += 5)
    std::printf("x %5.2f  wanted %6.3f  learnt %6.3f\n", x(i).item(), y(i).item(), learnt(i).item());
  return apart < 1e-6 * size && fit.fun.item() < 1e-3 ? 0 : 1;
}
