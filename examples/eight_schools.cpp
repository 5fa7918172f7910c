// Rubin's eight schools by the No-U-Turn sampler: what coaching does for tests, in schools that differ.
#include <chrono>
#include <cstdio>
#include <nax/mcmc.hpp>
#include <nax/nax.hpp>

using nax::Array;

namespace {

struct Schools {
  Array<double> mu, log_tau, theta;
};

void report(const char* name, const Array<double>& draws) {
  namespace mcmc = nax::mcmc;
  std::printf("%-8s mean %5.2f  sd %5.2f  R-hat %.3f  ESS %5.0f\n", name, nax::mean(draws).item(),
              nax::std(draws).item(), mcmc::rhat(draws).item(), mcmc::ess(draws).item());
}

}  // namespace

int main() {
  const Array<double> y{28, 8, -3, 7, -1, 1, 18, 12}, sigma{15, 10, 16, 11, 9, 11, 10, 18};
  const auto log_density = [&](const Schools& p) -> Array<double> {
    const Array<double> tau = nax::exp(p.log_tau), residual = (y - p.mu - tau * p.theta) / sigma;
    return -0.5 * (nax::sum(residual * residual) + nax::sum(p.theta * p.theta) + nax::square(p.mu / 5)) -
           nax::log1p(nax::square(tau / 5)) + p.log_tau;
  };
  const Schools start{Array<double>(0.), Array<double>(0.), nax::zeros<double>({8})};
  const auto began = std::chrono::steady_clock::now();
  const auto s =
      nax::mcmc::nuts(nax::random::key(0), log_density, start, {.draws = 2000, .target_accept = 0.9});
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
  report("mu", s.x.mu);
  report("tau", nax::exp(s.x.log_tau));
  const Array<double> effects =
      nax::expand_dims(s.x.mu, -1) + nax::expand_dims(nax::exp(s.x.log_tau), -1) * s.x.theta;
  for (int i = 0; i < 8; ++i) report(("school " + std::to_string(i + 1)).c_str(), effects(nax::ellipsis, i));
  std::printf("%d divergences, %d gradients, %.2f s\n", int(s.divergences), int(s.evaluations),
              spent.count());
}
