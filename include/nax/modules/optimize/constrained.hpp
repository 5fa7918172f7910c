#pragma once

#include <algorithm>
#include <iterator>

#include "nax/core/where_used.hpp"
#include "nax/modules/optimize/constraints.hpp"
#include "nax/modules/optimize/implicit.hpp"
#include "nax/numpy/manipulation/join.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/sparse.hpp"

// minimize under constraints: its derivatives for the interior point method, and those of its solution.
NAX_BEGIN
namespace optimize::detail {

// Rows `begin` to `end` of a matrix of n columns and more, the n first of them.
inline SparseRows rows_of(const std::vector<std::int32_t>& starts, const std::vector<std::int32_t>& columns,
                          const Vector& values, std::size_t begin, std::size_t end, std::size_t n) {
  SparseRows out;
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t k = static_cast<std::size_t>(starts[i]); k < static_cast<std::size_t>(starts[i + 1]);
         ++k)
      if (static_cast<std::size_t>(columns[k]) < n)
        out.columns.push_back(columns[k]), out.values.push_back(values[k]);
    out.starts.push_back(static_cast<std::int32_t>(out.columns.size()));
  }
  return out;
}

// Where the second derivatives of a Lagrangian in x and the multipliers are not zero, by its gradient as a
// function of x alone.
template <class G>
SparsityPattern lagrangian_pattern(const G& gradient, const Array<double>& x, std::size_t m) {
  const std::size_t n = static_cast<std::size_t>(x.size());
  const SparsityPattern half = nax::detail::probed_pattern(gradient, x, static_cast<std::int64_t>(n + m));
  std::vector<std::vector<std::int32_t>> rows(n + m);
  for (std::size_t i = 0; i < n + m; ++i)
    for (std::int32_t k = half.indptr()[i]; k < half.indptr()[i + 1]; ++k) {
      const std::int32_t j = half.indices()[static_cast<std::size_t>(k)];
      rows[i].push_back(j);
      if (i >= n) rows[static_cast<std::size_t>(j)].push_back(static_cast<std::int32_t>(i));
    }
  return nax::detail::pattern_of_rows(rows);
}

// Both patterns, of equally many rows.
inline SparsityPattern united(const SparsityPattern& a, const SparsityPattern& b) {
  std::vector<std::vector<std::int32_t>> rows;
  for (std::size_t i = 0; i + 1 < a.indptr().size(); ++i) {
    const auto row = [i](const SparsityPattern& of, int end) {
      return of.indices().begin() + of.indptr()[i + static_cast<std::size_t>(end)];
    };
    rows.emplace_back();
    std::set_union(row(a, 0), row(a, 1), row(b, 0), row(b, 1), std::back_inserter(rows.back()));
  }
  return nax::detail::pattern_of_rows(rows);
}

