// Rates of Lotka and Volterra's equations from noisy counts of hares and foxes: least squares through an
// adaptive solver, whose gradients go through its steps.
#include <chrono>
#include <cstdio>
#include <nax/nax.hpp>

using nax::Array;

int main() {
  namespace integrate = nax::integrate;
  const auto field = [](double, const Array<double>& y, const Array<double>& r) {
    const Array<double> meetings = y(0) * y(1);
    return nax::stack({r(0) * y(0) - r(1) * meetings, r(2) * meetings - r(3) * y(1)});
  };
  const Array<double> truth{1.5, 1, 0.5, 1.2}, start{2, 1};
  const Array<double> days = nax::linspace<double>(0.5, 15, 30);
  const auto counts = [&](const Array<double>& rates) {
    return integrate::solve_ivp(field, {0, 15}, start,
                                {.rtol = 1e-7, .atol = 1e-9, .t_eval = days, .args = rates})
        .y;
  };
  const Array<double> seen =
      counts(truth) * nax::exp(0.05 * nax::random::normal<double>(nax::random::key(0), {2, 30}));

  const auto began = std::chrono::steady_clock::now();
  const auto fit = nax::optimize::least_squares(
      [&](const Array<double>& log_rates) { return nax::log(counts(nax::exp(log_rates))) - nax::log(seen); },
      nax::log(Array<double>{1.2, 0.8, 0.6, 1}), {.method = "lm"});
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
  const Array<double> rates = nax::exp(fit.x);
  std::printf("%s\n", fit.message.c_str());
  for (int i = 0; i < 4; ++i)
    std::printf("rate %d  found %.3f  truth %.3f\n", i, rates(i).item(), truth(i).item());
  std::printf("residual %.4f a count, %d Jacobians, %.0f ms\n", std::sqrt(2 * fit.cost / 60), int(fit.njev),
              1e3 * spent.count());
}
