#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nax/modules/optimize/constrained_core.hpp"

// Matrices of the interior-point method.
NAX_BEGIN
namespace optimize::detail {

// E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices (1969), in reverse.
NAX_ENGINE Skyline::Skyline(std::size_t n, const SparseRows& hessian, const SparseRows& jacobian)
    : place_(n), first_(n), start_(n + 1) {
  std::vector<std::vector<std::size_t>> neighbours(n);
  const auto join = [&](std::size_t i, std::size_t j) {
    if (i != j) neighbours[i].push_back(j), neighbours[j].push_back(i);
  };
  for (std::size_t i = 0; i < hessian.rows(); ++i)
    for (std::int32_t k = hessian.starts[i]; k < hessian.starts[i + 1]; ++k)
      join(i, static_cast<std::size_t>(hessian.columns[static_cast<std::size_t>(k)]));
  for (std::size_t i = 0; i < jacobian.rows(); ++i)
    for (std::int32_t k = jacobian.starts[i]; k < jacobian.starts[i + 1]; ++k)
      for (std::int32_t l = jacobian.starts[i]; l < k; ++l)
        join(static_cast<std::size_t>(jacobian.columns[static_cast<std::size_t>(k)]),
             static_cast<std::size_t>(jacobian.columns[static_cast<std::size_t>(l)]));
  for (auto& row : neighbours) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  const auto shorter = [&](std::size_t a, std::size_t b) {
    return neighbours[a].size() < neighbours[b].size();
  };
  // Rows in the order in which they are reached from one; `reached` holds the search that came last.
  std::vector<std::size_t> order, reached(n);
  std::size_t search = 0;
  const auto spread = [&](std::size_t from) {
    std::vector<std::size_t> found{from};
    reached[from] = ++search;
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::size_t before = found.size();
      for (const std::size_t j : neighbours[found[at]])
        if (reached[j] != search) reached[j] = search, found.push_back(j);
      std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(), shorter);
    }
    return found;
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (reached[i] != 0) continue;
    // (From a row far from others: the last one that is reached, twice.)
    const std::vector<std::size_t> found = spread(spread(spread(i).back()).back());
    order.insert(order.end(), found.begin(), found.end());
  }
  for (std::size_t p = 0; p < n; ++p) place_[order[p]] = n - 1 - p;
  for (std::size_t p = 0; p < n; ++p) first_[p] = p;
  for (std::size_t i = 0; i < n; ++i)
    for (const std::size_t j : neighbours[i]) first_[place_[i]] = std::min(first_[place_[i]], place_[j]);
  for (std::size_t p = 0; p < n; ++p) start_[p + 1] = start_[p] + p - first_[p] + 1;
  elements_.resize(start_[n]);
}
NAX_ENGINE void Skyline::add(std::size_t i, std::size_t j, double value) {
  const std::size_t p = std::max(place_[i], place_[j]), q = std::min(place_[i], place_[j]);
  elements_[start_[p] + q - first_[p]] += value;
}
NAX_ENGINE void Skyline::assemble(const SparseRows& hessian, const Vector& diagonal,
                                  const SparseRows& jacobian, const Vector& weights) {
  std::fill(elements_.begin(), elements_.end(), 0.);
  for (std::size_t i = 0; i < hessian.rows(); ++i)
    for (std::int32_t k = hessian.starts[i]; k < hessian.starts[i + 1]; ++k) {
      const std::size_t j = static_cast<std::size_t>(hessian.columns[static_cast<std::size_t>(k)]);
      // (Both halves are given: of each pair its mean.)
      add(i, j, (i == j ? 1 : 0.5) * hessian.values[static_cast<std::size_t>(k)]);
    }
  for (std::size_t i = 0; i < diagonal.size(); ++i) add(i, i, diagonal[i]);
  for (std::size_t i = 0; i < jacobian.rows(); ++i)
    for (std::int32_t k = jacobian.starts[i]; k < jacobian.starts[i + 1]; ++k)
      for (std::int32_t l = jacobian.starts[i]; l <= k; ++l) {
        const std::size_t a = static_cast<std::size_t>(k), b = static_cast<std::size_t>(l);
        add(static_cast<std::size_t>(jacobian.columns[a]), static_cast<std::size_t>(jacobian.columns[b]),
            weights[i] * jacobian.values[a] * jacobian.values[b]);
      }
}
NAX_ENGINE bool Skyline::factor() {
  const std::size_t n = first_.size();
  for (std::size_t p = 0; p < n; ++p) {
    double* const row = elements_.data() + start_[p] - first_[p];
    const double given = row[p];
    for (std::size_t q = first_[p]; q <= p; ++q) {
      const double* const other = elements_.data() + start_[q] - first_[q];
      double sum = row[q];
      for (std::size_t k = std::max(first_[p], first_[q]); k < q; ++k) sum -= row[k] * other[k];
      if (q < p)
        row[q] = sum / other[q];
      else if (sum > 1e-14 * std::fabs(given) && std::isfinite(sum))
        row[p] = std::sqrt(sum);
      else
        return false;
    }
  }
  return true;
}
NAX_ENGINE void Skyline::solve(Vector& b) const {
  const std::size_t n = first_.size();
  Vector x(n);
  for (std::size_t i = 0; i < n; ++i) x[place_[i]] = b[i];
  for (std::size_t p = 0; p < n; ++p) {
    const double* const row = elements_.data() + start_[p] - first_[p];
    for (std::size_t q = first_[p]; q < p; ++q) x[p] -= row[q] * x[q];
    x[p] /= row[p];
  }
  for (std::size_t p = n; p-- > 0;) {
    const double* const row = elements_.data() + start_[p] - first_[p];
    x[p] /= row[p];
    for (std::size_t q = first_[p]; q < p; ++q) x[q] -= row[q] * x[p];
  }
  for (std::size_t i = 0; i < n; ++i) b[i] = x[place_[i]];
}

inline Vector sparse_times(const SparseRows& a, const Vector& x) {
  Vector y(a.rows());
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::int32_t k = a.starts[i]; k < a.starts[i + 1]; ++k)
      y[i] += a.values[static_cast<std::size_t>(k)] *
              x[static_cast<std::size_t>(a.columns[static_cast<std::size_t>(k)])];
  return y;
}
// y += a^T x.
inline void add_transpose_times(const SparseRows& a, const Vector& x, Vector& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::int32_t k = a.starts[i]; k < a.starts[i + 1]; ++k)
      y[static_cast<std::size_t>(a.columns[static_cast<std::size_t>(k)])] +=
          a.values[static_cast<std::size_t>(k)] * x[i];
}

}  // namespace optimize::detail
NAX_END
