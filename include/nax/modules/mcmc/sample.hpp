#pragma once

#include <string_view>
#include <vector>

#include "nax/core/where_used.hpp"
#include "nax/modules/mcmc/chain.hpp"
#include "nax/modules/optimize/problem.hpp"
#include "nax/random/key.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jit.hpp"

// Draws from a distribution of which the log density is known, by its gradient.
NAX_BEGIN
namespace mcmc {

using optimize::Arguments;

struct SampleOptions {
  std::int64_t draws = 1000, warmup = 1000;  // of each chain; warm-up's draws are not kept
  std::int64_t chains = 4;
  std::string_view metric = "diag";  // mass adapted to variances; "dense": to covariances; "unit": not
  double target_accept = 0.8;
  double step_size = 0;               // of the first step; 0: chosen
  int max_depth = 10;                 // a trajectory has at most 2^max_depth steps
  double path_length = 3.1415926536;  // of hmc: the longest, in standard deviations
  double jitter = 1;                  // chains start within it of x0, each element
  double max_energy_error = 1000;     // beyond it a trajectory counts as divergent
  Arguments args = {};
};

template <class Tree>
struct Samples {
  Tree x;                        // each array of shape (chains, draws, its own shape)
  Array<double> log_density;     // (chains, draws)
  Array<double> accept;          // the mean acceptance along trajectories, (chains, draws)
  Array<std::int32_t> steps;     // of trajectories, (chains, draws)
  Array<bool> divergent;         // (chains, draws)
  std::int64_t divergences = 0;  // how many are
  Array<double> step_size;       // after warm-up, (chains,)
  Array<double> inverse_mass;    // (chains, n), or (chains, n, n) of "dense"
  std::int64_t evaluations = 0;  // of the gradient
};

namespace detail {

// A tree like `like` whose arrays are (chains, draws, ...), from the rows of all draws.
template <class Tree>
Tree tree_of_draws(const Tree& like, const std::vector<Chain>& chains, std::size_t n, std::int64_t draws) {
  Tree out = like;
  std::size_t start = 0;
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          using T = typename Leaf::value_type;
          const std::size_t size = static_cast<std::size_t>(leaf.size());
          std::vector<T> values;
          values.reserve(chains.size() * static_cast<std::size_t>(draws) * size);
          for (const Chain& chain : chains)
            for (std::size_t row = start; row < chain.x.size(); row += n)
              for (std::size_t i = 0; i < size; ++i) values.push_back(static_cast<T>(chain.x[row + i]));
          Shape shape{static_cast<std::int64_t>(chains.size()), draws};
          for (const std::int64_t extent : leaf.shape()) shape.push_back(extent);
          leaf = asarray(values, shape);
          start += size;
        }
      },
      out);
  return out;
}
template <class T, class Part>
Array<T> row_of_each(const std::vector<Chain>& chains, const Part& part) {
  std::vector<T> values;
  for (const Chain& chain : chains)
    for (const auto value : part(chain)) values.push_back(static_cast<T>(value));
  const std::int64_t rows = static_cast<std::int64_t>(chains.size());
  return asarray(values, Shape{rows, static_cast<std::int64_t>(values.size()) / rows});
}

