#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nax/core/function_ref.hpp"
#include "nax/modules/optimize/dense.hpp"
#include "nax/random/key.hpp"

// One Markov chain of Hamiltonian Monte Carlo over vectors of doubles.
NAX_BEGIN
namespace mcmc::detail {

using optimize::detail::Matrix, optimize::detail::Vector;

// The log density at x; `gradient` becomes its gradient.
using Density = FunctionRef<double(const Vector& x, Vector& gradient)>;

enum class Trajectory { nuts, hmc };
enum class Metric { unit, diag, dense };

struct ChainSettings {
  const char* function = "";
  Trajectory trajectory = Trajectory::nuts;
  Metric metric = Metric::diag;
  std::int64_t draws = 0, warmup = 0;
  double target_accept = 0, step_size = 0, path_length = 0, jitter = 0, max_energy_error = 0;
  int max_depth = 0;
};

struct Chain {
  Vector x;  // draw after draw
  Vector log_density, accept;
  std::vector<std::int32_t> steps;  // of the integrator, for each draw
  std::vector<char> divergent;
  double step_size = 0;
  Vector inverse_mass;  // n numbers, or n n of Metric::dense
  std::int64_t evaluations = 0;
};

// Throws ValueError for a name that is none.
NAX_ENGINE Metric metric_named(const char* function, std::string_view name);

// Draws from the density, from a point within `jitter` of x0. Throws ValueError where the density or its
// gradient is not finite there, and where no step length is accepted.
NAX_ENGINE Chain run_chain(const ChainSettings& settings, Density density, const Vector& x0,
                           const random::Key& key);

}  // namespace mcmc::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/mcmc/chain-inl.hpp"
#endif
