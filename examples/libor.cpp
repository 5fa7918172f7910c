// 161 sensitivities of a portfolio of 15 swaptions in a LIBOR market model (M. Giles and P. Glasserman,
// Smoking Adjoints, 2006): of 80 forward rates, 80 volatilities and the interval, beside a loop of doubles
// that computes the price alone.
#include <chrono>
#include <cstdio>
#include <nax/nax.hpp>
#include <vector>

using nax::Array, nax::slice, nax::none;

namespace {

constexpr int rates = 80, steps = 40, paths = 4096;
constexpr int maturities[15] = {4, 4, 4, 8, 8, 8, 20, 20, 20, 28, 28, 28, 40, 40, 40};
constexpr double swap_rates[15] = {.045, .05,  .055, .045, .05,  .055, .045, .05,
                                   .055, .045, .05,  .055, .045, .05,  .055};

struct Market {
  Array<double> forward, volatility, interval;
};

// The discounted value of the portfolio on a path with normal numbers z.
Array<double> value(const Market& m, const Array<double>& z) {
  Array<double> now = m.forward;
  const Array<double> root = nax::sqrt(m.interval);
  std::vector<Array<double>> settled;
  for (int n = 0; n < steps; ++n) {
    settled.push_back(now(0));
    const Array<double> later = now(slice(1, none)), lambda = m.volatility(slice(0, rates - n - 1));
    const Array<double> share = m.interval * lambda;
    const Array<double> drift = nax::cumsum(share * later / (1. + m.interval * later));
    now = later * nax::exp(share * drift + lambda * (root * z(n) - 0.5 * share));
  }
  const Array<double> bond = nax::cumprod(1. / (1. + m.interval * now));
  const Array<double> annuity = nax::cumsum(m.interval * bond);
  std::vector<std::int64_t> at(15);
  for (int i = 0; i < 15; ++i) at[static_cast<std::size_t>(i)] = maturities[i] - 1;
  const Array<std::int64_t> places = nax::asarray(at);
  const Array<double> strikes = nax::asarray(std::vector<double>(swap_rates, swap_rates + 15));
  const Array<double> swap = nax::take(bond, places) + strikes * nax::take(annuity, places) - 1.;
  return 100. * nax::sum(nax::maximum(-swap, 0.)) / nax::prod(1. + m.interval * nax::stack(settled));
}

double by_loop(const std::vector<double>& z) {
  constexpr double delta = 0.25, lambda = 0.2;
  double total = 0;
  for (int path = 0; path < paths; ++path) {
    double l[rates], b = 1, s = 0, bonds[steps], annuities[steps], v = 0;
    for (double& each : l) each = 0.05;
    for (int n = 0; n < steps; ++n) {
      const double noise = std::sqrt(delta) * z[static_cast<std::size_t>(path * steps + n)];
      double drift = 0;
      for (int i = n + 1; i < rates; ++i) {
        const double share = delta * lambda;
        drift += share * l[i] / (1 + delta * l[i]);
        l[i] *= std::exp(share * drift + lambda * (noise - 0.5 * share));
      }
    }
    for (int n = 0; n < steps; ++n) {
      b /= 1 + delta * l[steps + n];
      s += delta * b;
      bonds[n] = b, annuities[n] = s;
    }
    for (int i = 0; i < 15; ++i) {
      const int m = maturities[i] - 1;
      v += 100 * std::max(0., 1 - bonds[m] - swap_rates[i] * annuities[m]);
    }
    for (int n = 0; n < steps; ++n) v /= 1 + delta * l[n];
    total += v;
  }
  return total / paths;
}

template <class F>
double milliseconds(const F& f) {
  double best = 1e300;
  for (int turn = 0; turn < 5; ++turn) {
    const auto began = std::chrono::steady_clock::now();
    f();
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
  }
  return best;
}

}  // namespace

int main() {
  const Market market{nax::full<double>({rates}, 0.05), nax::full<double>({rates}, 0.2), Array<double>(0.25)};
  const Array<double> z = nax::random::normal<double>(nax::random::key(0), {paths, steps});
  const auto mean = [](const Market& m, const Array<double>& numbers) {
    return Array<double>(
        nax::mean(nax::vmap([&](const Array<double>& path) { return value(m, path); })(numbers)));
  };
  const auto price = nax::jit(mean);
  const auto greeks = nax::jit(nax::value_and_grad(mean));

  const auto began = std::chrono::steady_clock::now();
  const auto [computed, g] = greeks(market, z);
  const std::chrono::duration<double> first = std::chrono::steady_clock::now() - began;
  const double looped = by_loop(z.to_vector());
  std::printf("price %.6f, by the loop %.6f\n", computed.item(), looped);

  // Three sensitivities by differences.
  const auto bumped = [&](int of_rate, int of_volatility, double h) {
    Market m = market;
    if (of_rate >= 0) m.forward = m.forward.at(of_rate).set(0.05 + h);
    if (of_volatility >= 0) m.volatility = m.volatility.at(of_volatility).set(0.2 + h);
    if (of_rate < 0 && of_volatility < 0) m.interval = m.interval + h;
    return price(m, z).item();
  };
  const auto difference = [&](int a, int b) { return (bumped(a, b, 1e-6) - bumped(a, b, -1e-6)) / 2e-6; };
  std::printf("rate 60        %10.4f, by differences %10.4f\n", g.forward(60).item(), difference(60, -1));
  std::printf("volatility 20  %10.4f, by differences %10.4f\n", g.volatility(20).item(), difference(-1, 20));
  std::printf("interval       %10.4f, by differences %10.4f\n", g.interval.item(), difference(-1, -1));

  const std::vector<double> numbers = z.to_vector();
  double sink = 0;
  const double loop = milliseconds([&] { sink += by_loop(numbers); });
  const double plain = milliseconds([&] { sink += price(market, z).item(); });
  const double all = milliseconds([&] { sink += greeks(market, z).first.item(); });
  std::printf(
      "%d paths: loop %.1f ms, price %.1f ms, price and 161 sensitivities %.1f ms; first call %.0f ms\n",
      paths, loop, plain, all, 1e3 * first.count());
  const double slope = difference(60, -1);
  return sink > 0 && std::abs(computed.item() - looped) < 1e-9 * looped &&
                 std::abs(g.forward(60).item() - slope) < 1e-4 * std::abs(slope)
             ? 0
             : 1;
}
