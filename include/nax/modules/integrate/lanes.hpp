#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nax/numpy.hpp"
#include "nax/transform/batching.hpp"
#include "nax/transform/checkpoint.hpp"

// Numbers of arrays that vmap batches: a solver chooses its steps by them, for all lanes together.
NAX_BEGIN
namespace integrate::detail {

// The values of all lanes, lane by lane.
template <class T>
std::vector<T> lane_values(const Array<T>& x) {
  Array<T> plain = stop_gradient(x);
  if (nax::detail::is_batched(plain)) {
    const auto& frames = nax::detail::vmap_stack().frames;
    for (std::size_t i = frames.size(); i-- > 0;)
      plain = nax::detail::unbatch(plain, 0, frames[i].level, frames[i].size);
  }
  return plain.to_vector();
}
// One value for each lane, as an array of no axes.
template <class T>
Array<T> lane_array(const std::vector<T>& values) {
  if (values.size() == 1) return Array<T>(values[0]);
  const auto& frames = nax::detail::vmap_stack().frames;
  Shape shape;
  for (const auto& frame : frames) shape.push_back(frame.size);
  Array<T> x = asarray(values, shape);
  for (const auto& frame : frames) x = nax::detail::batch(x, 0, frame.level);
  return x;
}

// Is an element of a lane NaN, of n in each? Such a lane has stopped.
template <class T>
bool is_stopped(const std::vector<T>& values, std::size_t n, std::size_t lane) {
  const auto from = values.begin() + static_cast<std::ptrdiff_t>(values.size() == n ? 0 : lane * n);
  return std::any_of(from, from + static_cast<std::ptrdiff_t>(n), [](T v) { return std::isnan(v); });
}

// The root of the mean square of error / (atol + rtol max(|y|, |end|)), lane by lane. 0 for lanes whose y is
// NaN among others: they have stopped.
template <class T>
std::vector<double> error_norms(const Array<T>& error, const Array<T>& y, const Array<T>& end, double rtol,
                                double atol) {
  const std::vector<T> e = lane_values(error), a = lane_values(y), b = lane_values(end);
  const std::size_t n = static_cast<std::size_t>(y.size());
  if (n == 0) return {0};
  const std::size_t lanes = std::max({e.size(), a.size(), b.size()}) / n;
  std::vector<double> norms(lanes);
  std::size_t stopped = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto of = [&](const std::vector<T>& all, std::size_t i) {
      return static_cast<double>(all[all.size() == n ? i : lane * n + i]);
    };
    double sum = 0;
    const bool nan = is_stopped(a, n, lane);
    for (std::size_t i = 0; i < n; ++i) {
      const double scaled = of(e, i) / (atol + rtol * std::max(std::abs(of(a, i)), std::abs(of(b, i))));
      sum += scaled * scaled;
    }
    norms[lane] = nan && lanes > 1 ? 0 : std::sqrt(sum / static_cast<double>(n));
    stopped += nan;
  }
  if (stopped == lanes) norms[0] = std::numeric_limits<double>::quiet_NaN();
  return norms;
}
// The largest; NaN where one is.
inline double largest(const std::vector<double>& norms) {
  double all = 0;
  for (const double norm : norms) {
    if (std::isnan(norm)) return norm;
    all = std::max(all, norm);
  }
  return all;
}

}  // namespace integrate::detail
NAX_END
