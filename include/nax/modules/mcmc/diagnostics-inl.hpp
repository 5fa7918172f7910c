#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "nax/core/error.hpp"
#include "nax/modules/mcmc/diagnostics.hpp"
#include "nax/numpy/sorting/quantile.hpp"
#include "nax/special/normal.hpp"

NAX_BEGIN
namespace mcmc::detail {

// Draws of one parameter: chains of one length, one after another.
struct ParameterDraws {
  std::size_t chains = 0, length = 0;
  std::vector<double> values;
};

// Halves of chains as chains; of an odd number of draws without the middle one.
inline ParameterDraws split(const ParameterDraws& d) {
  ParameterDraws out{2 * d.chains, d.length / 2, {}};
  for (std::size_t i = 0; i < d.chains; ++i) {
    const auto chain = d.values.begin() + static_cast<std::ptrdiff_t>(i * d.length);
    const std::ptrdiff_t half = static_cast<std::ptrdiff_t>(out.length);
    out.values.insert(out.values.end(), chain, chain + half);
    const auto end = chain + static_cast<std::ptrdiff_t>(d.length);
    out.values.insert(out.values.end(), end - half, end);
  }
  return out;
}

// Each value replaced by the normal quantile of its rank, (rank - 3/8) / (count + 1/4); equal values have
// their mean rank.
inline ParameterDraws by_ranks(ParameterDraws d) {
  const std::size_t n = d.values.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return d.values[a] < d.values[b]; });
  std::vector<double> parts(n);
  for (std::size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && d.values[order[end]] == d.values[order[i]];) ++end;
    const double rank = static_cast<double>(i + 1 + end) / 2;
    for (std::size_t k = i; k < end; ++k) parts[order[k]] = (rank - 0.375) / (static_cast<double>(n) + 0.25);
  }
  d.values = Array<double>(special::ndtri(asarray(parts))).to_vector();
  return d;
}

struct ChainMoments {
  std::vector<double> means;
  double within = 0;   // the mean of the chains' variances
  double between = 0;  // the variance of their means
};
inline ChainMoments moments_of(const ParameterDraws& d) {
  ChainMoments out;
  const double n = static_cast<double>(d.length), m = static_cast<double>(d.chains);
  double mean = 0;
  for (std::size_t i = 0; i < d.chains; ++i) {
    const double* x = d.values.data() + i * d.length;
    const double chain_mean = std::accumulate(x, x + d.length, 0.) / n;
    double squares = 0;
    for (std::size_t t = 0; t < d.length; ++t) squares += (x[t] - chain_mean) * (x[t] - chain_mean);
    out.within += squares / (n - 1) / m;
    out.means.push_back(chain_mean);
    mean += chain_mean / m;
  }
  for (const double each : out.means) out.between += (each - mean) * (each - mean) / (m - 1);
  return out;
}

inline double split_rhat(const ParameterDraws& d) {
  const ChainMoments m = moments_of(d);
  const double n = static_cast<double>(d.length);
  return std::sqrt((n - 1) / n + m.between / m.within);
}

// Of split chains.
inline double effective_size(const ParameterDraws& d) {
  const double n = static_cast<double>(d.length), all = static_cast<double>(d.values.size());
  const auto [least, most] = std::minmax_element(d.values.begin(), d.values.end());
  if (*most - *least < 1e-15) return all;
  const ChainMoments m = moments_of(d);
  const double variance = m.within * (n - 1) / n + m.between;
  // The correlation of draws at a distance.
  const auto rho = [&](std::size_t lag) {
    double products = 0;
    for (std::size_t i = 0; i < d.chains; ++i) {
      const double* x = d.values.data() + i * d.length;
      for (std::size_t t = 0; t + lag < d.length; ++t)
        products += (x[t] - m.means[i]) * (x[t + lag] - m.means[i]);
    }
    return 1 - (m.within - products / all) / variance;
  };
  // Pairs of correlations whose sums are positive and fall.
  double sum = 0, even = 1, odd = rho(1), least_pair = std::numeric_limits<double>::infinity();
  std::size_t t = 1;
  for (; t + 3 < d.length && even + odd > 0; t += 2) {
    least_pair = std::min(least_pair, even + odd);
    sum += least_pair;
    even = rho(t + 1);
    odd = rho(t + 2);
  }
  const double tau = std::max(-1 + 2 * sum + std::max(even, 0.), 1 / std::log10(all));
  return all / tau;
}

// f of each parameter's draws, NaN where one of them is not finite.
template <class F>
Array<double> for_each_parameter(const char* function, const Array<double>& draws, const F& f) {
  if (draws.ndim() < 2)
    raise<ShapeError>({function, ": draws must have shape (chains, draws, ...), not ", draws.shape()});
  const std::int64_t chains = draws.shape(0), length = draws.shape(1);
  if (chains < 1 || length < 4)
    raise<ValueError>({function, ": at least one chain of 4 draws is needed, got ", chains, " of ", length});
  Shape shape;
  for (int i = 2; i < draws.ndim(); ++i) shape.push_back(draws.shape(i));
  const std::vector<double> values = draws.to_vector();
  const std::size_t count = static_cast<std::size_t>(shape.count());
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    ParameterDraws one{static_cast<std::size_t>(chains), static_cast<std::size_t>(length), {}};
    bool finite = true;
    for (std::size_t at = i; at < values.size(); at += count) {
      one.values.push_back(values[at]);
      finite = finite && std::isfinite(values[at]);
    }
    out.push_back(finite ? f(one) : std::numeric_limits<double>::quiet_NaN());
  }
  return asarray(out, shape);
}

NAX_ENGINE Array<double> rhat_of(const Array<double>& draws) {
  return for_each_parameter("rhat", draws, [](const ParameterDraws& d) {
    ParameterDraws halves = split(d);
    const double place = split_rhat(by_ranks(halves));
    const double median = quantile(asarray(halves.values), 0.5).item();
    for (double& each : halves.values) each = std::abs(each - median);
    return std::max(place, split_rhat(by_ranks(std::move(halves))));
  });
}

NAX_ENGINE Array<double> ess_of(const Array<double>& draws, std::string_view method) {
  if (method != "bulk" && method != "mean" && method != "tail")
    raise<ValueError>({"ess: method must be 'bulk', 'mean' or 'tail', not '", method, "'"});
  return for_each_parameter("ess", draws, [&](const ParameterDraws& d) {
    if (method == "mean") return effective_size(split(d));
    if (method == "bulk") return effective_size(by_ranks(split(d)));
    double least = std::numeric_limits<double>::infinity();
    for (const double part : {0.05, 0.95}) {
      ParameterDraws below = d;
      const double bound = quantile(asarray(d.values), part).item();
      for (double& each : below.values) each = each <= bound;
      least = std::min(least, effective_size(split(below)));
    }
    return least;
  });
}

}  // namespace mcmc::detail
NAX_END