template <class F, class X>
auto sample(const char* function, Trajectory trajectory, const random::Key& key, const F& log_density,
            const X& x0_, const SampleOptions& o) {
  const auto x0 = nax::detail::to_arrays(x0_);
  using Tree = std::remove_cvref_t<decltype(x0)>;
  using E = typename optimize::detail::OnVectors<Tree>::E;
  if (o.draws < 1 || o.warmup < 0 || o.chains < 1)
    raise<ValueError>({function, ": draws and chains must be positive, warmup not negative: ", o.draws, ", ",
                       o.chains, " and ", o.warmup});
  if (!(o.target_accept > 0 && o.target_accept < 1) || !(o.step_size >= 0) || !(o.jitter >= 0) ||
      !(o.path_length > 0) || !(o.max_energy_error > 0) || o.max_depth < 1 || o.max_depth > 30)
    raise<ValueError>({function,
                       ": target_accept must lie between 0 and 1, max_depth from 1 to 30, path_length and "
                       "max_energy_error be positive, step_size and jitter not negative"});
  if (key.ndim() != 0)
    raise<ValueError>({function, ": key must be a single key, not of shape ", key.shape()});
  const nax::detail::RecordOn off(nullptr);
  const optimize::detail::OnVectors<Tree> on(function, x0, o.args);
  const Vector start = optimize::detail::values_of(tree::ravel(x0).first);
  if (start.empty()) raise<ValueError>({function, ": x0 has no elements"});
  const auto both = jit(value_and_grad(optimize::detail::scalar_on(on, log_density)));
  const auto density = [&](const Vector& x, Vector& gradient) {
    const auto [value, slope] = both(optimize::detail::vector_of<E>(x));
    gradient = optimize::detail::values_of(slope);
    return optimize::detail::values_of(value)[0];
  };
  const ChainSettings settings{.function = function,
                               .trajectory = trajectory,
                               .metric = metric_named(function, o.metric),
                               .draws = o.draws,
                               .warmup = o.warmup,
                               .target_accept = o.target_accept,
                               .step_size = o.step_size,
                               .path_length = o.path_length,
                               .jitter = o.jitter,
                               .max_energy_error = o.max_energy_error,
                               .max_depth = o.max_depth};
  nax::detail::where_used_t<std::vector<Chain>, Tree> chains;
  for (std::int64_t i = 0; i < o.chains; ++i)
    chains.push_back(run_chain(settings, density, start, random::fold_in(key, i)));

  Samples<Tree> out;
  out.x = tree_of_draws(x0, chains, start.size(), o.draws);
  out.log_density = row_of_each<double>(chains, [](const Chain& c) { return c.log_density; });
  out.accept = row_of_each<double>(chains, [](const Chain& c) { return c.accept; });
  out.steps = row_of_each<std::int32_t>(chains, [](const Chain& c) { return c.steps; });
  out.divergent = row_of_each<bool>(chains, [](const Chain& c) { return c.divergent; });
  out.step_size =
      row_of_each<double>(chains, [](const Chain& c) { return Vector{c.step_size}; }).reshape({-1});
  out.inverse_mass = row_of_each<double>(chains, [](const Chain& c) { return c.inverse_mass; });
  const std::int64_t n = static_cast<std::int64_t>(start.size());
  if (settings.metric == Metric::dense) out.inverse_mass = out.inverse_mass.reshape({o.chains, n, n});
  for (const Chain& chain : chains) {
    out.evaluations += chain.evaluations;
    for (const char each : chain.divergent) out.divergences += each;
  }
  return out;
}

}  // namespace detail

// Draws from the distribution with density exp(log_density(x, args...)), up to a factor, by the No-U-Turn
// sampler (Hoffman and Gelman 2014, with the weights of Betancourt 2017). x0: an array or a tree of arrays of
// float or double, near which all chains start; log_density returns one number, is recorded once, and its
// gradient is that of reverse mode. Warm-up adapts step length and mass by Stan's windows. The arrays of `.x`
// have shape (chains, draws, x0's shape); one key gives one result. Chains run one after the other; draws
// carry no derivatives. Where the density is infinite or NaN, trajectories end and count as divergent. Throws
// ValueError where log density or gradient are not finite near x0, for no draws or chains, for options out of
// range, and for more than one key; ShapeError where log_density returns several numbers.
template <class F, class X>
auto nuts(const random::Key& key, const F& log_density, const X& x0, const SampleOptions& options = {}) {
  return detail::sample("nuts", detail::Trajectory::nuts, key, log_density, x0, options);
}

// Draws as nuts does, by Hamiltonian Monte Carlo: paths of random length up to .path_length, accepted by
// Metropolis' rule (R. Neal, MCMC using Hamiltonian dynamics, 2011). Arrays of `.x` have shape (chains,
// draws, x0's shape). Throws what nuts throws.
template <class F, class X>
auto hmc(const random::Key& key, const F& log_density, const X& x0, const SampleOptions& options = {}) {
  return detail::sample("hmc", detail::Trajectory::hmc, key, log_density, x0, options);
}

}  // namespace mcmc
NAX_END