template <class Nothing>
ConstrainedSolution solve_constrained(const RealFunction& f, const RealFunction& constraints,
                                      const ConstrainedProblem& problem, const Vector& x0) {
  using Real = nax::detail::where_used_t<Array<double>, Nothing>;
  const std::size_t n = x0.size(), m = problem.equality.size();
  const std::int64_t split = static_cast<std::int64_t>(n);
  // Of x and the multipliers: its second derivatives hold those in x, and the Jacobian of the constraints.
  const auto lagrangian = [f, constraints, split](const Real& both) -> Real {
    const Real x = both(slice(0, split)), y = both(slice(split, none));
    return f(x) + sum(y * constraints(x));
  };
  using Numbers = nax::detail::where_used_t<Vector, Nothing>;
  const auto joined = [](const Numbers& x, const Numbers& y) {
    Numbers both = x;
    both.insert(both.end(), y.begin(), y.end());
    return vector_of<double>(both);
  };
  const auto split_values = [&](const Real& both, Numbers& c) {
    const Numbers numbers = values_of(both);
    c.assign(numbers.begin() + 1, numbers.end());
    return numbers[0];
  };
  const auto values_at = [f, constraints](const Real& x) -> Real {
    return concatenate({Real(f(x).reshape({1})), constraints(x)});
  };
  const auto solved = [&](const auto& values, const auto& derivatives) {
    const auto value = [&](const Vector& x, Vector& c) {
      return split_values(values(vector_of<double>(x)), c);
    };
    return minimize_constrained({value, derivatives}, problem, x0);
  };
  ConstrainedState s = [&] {
    const nax::detail::RecordOn off(nullptr);
    const auto cut = [&](const Real& g, Vector& gradient) {
      gradient = values_of(g);
      gradient.resize(n);
    };
    if (n + m < 40) {  // plain calls, dense matrices
      std::vector<std::int32_t> starts{0}, columns;
      for (std::size_t i = 0; i < n + m; ++i) {
        for (std::size_t j = 0; j < n; ++j) columns.push_back(static_cast<std::int32_t>(j));
        starts.push_back(static_cast<std::int32_t>(columns.size()));
      }
      const auto derivatives = [&](const Vector& x, const Vector& y, Vector& gradient, SparseRows& hessian,
                                   SparseRows& jacobian) {
        const Real multipliers = vector_of<double>(y);
        const auto gradient_at = [&](const Real& at) -> Real {
          return grad(lagrangian)(Real(concatenate({at, multipliers})));
        };
        const auto [g, matrix] = value_and_jacfwd(gradient_at)(vector_of<double>(x));
        cut(g, gradient);
        const Vector numbers = values_of(Real(matrix.reshape({matrix.size()})));
        hessian = rows_of(starts, columns, numbers, 0, n, n);
        jacobian = rows_of(starts, columns, numbers, n, n + m, n);
      };
      return solved(values_at, derivatives);
    }
    const auto program = jit(values_at);
    const Vector probe = nax::detail::probe_numbers(5, static_cast<std::int64_t>(m));
    const auto gradient_in_x = [lagrangian, multipliers = vector_of<double>(probe)](const Real& x) -> Real {
      return grad(lagrangian)(Real(concatenate({x, multipliers})));
    };
    const auto solved_by = [&](const SparsityPattern& pattern) {
      // f may compute in float.
      const auto slope = grad(lagrangian);
      const nax::detail::SparseJacobian<std::remove_const_t<decltype(slope)>, double> second(
          "minimize", slope, joined(x0, probe), {.pattern = pattern}, std::numeric_limits<float>::epsilon());
      std::vector<std::int32_t> starts, columns;
      const auto derivatives = [&](const Vector& x, const Vector& y, Vector& gradient, SparseRows& hessian,
                                   SparseRows& jacobian) {
        const auto [g, matrix] = second(joined(x, y));
        if (starts.empty()) starts = matrix.indptr.to_vector(), columns = matrix.indices.to_vector();
        cut(g, gradient);
        const Vector numbers = values_of(matrix.data);
        hessian = rows_of(starts, columns, numbers, 0, n, n);
        jacobian = rows_of(starts, columns, numbers, n, n + m, n);
      };
      return solved(program, derivatives);
    };
    const SparsityPattern pattern = lagrangian_pattern(gradient_in_x, vector_of<double>(x0), m);
    ConstrainedState first = solved_by(pattern);
    if (first.status == 0 || !all_finite(first.x)) return first;
    // Elements that are 0 near x0 may not be where it ended: once more, with both patterns.
    const SparsityPattern both =
        united(pattern, lagrangian_pattern(gradient_in_x, vector_of<double>(first.x), m));
    if (both.indices().size() == pattern.indices().size()) return first;
    ConstrainedState second = solved_by(both);
    second.nfev += first.nfev, second.nhev += first.nhev, second.nit += first.nit;
    return second;
  }();

  // Derivatives by the equations of the active constraints and their multipliers.
  std::vector<std::int64_t> rows;
  Vector multipliers, held(n);
  for (std::size_t i = 0; i < m; ++i)
    if (s.active[i]) rows.push_back(static_cast<std::int64_t>(i)), multipliers.push_back(s.multipliers[i]);
  for (std::size_t i = 0; i < n; ++i) held[i] = s.at_bound[i] != 0;
  const Real at = vector_of<double>(s.x), at_bound = vector_of<double>(held);
  const auto active = [&](const Real& x) -> Real {
    return rows.empty() ? zeros<double>({0}) : Real(take(constraints(x), asarray(rows)));
  };
  const Real both = with_derivatives(joined(s.x, multipliers), [&](const Real& point) -> Real {
    const Real x = point(slice(0, split)), y = point(slice(split, none));
    const Real g = grad([&](const Real& z) { return Real(f(z) + sum(y * active(z))); })(x);
    return concatenate({Real((1. - at_bound) * g + at_bound * (x - at)), active(x)});
  });
  return {Real(both(slice(0, split))), std::move(s)};
}

}  // namespace optimize::detail
NAX_END
